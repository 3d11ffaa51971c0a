// Verification by vote: everything that can be asked of proposals, over one document store.

import { domainVerification } from '../../machines/domain-verification.ts';
import type { ProposalContext } from '../../machines/proposal.ts';
import type { Clock } from '../clock.ts';
import type { Inspector } from '../engine/conversation.ts';
import { type LifecycleOptions, lifecycle } from '../engine/lifecycle/lifecycle.ts';
import { compileMachine } from '../engine/machine/transition.ts';
import { requireGiven } from '../given.ts';
import type { JsonObject } from '../json/json.ts';
import type { DocumentStore, Query } from '../store/store.ts';
import type { Caller } from './caller.ts';
import { readRevisions } from './feed/journal.ts';
import { findPage, requireDomain, requireLimit, type SettleVotes } from './find.ts';
import { PROPOSAL } from './kinds.ts';
import type { Domain, Status } from './twin/record.ts';
import {
  type PermittedActions,
  type ProposalAction,
  type ProposalRequest,
  permitAction,
  requireProposal,
  reviewProposal,
  type Voted,
} from './voting/ballot.ts';
import { executionServices, noteOnDomain, readVerification } from './voting/execution.ts';
import type { Governance, VoterPower } from './voting/governance.ts';
import {
  dueVotes,
  isUndecided,
  openKey,
  PROPOSAL_KINDS,
  type Proposal,
  proposalFields,
  type StoredProposal,
  type VotingContext,
  writeProposal,
} from './voting/proposal.ts';
import { type NewProposal, permitProposal, type VotingDeps } from './voting/propose.ts';
import { countVotes, resultAtClose, resultWhileVoting, type VotingRules } from './voting/tally.ts';

/** Options of `verification`. */
export interface VerificationOptions {
  /** With DOMAIN_KINDS declared. */
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly governance: Governance;
  /** Who may vote in a tenant when the rules name no voters. @default nobody */
  readonly electorate?: (tenant: string) => readonly VoterPower[];
  /** Receives the inspection events of proposals. */
  readonly inspector?: Inspector | undefined;
  /** Called after each stored step of a proposal: one for each ballot (`CAST`), one for each new state. */
  readonly onStep?: LifecycleOptions['onStep'];
  /** Called with errors of background work. */
  readonly onProblem?: (problem: { readonly id: string; readonly error: unknown }) => void;
}

export interface ProposalQuery {
  /** Of a domain: a DID or alias. @default those of all domains */
  readonly did?: string;
  /** `undecided`: only those whose vote or timelock still runs, the one that is over first before others. @default all */
  readonly which?: 'all' | 'undecided';
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

/** Where a domain stands. */
export interface Standing {
  readonly did: string;
  readonly status: Status;
  readonly entityVerified: boolean;
  readonly revision: number;
  /** The one that gave it this status. */
  readonly proposal: Proposal | undefined;
  /** Those that are not decided. */
  readonly open: readonly Proposal[];
}

/** Every function throws refusals of problems.ts. */
export interface VerificationService {
  propose(caller: Caller, proposal: { did: string } & NewProposal): Promise<Proposal>;
  /** Makes a proposal about this domain once its request was read. Throws what keeps this caller from any. */
  permitProposal(caller: Caller, did: string): Promise<(request: NewProposal) => Promise<Proposal>>;
  get(caller: Caller, id: string): Promise<Proposal>;
  /** Does the action once its request was read. Throws what keeps this caller from it with any request. */
  permit<A extends ProposalAction>(caller: Caller, about: { id: string; action: A }): Promise<PermittedActions[A]>;
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
  readVerification(caller: Caller, did: string): Promise<Standing>;
  /** A domain has changed, or was deactivated: proposals that are about what it was end. */
  subjectChanged(domain: Pick<Domain, 'id'>): Promise<void>;
  /** For readers of domains. */
  readonly settle: SettleVotes;
  /** Closes what is over and repairs what a crash has left, up to `limit`; how many. @default LIMITS.sweepBatch */
  sweep(limit?: number): Promise<number>;
}

/**
 * Opens the votes by which twins are verified.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DOMAIN_KINDS);
 * const governance = parseGovernance('{"voters":[{"did":"did:ex:bob","power":"1"}]}');
 * const votes = verification({ documents, clock: systemClock, governance });
 * const roles = new Set(['representative'] as const);
 * (await votes.list({ principal: 'did:ex:ann', roles, tenant: 'default' })).items; // → []
 */
export function verification(options: VerificationOptions): VerificationService {
  requireGiven('hold votes', options, { documents: 'documents', clock: 'clock', governance: 'object' });
  const { documents, clock, governance, electorate = () => [] } = options;
  const proposals = lifecycle<VotingContext, StoredProposal>({
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
    onStep: options.onStep,
    ...(options.onProblem && { onProblem: options.onProblem }),
  });
  const settle = dueVotes({ documents, clock, proposals, note: noteOnDomain({ documents, clock }) });
  const deps: VotingDeps = { documents, clock, governance, proposals, electorate, settle };

  async function findOpenProposals(subject: string): Promise<Proposal[]> {
    const openFor = { in: PROPOSAL_KINDS.map((kind) => openKey(subject, kind)) };
    const { items } = await documents.find<StoredProposal>(PROPOSAL, { index: 'open', where: { openFor } });
    return Promise.all(items.map(async (item) => reviewProposal(deps, await proposals.refresh(item))));
  }

  return {
    propose: async (caller, { did, ...request }) => (await permitProposal(deps, caller, did))(request),
    permitProposal: (caller, did) => permitProposal(deps, caller, did),
    get: (caller, id) => requireProposal(deps, caller, id),
    permit: (caller, about) => permitAction(deps, caller, about),
    vote: async (caller, { id, ...request }) => (await permitAction(deps, caller, { id, action: 'vote' }))(request),
    withdraw: async (caller, { id, ...request }) =>
      (await permitAction(deps, caller, { id, action: 'withdraw' }))(request),
    veto: async (caller, { id, ...request }) => (await permitAction(deps, caller, { id, action: 'veto' }))(request),
    execute: async (caller, { id, ...request }) =>
      (await permitAction(deps, caller, { id, action: 'execute' }))(request),

    async list(caller, { did, which = 'all', limit = 20, cursor } = {}) {
      requireLimit(limit);
      const subject = did === undefined ? undefined : (await requireDomain(documents, caller, did)).id;
      const plan = planProposals(caller.tenant, subject, which);
      const page = await findPage<StoredProposal>(documents, PROPOSAL, { ...plan, limit, cursor });
      const read = await Promise.all(page.items.map((item) => proposals.refresh(item)));
      const items = which === 'all' ? read : read.filter(({ state }) => isUndecided(state));
      return { items, ...(page.next !== undefined && { next: page.next }) };
    },

    async votes(caller, { id, before, limit = 100 }) {
      const { revision } = await requireProposal(deps, caller, id);
      const query = { kind: PROPOSAL, id, limit, before: Math.min(before ?? revision + 1, revision + 1) };
      const revisions = await readRevisions<StoredProposal>(documents, query);
      const items = revisions.flatMap(({ body: { journal } }) =>
        journal.events.filter(({ type }) => type === 'vote.cast').map(({ data }) => makeBallot(data, journal.at)),
      );
      const last = revisions.at(-1)?.revision ?? 1;
      return { items, ...(last > 1 && { next: last }) };
    },

    async readVerification(caller, did) {
      const { id } = await requireDomain(documents, caller, did);
      await settle({ domain: id });
      const open = (await findOpenProposals(id)).filter(({ state }) => isUndecided(state));
      const { body, revision } = await requireDomain(documents, caller, id);
      const { proposal } = readVerification(body);
      const cause = proposal === undefined ? undefined : await proposals.read(proposal);
      const entityVerified = body.status === 'Verified';
      return { did: id, status: body.status, entityVerified, revision, proposal: cause, open };
    },

    async subjectChanged({ id }) {
      await findOpenProposals(id);
    },
    settle,
    sweep: (limit) => proposals.sweep(limit),
  };
}

function planProposals(tenant: string, subject: string | undefined, which: 'all' | 'undecided'): Query {
  if (which === 'undecided') {
    const due = { dueAt: { gt: 0 } };
    return subject === undefined
      ? { index: 'tenant-due', where: { tenant, ...due } }
      : { index: 'subject-due', where: { subject, ...due } };
  }
  if (subject === undefined) return { index: 'created', where: { tenant }, descending: true };
  return { index: 'subject', where: { tenant, subject }, descending: true };
}

function outcome(context: ProposalContext, when: 'voting' | 'close') {
  const count = countVotes(context.voters);
  return (when === 'close' ? resultAtClose : resultWhileVoting)(count, context.rules as VotingRules);
}

function makeBallot({ voter, vote: choice, power, rationale }: JsonObject, at: number): Ballot {
  const ballot = { voter, vote: choice, power, at: new Date(at).toISOString() } as Ballot;
  return rationale === undefined ? ballot : { ...ballot, rationale };
}
