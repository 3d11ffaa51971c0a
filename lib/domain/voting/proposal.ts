// A proposal as it is stored, and as it is shown.

import type { ProposalContext, ProposalState } from '../../../machines/proposal.ts';
import type { Instance } from '../../engine/lifecycle/lifecycle.ts';
import { type Write, writtenAs } from '../../engine/lifecycle/write.ts';
import type { AtRest } from '../../engine/machine/transition.ts';
import type { JsonObject, StoredDocument } from '../../store/store.ts';
import { type DomainEvent, type Journaled, replaceJournaled } from '../feed/journal.ts';
import type { ProposalKind } from './execution.ts';
import type { Rules } from './governance.ts';
import { type Tally, tallyOf } from './tally.ts';

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

export type Context = ProposalContext<Rules>;
export type Proposal = Instance<Context, StoredProposal>;

/** What clients read. Times are RFC 3339. */
export type ProposalView = JsonObject & {
  readonly id: string;
  readonly did: string;
  readonly kind: ProposalKind;
  readonly status: ProposalState;
  readonly rules: Rules;
  readonly tally: Tally & { readonly reason?: string };
  readonly opensAt: string;
  readonly closesAt: string;
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
  const { subject, kind } = context as unknown as Context;
  return {
    status: state as string,
    openFor: isUndecided(state) ? openKey(subject, kind as ProposalKind) : null,
    calling: calling.length > 0 ? true : null,
  };
}

/** What clients read of a proposal. */
export function proposalView({ id, revision, body, context, state }: Proposal): ProposalView {
  const { rules, voters, reason, decidedAt, passesAt } = context;
  return {
    id,
    did: body.subject,
    kind: body.kind,
    status: state as ProposalState,
    rules,
    tally: { ...tallyOf(voters, rules), ...(state === 'rejected' && reason !== undefined && { reason }) },
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
export const writeProposal: Write = async ({ documents, kind, id, old, body, entry }) => {
  const { facts, ...noted } = entry;
  const next = { ...body, journal: { ...noted, events: facts as readonly DomainEvent[] } } as unknown as StoredProposal;
  if (!old) return writtenAs({ id, body: next }, await documents.insert(kind, id, next));
  const result = await replaceJournaled(documents, {
    kind,
    old: old as StoredDocument<StoredProposal>,
    body: next,
    keep: ({ subject, kind: of, status }) => ({ subject, kind: of, status }),
  });
  return writtenAs({ id, body: next }, result);
};

// With milliseconds: a vote at the very moment of the close comes too late.
function time(ms: number): string {
  return new Date(ms).toISOString();
}
