// Verification by vote: everything that can be asked of proposals, over one document store.

import { randomBytes } from 'node:crypto';
import { domainVerification } from '../../machines/domain-verification.ts';
import type { ProposalContext } from '../../machines/proposal.ts';
import type { Clock } from '../clock.ts';
import type { Inspector } from '../engine/inspection.ts';
import { lifecycle } from '../engine/lifecycle/lifecycle.ts';
import { compileMachine } from '../engine/machine/transition.ts';
import type { DocumentStore, JsonObject } from '../store/store.ts';
import type { Caller } from './caller.ts';
import { pathSegment } from './did/did.ts';
import { revisionsOf } from './feed/journal.ts';
import { findPage, requireDomain, requireLimit } from './find.ts';
import { PROPOSAL } from './kinds.ts';
import type { Domain } from './twin/record.ts';
import {
  execute,
  type ProposalAction,
  type ProposalRequest,
  permitted,
  requireProposal,
  reviewed,
  type Voted,
  veto,
  vote,
  withdraw,
} from './voting/ballot.ts';
import { executionServices, noteOnDomain, verificationOf } from './voting/execution.ts';
import type { Governance, Rules, VoterPower } from './voting/governance.ts';
import {
  type Context,
  dueVotes,
  isUndecided,
  openKey,
  PROPOSAL_KINDS,
  type Proposal,
  proposalFields,
  proposalView,
  type SettleVotes,
  type StoredProposal,
  writeProposal,
} from './voting/proposal.ts';
import { propose, type VotingDeps } from './voting/propose.ts';
import { countVotes, resultAtClose, resultWhileVoting } from './voting/tally.ts';

export interface VerificationOptions {
  /** With DOMAIN_KINDS declared. */
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly governance: Governance;
  /** Who may vote in a tenant when the rules name no voters. @default nobody */
  readonly electorate?: (tenant: string) => readonly VoterPower[];
  /** Receives the inspection events of proposals. */
  readonly inspector?: Inspector | undefined;
  /** Called with errors of background work. */
  readonly onProblem?: (problem: { readonly id: string; readonly error: unknown }) => void;
}

export interface ProposalQuery {
  /** Of a domain: a DID or alias. @default those of all domains */
  readonly did?: string;
  /** 1 to LIMITS.pageSizeMax. @default 20 */
  readonly limit?: number;
  readonly cursor?: string;
}

/** A ballot as it was cast; a later one of the same voter replaces it. */
export type Ballot = JsonObject & {
  readonly voter: string;
  readonly vote: string;
  readonly power: string;
  readonly at: string;
};

/** Every function throws refusals of problems.ts. */
export interface VerificationService {
  /** `id` is reserved for this request, so that a repeated one finds what the first has made. @default a new one */
  propose(caller: Caller, proposal: { did: string; body: unknown; id?: string }): Promise<Proposal>;
  get(caller: Caller, id: string): Promise<Proposal>;
  /** Throws what keeps this caller from the action whatever it sends: for those who look before they read a body. */
  permit(caller: Caller, request: { id: string; action: ProposalAction }): Promise<void>;
  vote(caller: Caller, request: ProposalRequest): Promise<Voted>;
  withdraw(caller: Caller, request: ProposalRequest): Promise<Proposal>;
  veto(caller: Caller, request: ProposalRequest): Promise<Proposal>;
  execute(caller: Caller, request: ProposalRequest): Promise<Proposal>;
  /** The newest first. */
  list(caller: Caller, query?: ProposalQuery): Promise<{ items: Proposal[]; next?: string }>;
  /** Every ballot that was ever cast, the newest first; `before` is `next` of the page before. */
  votes(
    caller: Caller,
    query: { id: string; before?: number; limit?: number },
  ): Promise<{ items: Ballot[]; next?: number }>;
  /** Where a domain stands: its status, the proposal that gave it, the proposals that are open. */
  verificationOf(caller: Caller, did: string): Promise<JsonObject>;
  /** A domain has changed, or was deactivated: proposals that are about what it was end. */
  subjectChanged(domain: Pick<Domain, 'id'>): Promise<void>;
  /** For readers of domains. */
  readonly settle: SettleVotes;
  /** Closes what is over and repairs what a crash has left, up to `limit`; how many. @default LIMITS.sweepBatch */
  sweep(limit?: number): Promise<number>;
}

export function verification(options: VerificationOptions): VerificationService {
  const { documents, clock, governance, electorate = () => [] } = options;
  const proposals = lifecycle<Context, StoredProposal>({
    documents,
    kind: PROPOSAL,
    machine: compileMachine(domainVerification({ outcome })),
    clock,
    services: executionServices({ documents, clock }),
    // A domain must not stay under review for good because its store was away for long.
    calls: { release: { tries: Number.POSITIVE_INFINITY }, present: { tries: Number.POSITIVE_INFINITY } },
    fields: proposalFields,
    write: writeProposal,
    inspector: options.inspector,
    ...(options.onProblem && { onProblem: options.onProblem }),
  });
  const settle = dueVotes({ documents, clock, proposals, note: noteOnDomain({ documents, clock }) });
  const deps: VotingDeps = { documents, clock, governance, proposals, electorate, settle };

  async function openOf(subject: string): Promise<Proposal[]> {
    const openFor = { in: PROPOSAL_KINDS.map((kind) => openKey(subject, kind)) };
    const { items } = await documents.find<StoredProposal>(PROPOSAL, { index: 'open', where: { openFor } });
    return Promise.all(items.map(async (item) => reviewed(deps, await proposals.refresh(item))));
  }

  return {
    propose: (caller, { id = randomBytes(16).toString('hex'), ...proposal }) =>
      propose(deps, caller, { ...proposal, id }),
    get: (caller, id) => requireProposal(deps, caller, id),
    permit: (caller, request) => permitted(deps, caller, request),
    vote: (caller, request) => vote(deps, caller, request),
    withdraw: (caller, request) => withdraw(deps, caller, request),
    veto: (caller, request) => veto(deps, caller, request),
    execute: (caller, request) => execute(deps, caller, request),

    async list(caller, { did, limit = 20, cursor } = {}) {
      requireLimit(limit);
      const subject = did === undefined ? undefined : (await requireDomain(documents, caller, did)).id;
      const { tenant } = caller;
      const where = subject === undefined ? { tenant } : { tenant, subject };
      const index = subject === undefined ? 'created' : 'subject';
      const query = { index, where, descending: true, limit, cursor };
      const page = await findPage<StoredProposal>(documents, PROPOSAL, query);
      const items = await Promise.all(page.items.map((item) => proposals.refresh(item)));
      return { items, ...(page.next !== undefined && { next: page.next }) };
    },

    async votes(caller, { id, before, limit = 100 }) {
      const { revision } = await requireProposal(deps, caller, id);
      const asked = { kind: PROPOSAL, id, limit, before: Math.min(before ?? revision + 1, revision + 1) };
      const revisions = await revisionsOf<StoredProposal>(documents, asked);
      const items = revisions.flatMap(({ body: { journal } }) =>
        journal.events.filter(({ type }) => type === 'vote.cast').map(({ data }) => ballotOf(data, journal.at)),
      );
      const last = revisions.at(-1)?.revision ?? 1;
      return { items, ...(last > 1 && { next: last }) };
    },

    async verificationOf(caller, did) {
      const { id } = await requireDomain(documents, caller, did);
      await settle({ domain: id });
      const open = (await openOf(id)).filter(({ state }) => isUndecided(state));
      const { body, revision } = await requireDomain(documents, caller, id);
      const { proposal } = verificationOf(body);
      const cause = proposal === undefined ? undefined : await proposals.read(proposal);
      return {
        did: id,
        status: body.status,
        entityVerified: body.status === 'Verified',
        revision,
        proposal: cause ? proposalView(cause) : null,
        open: open.map(proposalView),
        links: { domain: `/v1/domains/${pathSegment(id)}` },
      };
    },

    async subjectChanged({ id }) {
      await openOf(id);
    },
    settle,
    sweep: (limit) => proposals.sweep(limit),
  };
}

function outcome(context: ProposalContext, when: 'voting' | 'close') {
  const count = countVotes(context.voters);
  return (when === 'close' ? resultAtClose : resultWhileVoting)(count, context.rules as Rules);
}

function ballotOf({ voter, vote: choice, power, rationale }: JsonObject, at: number): Ballot {
  const ballot = { voter, vote: choice, power, at: new Date(at).toISOString() } as Ballot;
  return rationale === undefined ? ballot : { ...ballot, rationale };
}
