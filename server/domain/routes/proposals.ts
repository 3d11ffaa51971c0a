// Routes of verification by vote: proposals, ballots, actions, and the rules.

import { inTurns } from '../../../lib/clock.ts';
import { DOMAIN } from '../../../lib/domain/kinds.ts';
import { NEW_VOTE, VETO } from '../../../lib/domain/schema/bodies.ts';
import {
  BALLOT,
  GOVERNANCE_ANSWER,
  LISTED_PROPOSAL,
  PAGE_LINK,
  PROPOSAL_ANSWER,
  RULES,
  TALLY,
  VOTED_ANSWER,
} from '../../../lib/domain/schema/vote-answers.ts';
import { type Governance, governanceView } from '../../../lib/domain/voting/governance.ts';
import { isObject } from '../../../lib/given.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { page } from '../../../lib/json/schema.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import type { ReplyRoute, RouteGroup } from '../../http/route-table.ts';
import { prefersHtml } from '../../web/kit/frame.ts';
import type { ProposalPages } from '../../web/registry/proposal-pages.ts';
import { answerOnce, proposalHeaders, sendUnlessCached, showPage, showProposal } from '../answers.ts';
import { readCaller } from '../api-keys.ts';
import {
  DID,
  domainGroup,
  ID_EXAMPLE,
  IDEMPOTENCY_KEY,
  IF_NONE_MATCH,
  idempotencyKey,
  JSON_TYPE,
  MADE,
  NOT_CHANGED,
  ONCE_PROBLEMS,
  PAGE,
  readBody,
  readQuery,
  readRevisionCursor,
} from '../requests.ts';
import { PROPOSAL_PAGE, SUBJECT_SCHEMAS, type SubjectDeps, subjectRoutes } from './proposal-subjects.ts';

export interface ProposalDeps extends SubjectDeps {
  readonly governance: Governance;
  readonly pages: ProposalPages;
}

const LISTED_PAGE = page(LISTED_PROPOSAL, 'A page of proposals, the newest first');
const BALLOT_PAGE = page(BALLOT, 'A page of ballots, the newest first');
const ONE = '/v1/proposals/:id';
const SHOWN = { description: 'The proposal', types: { [JSON_TYPE]: PROPOSAL_ANSWER }, headers: MADE };

const PROPOSALS = {
  which: {
    description:
      '`undecided`: only those whose vote or timelock still runs, the one that is over first before others; a page may be short and have a next one',
    schema: { enum: ['all', 'undecided'], default: 'all' },
  },
  ...PAGE,
} as const;

const RATIONALES = {
  rationales: {
    description: 'Whether the page shows the reasons that voters gave',
    schema: { enum: ['hide', 'show'], default: 'hide' },
  },
} as const;

/** Proposals, votes, and the activity that they open. */
export const PROPOSAL_ROUTES: RouteGroup<ProposalDeps> = domainGroup<ProposalDeps>({
  tag: 'Verification by vote',
  description: 'Representatives propose, voters decide, verified domains take part.',
  parameters: {
    did: DID,
    id: { description: 'The id of a proposal', schema: { type: 'string', examples: [ID_EXAMPLE] } },
  },
  schemas: {
    Proposal: PROPOSAL_ANSWER,
    Rules: RULES,
    Tally: TALLY,
    ProposalPage: PROPOSAL_PAGE,
    ListedProposals: LISTED_PAGE,
    NewVote: NEW_VOTE,
    BallotPage: BALLOT_PAGE,
    Voted: VOTED_ANSWER,
    ...SUBJECT_SCHEMAS,
    Governance: GOVERNANCE_ANSWER,
    PageLink: PAGE_LINK,
  },
  routes: [
    ...subjectRoutes('/v1/domains/:did', 'Domain'),
    ...subjectRoutes('/v1/entities/:did', 'Entity'),
    {
      method: 'GET',
      path: '/v1/proposals',
      id: 'listProposals',
      summary: 'List the proposals about all domains',
      query: PROPOSALS,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: LISTED_PAGE } } },
      problems: ['bad-request', 'bad-cursor', 'bad-limit'],
      reply: async (request, { verification, documents }) => {
        const { items, next } = await verification.list(readCaller(request), readQuery(request, PROPOSALS));
        const names = await readNames(documents, new Set(items.map(({ body }) => body.subject)));
        const named = items.map((item) => ({ ...showProposal(item), name: names.get(item.body.subject) ?? null }));
        return showPage(request, { items: named, next });
      },
    },
    {
      method: 'GET',
      path: ONE,
      id: 'getProposal',
      summary: 'Read a proposal',
      description:
        'As a page for people when HTML is asked for. A browser, which sends no key, opens the link of `page-link`.',
      query: {
        pass: { description: 'Of a link to the page; then no key is needed', schema: { type: 'string' } },
      },
      headers: IF_NONE_MATCH,
      answers: {
        200: {
          description: 'The proposal. Its ETag, but for the page',
          types: { [JSON_TYPE]: PROPOSAL_ANSWER, 'text/html': { type: 'string' } },
        },
        304: NOT_CHANGED,
        401: {
          description: 'To browsers, a page that says how to come in',
          types: { 'text/html': { type: 'string' } },
          headers: { 'WWW-Authenticate': 'How to come in' },
        },
      },
      problems: ['not-found'],
      reply: async (request, { verification, pages }) => {
        const proposal = await verification.get(readCaller(request), request.params.id!);
        if (prefersHtml(request))
          return (ctx) => {
            ctx.vary('Accept');
            return pages.show(ctx, proposal, { rationales: true });
          };
        const headers = { Vary: 'Accept', ...proposalHeaders(proposal) };
        return sendUnlessCached(request, { headers, body: showProposal(proposal) });
      },
    },
    {
      method: 'GET',
      path: `${ONE}/page-link`,
      id: 'getProposalPageLink',
      summary: 'A link to the page of a proposal, for a browser',
      description: 'Everybody who has the link sees the page, for one hour: give it to those who may.',
      query: RATIONALES,
      answers: { 200: { description: 'The link', types: { [JSON_TYPE]: PAGE_LINK } } },
      problems: ['bad-request', 'not-found'],
      reply: async (request, { verification, pages }) => {
        const { rationales } = readQuery(request, RATIONALES);
        const proposal = await verification.get(readCaller(request), request.params.id!);
        const body = pages.link(proposal, { rationales: rationales === 'show' });
        return { headers: { 'Cache-Control': 'no-store' }, body };
      },
    },
    {
      method: 'GET',
      path: `${ONE}/votes`,
      id: 'listVotes',
      summary: 'Every ballot that was ever cast',
      query: PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: BALLOT_PAGE } } },
      problems: ['bad-cursor', 'bad-limit', 'not-found'],
      reply: async (request, { verification }) => {
        const { limit, cursor } = readQuery(request, PAGE);
        const query = { id: request.params.id!, limit, ...readRevisionCursor(cursor) };
        const { items, next } = await verification.votes(readCaller(request), query);
        return showPage(request, { items, next: next === undefined ? undefined : String(next) });
      },
    },
    {
      method: 'POST',
      path: `${ONE}/votes`,
      id: 'vote',
      summary: 'Vote',
      description: 'Role voter, and in the list of voters that the proposal was made with.',
      headers: IDEMPOTENCY_KEY,
      body: { types: { [JSON_TYPE]: NEW_VOTE }, example: { vote: 'yes', rationale: 'I have seen it.' } },
      answers: {
        201: { description: 'The vote counts', types: { [JSON_TYPE]: VOTED_ANSWER }, headers: MADE },
      },
      problems: [
        ...(['role-missing', 'not-eligible-voter', 'recused', 'not-found'] as const),
        ...(['already-voted', 'proposal-not-open', ...ONCE_PROBLEMS] as const),
      ],
      reply: async (request, { verification, idempotency }) => {
        const vote = await verification.permit(readCaller(request), { id: request.params.id!, action: 'vote' });
        const body = await readBody(request);
        return answerOnce(request, { idempotency, body }, async () => {
          const { proposal, ballot } = await vote({ body: body.value, key: idempotencyKey(request) });
          return { status: 201, headers: proposalHeaders(proposal), body: { ...showProposal(proposal), ballot } };
        });
      },
    },
    action('withdraw', 'Take back a proposal', 'Role representative, and who made it; or an operator.'),
    action('veto', 'Stop a proposal before it takes effect', 'Role operator.'),
    action('execute', 'Try again to carry out a proposal that has passed', 'Role operator.'),
    {
      method: 'GET',
      path: '/v1/governance/config',
      id: 'getGovernance',
      summary: 'The rules of votes',
      answers: { 200: { description: 'The rules', types: { [JSON_TYPE]: GOVERNANCE_ANSWER } } },
      reply: (_request, { governance }) => ({ body: governanceView(governance) }),
    },
  ],
});

function action(name: 'withdraw' | 'veto' | 'execute', summary: string, description: string): ReplyRoute<ProposalDeps> {
  return {
    method: 'POST',
    path: `${ONE}/${name}`,
    id: `${name}Proposal`,
    summary,
    description,
    headers: IDEMPOTENCY_KEY,
    body: { types: { [JSON_TYPE]: VETO }, required: false },
    answers: { 200: SHOWN },
    problems: [
      ...(['role-missing', 'not-found', name === 'execute' ? 'wrong-status' : 'proposal-not-open'] as const),
      ...(name === 'withdraw' ? (['not-proposer'] as const) : []),
      ...ONCE_PROBLEMS,
    ],
    reply: async (request, { verification, idempotency }) => {
      const caller = readCaller(request);
      const act = await verification.permit(caller, { id: request.params.id!, action: name });
      const body = await readBody(request, { optional: true });
      return answerOnce(request, { idempotency, body }, async () => {
        const proposal = await act({ body: body.value, key: idempotencyKey(request) });
        return { status: 200, headers: proposalHeaders(proposal), body: showProposal(proposal) };
      });
    },
  };
}

/** The names of these domains; domains without a name are left out. */
async function readNames(
  documents: Pick<DocumentStore, 'get'>,
  dids: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  const read = (did: string) => documents.get<JsonObject>(DOMAIN, did);
  await inTurns([...dids], read, (domain, did) => {
    const { metadata } = domain?.body ?? {};
    const name = isObject(metadata) ? metadata.name : undefined;
    if (typeof name === 'string') names.set(did, name);
  });
  return names;
}
