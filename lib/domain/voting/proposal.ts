// A proposal as it is stored and as clients read it; and votes that are over, settled before their domain is read.

import type { ProposalContext, ProposalState } from '../../../machines/proposal.ts';
import type { Clock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { toWritten, type WriteStep } from '../../engine/lifecycle/changes.ts';
import type { Instance, Lifecycle } from '../../engine/lifecycle/lifecycle.ts';
import type { AtRest } from '../../engine/machine/transition.ts';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import { findPages } from '../../store/pages.ts';
import type { DocumentStore, Query, StoredDocument } from '../../store/store.ts';
import { type DomainEvent, type Journaled, replaceJournaled } from '../feed/journal.ts';
import type { SettleVotes, VoteScope } from '../find.ts';
import { PROPOSAL } from '../kinds.ts';
import { countTally, type Tally, type VotingRules } from './tally.ts';

export const PROPOSAL_KINDS = ['verify', 'suspend', 'reinstate', 'revoke'] as const;
export type ProposalKind = (typeof PROPOSAL_KINDS)[number];

/** What its document holds beside the machine. */
export type StoredProposal = Journaled & {
  /** The DID of the domain. */
  readonly subject: string;
  readonly kind: ProposalKind;
  readonly status: ProposalState;
  /** `<subject> <kind>` as long as no other of this kind may be made; then null. */
  readonly openFor: string | null;
  readonly proposer: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** As it was sent, or null. */
  readonly package: JsonObject | null;
};

export type VotingContext = ProposalContext<VotingRules>;
/** A proposal with its ballots, as it is stored. */
export type Proposal = Instance<VotingContext, StoredProposal>;

/** What clients read. Times are RFC 3339. */
export type ProposalView = JsonObject & {
  readonly id: string;
  readonly did: string;
  readonly kind: ProposalKind;
  readonly status: ProposalState;
  readonly rules: VotingRules;
  readonly tally: Tally & { readonly reason?: string };
  /** Why it was rejected, vetoed or invalidated, or could not be executed. */
  readonly reason?: string;
  readonly opensAt: string;
  readonly closesAt: string;
  readonly decidedAt?: string;
  /** When the timelock ends. */
  readonly executableAt?: string;
  readonly proposer: string;
  /** As it was sent. */
  readonly package: JsonObject | null;
  readonly packageHash: string;
  /** Revision of the domain when the proposal was made. */
  readonly domainRevision: number;
  readonly revision: number;
};

const UNDECIDED: ReadonlySet<unknown> = new Set<ProposalState>(['open', 'timelock', 'passed', 'execution_failed']);

/** Whether this one stands in the way of another of its kind. */
export function isUndecided(state: unknown): boolean {
  return UNDECIDED.has(state);
}

export function openKey(subject: string, kind: ProposalKind): string {
  return `${subject} ${kind}`;
}

/** The fields that follow from where the machine is. */
export function proposalFields({ state, context }: AtRest, calling: readonly string[]): JsonObject {
  const { subject, kind } = context as unknown as VotingContext;
  return {
    status: state as string,
    openFor: isUndecided(state) ? openKey(subject, kind as ProposalKind) : null,
    calling: calling.length > 0 ? true : null,
  };
}

/**
 * What clients read of a proposal.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DOMAIN_KINDS);
 * const roles = new Set(['controller', 'representative'] as const);
 * const caller = { principal: 'did:ex:ann', roles, tenant: 'default' };
 * const twins = registry({ documents, clock: systemClock });
 * await twins.protocols.create(caller, { type: 'Protocol', alsoKnownAs: ['did:ixo:protocol/stove'] });
 * const body = { type: 'Asset', class: 'did:ixo:protocol/stove', controller: 'did:ex:ann' };
 * const { id: did } = await twins.create(caller, { body });
 * const governance = parseGovernance('{"voters":[{"did":"did:ex:bob","power":"1"}]}');
 * const votes = verification({ documents, clock: systemClock, governance });
 * proposalView(await votes.propose(caller, { did, body: { kind: 'verify' } })).status; // → 'open'
 */
export function proposalView({ id, revision, body, context, state }: Proposal): ProposalView {
  const { rules, voters, reason, decidedAt, passesAt } = context;
  return {
    id,
    did: body.subject,
    kind: body.kind,
    status: state as ProposalState,
    rules,
    tally: { ...countTally(voters, rules), ...(state === 'rejected' && reason !== undefined && { reason }) },
    ...(reason !== undefined && { reason }),
    opensAt: time(context.openedAt),
    closesAt: time(context.closesAt),
    ...(decidedAt !== undefined && { decidedAt: time(decidedAt) }),
    ...(state === 'timelock' && passesAt !== undefined && { executableAt: time(passesAt) }),
    proposer: body.proposer,
    package: body.package,
    packageHash: context.packageHash,
    domainRevision: context.subjectRevision,
    revision,
  };
}

/** Writes a step of a proposal with its journal; of earlier revisions only the journal is kept, not every ballot again. */
export const writeProposal: WriteStep = async ({ documents, kind, id, old, body, entry }) => {
  const { facts, ...noted } = entry;
  const next = { ...body, journal: { ...noted, events: facts as readonly DomainEvent[] } } as unknown as StoredProposal;
  if (!old) return toWritten({ id, body: next }, await documents.insert(kind, id, next));
  const result = await replaceJournaled(documents, {
    kind,
    old: old as StoredDocument<StoredProposal>,
    body: next,
    keep: ({ subject, kind: of, status }) => ({ subject, kind: of, status }),
  });
  return toWritten({ id, body: next }, result);
};

// With milliseconds: a vote at the very moment of the close comes too late.
function time(ms: number): string {
  return new Date(ms).toISOString();
}

export interface DueVotesOptions {
  readonly documents: DocumentStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly proposals: Lifecycle<VotingContext, StoredProposal>;
  readonly note: NoteOnDomain;
}

/** Does the work of the sweep by the same writes, so it is done once however many readers and processes do it. */
export function dueVotes({ documents, clock, proposals, note }: DueVotesOptions): SettleVotes {
  async function settleOne(document: StoredDocument): Promise<boolean> {
    try {
      const proposal = await proposals.refresh(document);
      // Another process may be noting it just now, or may have died over it. Noting it twice changes nothing.
      for (const call of proposal.calling) await note(call, proposal);
      return proposal.revision !== document.revision || proposal.calling.length > 0;
    } catch (error) {
      // An unreadable proposal does not block reads of others; the sweep reports it.
      if (error instanceof TwinlineError && !error.retry) return false;
      throw error;
    }
  }

  return async (scope) => {
    let settled = false;
    for (const query of queriesFor(scope, clock.now()))
      for await (const items of findPages(documents, PROPOSAL, { ...query, limit: COMMON_LIMITS.sweepBatch })) {
        const changes = await Promise.all(items.map(settleOne));
        settled ||= changes.includes(true);
      }
    return settled;
  };
}

// Of one domain all that have a deadline, which are few; else those whose deadline has passed or whose end is being noted.
function queriesFor(scope: VoteScope, now: number): readonly Query[] {
  if (scope === 'all')
    return [
      { index: 'due', where: { dueAt: { lte: now } } },
      { index: 'calling', where: { calling: true } },
    ];
  if ('domain' in scope) return [{ index: 'subject-due', where: { subject: scope.domain, dueAt: { gt: 0 } } }];
  const { tenant } = scope;
  return [
    { index: 'tenant-due', where: { tenant, dueAt: { lte: now } } },
    { index: 'calling', where: { calling: true, tenant } },
  ];
}

/** Does on the domain what one of the machine's calls does, for a call without an answer. */
export type NoteOnDomain = (call: string, proposal: Proposal) => Promise<void>;
