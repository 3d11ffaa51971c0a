// Verification routes below a domain: its proposals, verification status, eligibility and credits.

import type { Clock } from '../../../lib/clock.ts';
import type { SettleVotes } from '../../../lib/domain/find.ts';
import type { Idempotency } from '../../../lib/domain/idempotency.ts';
import type { Registry } from '../../../lib/domain/registry.ts';
import { NEW_CREDIT, NEW_PROPOSAL } from '../../../lib/domain/schema/bodies.ts';
import {
  CREDIT_ANSWER,
  ELIGIBILITY_ANSWER,
  PROPOSAL_ANSWER,
  VERIFICATION_ANSWER,
} from '../../../lib/domain/schema/vote-answers.ts';
import type { VerificationService } from '../../../lib/domain/verification.ts';
import { type Credits, canParticipate } from '../../../lib/domain/voting/credits.ts';
import { page } from '../../../lib/json/schema.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import type { ReplyRoute } from '../../http/route-table.ts';
import { answerOnce, proposalHeaders, showPage, showProposal, twinLinks } from '../answers.ts';
import { readCaller } from '../api-keys.ts';
import { IDEMPOTENCY_KEY, JSON_TYPE, MADE, ONCE_PROBLEMS, PAGE, readBody, readQuery } from '../requests.ts';

export interface SubjectDeps {
  readonly documents: DocumentStore;
  readonly registry: Registry;
  readonly verification: VerificationService;
  readonly credits: Credits;
  readonly idempotency: Idempotency;
  readonly settleVotes: SettleVotes;
  readonly clock: Clock;
}

/** Proposals, the newest first. */
export const PROPOSAL_PAGE = page(PROPOSAL_ANSWER, 'A page of proposals, the newest first');
const CREDIT_PAGE = page(CREDIT_ANSWER, 'A page of issued credits, the newest first');

const ACTIVITY = {
  activity: {
    description: 'The activity',
    schema: { enum: ['carbon-credit-issuance'], default: 'carbon-credit-issuance' },
  },
} as const;

export const SUBJECT_SCHEMAS = {
  NewProposal: NEW_PROPOSAL,
  Verification: VERIFICATION_ANSWER,
  Eligibility: ELIGIBILITY_ANSWER,
  NewCredit: NEW_CREDIT,
  Credit: CREDIT_ANSWER,
  CreditPage: CREDIT_PAGE,
};

/** The routes below one of the two addresses of a domain. */
export function subjectRoutes(root: string, noun: 'Domain' | 'Entity'): ReplyRoute<SubjectDeps>[] {
  return [...verificationRoutes(root, noun), ...creditRoutes(root, noun)];
}

function verificationRoutes(root: string, noun: 'Domain' | 'Entity'): ReplyRoute<SubjectDeps>[] {
  return [
    {
      method: 'POST',
      path: `${root}/proposals`,
      id: `propose${noun}`,
      summary: 'Propose to verify, suspend, reinstate or revoke it',
      description: 'Role representative.',
      headers: IDEMPOTENCY_KEY,
      body: { types: { [JSON_TYPE]: NEW_PROPOSAL }, example: { kind: 'verify' } },
      answers: { 201: { description: 'The vote is open', types: { [JSON_TYPE]: PROPOSAL_ANSWER }, headers: MADE } },
      problems: [
        ...(['role-missing', 'not-representative', 'not-found', 'gone', 'proposal-open', 'wrong-status'] as const),
        ...(['no-electorate', 'package-unchanged', ...ONCE_PROBLEMS] as const),
      ],
      reply: async (request, { verification, idempotency }) => {
        const propose = await verification.permitProposal(readCaller(request), request.params.did!);
        const body = await readBody(request);
        return answerOnce(request, { idempotency, body }, async (id) => {
          const proposal = await propose({ body: body.value, id });
          return { status: 201, headers: proposalHeaders(proposal), body: showProposal(proposal) };
        });
      },
    },
    {
      method: 'GET',
      path: `${root}/proposals`,
      id: `list${noun}Proposals`,
      summary: 'The proposals about it',
      query: PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: PROPOSAL_PAGE } } },
      problems: ['bad-cursor', 'bad-limit', 'not-found', 'gone'],
      reply: async (request, { verification }) => {
        const query = { did: request.params.did!, ...readQuery(request, PAGE) };
        const { items, next } = await verification.list(readCaller(request), query);
        return showPage(request, { items: items.map(showProposal), next });
      },
    },
    {
      method: 'GET',
      path: `${root}/verification`,
      id: `get${noun}Verification`,
      summary: 'Where its verification stands',
      answers: { 200: { description: 'Its status', types: { [JSON_TYPE]: VERIFICATION_ANSWER } } },
      problems: ['not-found', 'gone'],
      reply: async (request, { verification }) => {
        const { proposal, open, ...standing } = await verification.readVerification(
          readCaller(request),
          request.params.did!,
        );
        const links = { domain: twinLinks(standing.did).self };
        const views = { proposal: proposal ? showProposal(proposal) : null, open: open.map(showProposal) };
        return { body: { ...standing, ...views, links } };
      },
    },
    {
      method: 'GET',
      path: `${root}/eligibility`,
      id: `get${noun}Eligibility`,
      summary: 'Whether it may take part in an activity',
      query: ACTIVITY,
      answers: { 200: { description: 'Whether it may', types: { [JSON_TYPE]: ELIGIBILITY_ANSWER } } },
      problems: ['bad-request', 'not-found', 'gone'],
      reply: async (request, { documents, registry, settleVotes, clock }) => {
        const { activity } = readQuery(request, ACTIVITY);
        const domain = await registry.get(readCaller(request), request.params.did!);
        const { eligible, reasons } = await canParticipate({ documents, settleVotes }, domain, clock.now());
        return { body: { did: domain.id, activity, eligible, reasons } };
      },
    },
  ];
}

function creditRoutes(root: string, noun: 'Domain' | 'Entity'): ReplyRoute<SubjectDeps>[] {
  return [
    {
      method: 'POST',
      path: `${root}/credits`,
      id: `issue${noun}Credits`,
      summary: 'Issue carbon credits',
      description: 'Role issuer. Open to verified domains only.',
      headers: IDEMPOTENCY_KEY,
      body: { types: { [JSON_TYPE]: NEW_CREDIT }, example: { amount: '12.5', unit: 'tCO2e' } },
      answers: { 201: { description: 'They are issued', types: { [JSON_TYPE]: CREDIT_ANSWER } } },
      problems: ['role-missing', 'domain-not-verified', 'not-found', 'gone', ...ONCE_PROBLEMS],
      reply: async (request, { credits, idempotency }) => {
        const issue = await credits.permitIssue(readCaller(request), request.params.did!);
        const body = await readBody(request);
        return answerOnce(request, { idempotency, body }, async (id) => {
          const issued = await issue({ body: body.value, id });
          return { status: 201, headers: {}, body: issued };
        });
      },
    },
    {
      method: 'GET',
      path: `${root}/credits`,
      id: `list${noun}Credits`,
      summary: 'The credits that were issued',
      query: PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: CREDIT_PAGE } } },
      problems: ['bad-cursor', 'bad-limit', 'not-found', 'gone'],
      reply: async (request, { credits }) => {
        return showPage(
          request,
          await credits.list(readCaller(request), { did: request.params.did!, ...readQuery(request, PAGE) }),
        );
      },
    },
  ];
}
