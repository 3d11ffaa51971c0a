// What proposals do to domains: each is one write on the domain's document, and repeating it changes nothing.
//
// The domain remembers the last proposal of each kind whose end it has seen, and the revision that this one was about.
// At most one of a kind is open, and the next one is about a later revision: so every repeat is known, and whatever a
// process that was thought dead does late for an earlier proposal changes nothing.

import type { Clock } from '../../clock.ts';
import type { ServiceCall } from '../../engine/service.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { DocumentStore } from '../../store/store.ts';
import { update } from '../../store/update.ts';
import { type DomainEvent, replaceJournaled, stamp } from '../feed/journal.ts';
import { DOMAIN } from '../kinds.ts';
import { materialHash } from '../twin/change.ts';
import type { Status, StoredDomain } from '../twin/record.ts';
import type { NoteOnDomain, ProposalKind } from './proposal.ts';

/** What a domain keeps in `verification`. */
export type Verification = {
  /** The open proposal to verify it, and its status before. */
  readonly review?: { readonly proposal: string; readonly from: Status };
  /** By kind: the last proposal whose end has been noted, and the revision of the domain that it was about. */
  readonly settled?: { readonly [kind: string]: { readonly proposal: string; readonly revision: number } };
  /** The proposal that gave the domain its present status, if one did. */
  readonly proposal?: string;
  /** What was verified last: the hash of what is material, and with its package. */
  readonly hash?: string;
  readonly packageHash?: string;
};

/** Kind → status that the domain has → status that an executed proposal gives it. Anything else is refused. */
export const EXECUTION: { readonly [Kind in ProposalKind]: { readonly [From in Status]?: Status } } = {
  verify: { Created: 'Verified', Rejected: 'Verified', Revoked: 'Verified', Suspended: 'Verified' },
  suspend: { Verified: 'Suspended' },
  reinstate: { Suspended: 'Verified' },
  revoke: { Verified: 'Revoked', Suspended: 'Revoked' },
};

/** What a domain becomes when a proposal to verify it is rejected; a sanction stays what it is. */
const REJECTED: { readonly [From in Status]?: Status } = { Created: 'Rejected', Rejected: 'Rejected' };

const EVENT: { readonly [Kind in ProposalKind]: string } = {
  verify: 'domain.verified',
  suspend: 'domain.suspended',
  reinstate: 'domain.reinstated',
  revoke: 'domain.revoked',
};

/** A proposal as far as its subject needs it. */
export interface About {
  /** The proposal's id. */
  readonly id: string;
  readonly kind: ProposalKind;
  /** Of what was material when it was made; with its package; and the revision of the domain then. */
  readonly hash: string;
  readonly packageHash: string;
  readonly subjectRevision: number;
}

export function readVerification(body: StoredDomain): Verification {
  return body.verification as Verification;
}

/** The status apart from an open vote. */
export function statusBeneath(body: StoredDomain): Status {
  return body.status === 'UnderReview' ? (readVerification(body).review?.from ?? 'Created') : body.status;
}

/** Why the domain is not what the proposal is about any more; undefined when it is. */
export function findSubjectChange(
  body: StoredDomain | undefined,
  { kind, hash }: Pick<About, 'kind' | 'hash'>,
): string | undefined {
  if (!body || body.status === 'Deactivated') return 'domain-deactivated';
  if (materialHash(body) !== hash) return 'domain-changed';
  return mayBecome(kind, body) ? undefined : 'status-changed';
}

/** The status that the proposal would give; undefined where it does not apply. */
export function mayBecome(kind: ProposalKind, body: StoredDomain): Status | undefined {
  // While its verification is voted on, nothing else is.
  const from = kind === 'verify' ? statusBeneath(body) : body.status;
  const isSame = readVerification(body).hash === materialHash(body);
  // What was suspended comes back as what it was; something else is verified anew.
  if (from === 'Suspended' && (kind === 'verify' ? isSame : kind === 'reinstate' && !isSame)) return undefined;
  return EXECUTION[kind][from];
}

export interface ExecutionDeps {
  readonly documents: DocumentStore;
  readonly clock: Pick<Clock, 'now'>;
}

interface StatusChange {
  readonly status: Status;
  readonly verification: Verification;
  readonly action: string;
  readonly event?: DomainEvent;
}

/** The calls of the machine in machines/domain-verification.ts. */
export function executionServices(deps: ExecutionDeps) {
  return {
    /** A domain that is voted on for its verification is under review. */
    present: service(deps, (about, body) => {
      const verification = readVerification(body);
      const changed = findEnd(body, about) ?? findSubjectChange(body, about);
      if (changed !== undefined) return { changed };
      if (about.kind !== 'verify' || verification.review?.proposal === about.id) return {};
      const review = { proposal: about.id, from: statusBeneath(body) };
      return withStatusEvent(body, {
        status: 'UnderReview',
        verification: { ...verification, review },
        action: 'review',
      });
    }),

    /** Gives the domain its new status. */
    execute: service(deps, (about, body) => {
      const { id, kind, hash } = about;
      const { review: _, ...verification } = readVerification(body);
      const end = findEnd(body, about);
      if (end === 'settled') return {};
      const changed = end ?? findSubjectChange(body, about);
      if (changed !== undefined) return { changed };
      const status = mayBecome(kind, body)!;
      const next = {
        ...verification,
        ...(kind === 'verify' && { hash, packageHash: about.packageHash }),
        settled: addSettled(body, about),
        proposal: id,
      };
      const event = { type: EVENT[kind], data: { proposal: id, status } };
      return { status, verification: next, action: kind, event };
    }),

    /** A vote that ended without an execution leaves the domain as it was, or rejected. */
    release: service(deps, (about, body) => {
      const { review, ...verification } = readVerification(body);
      if (findEnd(body, about) !== undefined || body.status === 'Deactivated') return {};
      const settled = addSettled(body, about);
      const isReviewed = review?.proposal === about.id;
      const isFree = isReviewed || body.status !== 'UnderReview';
      if (about.kind !== 'verify' || !isFree)
        return { status: body.status, verification: { ...readVerification(body), settled }, action: 'end vote' };
      const from = statusBeneath(body);
      const status = about.outcome === 'rejected' ? (REJECTED[from] ?? from) : from;
      const caused = status === 'Rejected' ? { proposal: about.id } : {};
      return withStatusEvent(body, {
        status,
        verification: { ...verification, ...caused, settled },
        action: 'end review',
      });
    }),
  };
}

// `settled`: this proposal's end has been noted; `superseded`: that of a later one.
function findEnd(body: StoredDomain, { id, kind, subjectRevision }: About): 'settled' | 'superseded' | undefined {
  const last = readVerification(body).settled?.[kind];
  if (last?.proposal === id) return 'settled';
  return last && last.revision >= subjectRevision ? 'superseded' : undefined;
}

function addSettled(body: StoredDomain, { id, kind, subjectRevision }: About): NonNullable<Verification['settled']> {
  return { ...readVerification(body).settled, [kind]: { proposal: id, revision: subjectRevision } };
}

function withStatusEvent(body: StoredDomain, change: StatusChange): StatusChange {
  const { status, verification } = change;
  if (status === body.status) return change;
  const data: JsonObject = {
    changed: ['status'],
    status,
    proposal: verification.review?.proposal ?? verification.settled?.verify?.proposal ?? null,
  };
  return { ...change, event: { type: 'domain.updated', data } };
}

/** Notes the calls of proposals that others make, or were making when they died. */
export function noteOnDomain(deps: ExecutionDeps): NoteOnDomain {
  const services = executionServices(deps);
  return async (call, { id, at, state, context }) => {
    const { kind, subject, hash, packageHash, subjectRevision } = context;
    const input = { kind, subject, hash, packageHash, subjectRevision, at, outcome: state as string };
    await services[call as keyof typeof services](input, { session: { id } });
  };
}

type Decide = (proposal: About & { readonly outcome?: string }, body: StoredDomain) => ExecutionResult;
type Input = JsonObject & { readonly subject: string; readonly at?: number };
/** Nothing to write: `changed` says why the proposal does not apply, if so. */
type ExecutionResult = StatusChange | Unchanged;
type Unchanged = { readonly status?: never; readonly changed?: string };

/** As a service; nothing of the call but the session, whose id is the proposal's, is needed. */
type Noting = (input: JsonObject, call: Partial<ServiceCall> & Pick<ServiceCall, 'session'>) => Promise<Json>;

function service(deps: ExecutionDeps, decide: Decide): Noting {
  return async (input, { session }) => {
    // A deadline has its own time, however late it is met. Calls of earlier versions do not say.
    const { subject, at = deps.clock.now(), ...about } = input as Input;
    let unchanged: Unchanged = {};
    const change = (body: StoredDomain | undefined) => {
      if (!body) {
        unchanged = { changed: 'domain-deactivated' };
        return undefined;
      }
      const answer = decide({ ...(about as unknown as Omit<About, 'id'>), id: session.id }, body);
      if (answer.status === undefined) {
        unchanged = answer;
        return undefined;
      }
      return applyChange(body, { ...answer, at });
    };
    const result = await update<StoredDomain>(deps.documents, DOMAIN, subject, change, {
      replace: (old, body) => replaceJournaled(deps.documents, { kind: DOMAIN, old, body }),
    });
    return result.kind === 'updated' ? {} : (unchanged as Json);
  };
}

function applyChange(
  body: StoredDomain,
  { status, verification, action, event, at: wanted }: StatusChange & { readonly at: number },
): StoredDomain {
  const at = stamp(body, { now: () => wanted });
  const journal = { at, by: 'system', action, events: event ? [event] : [] };
  return { ...body, status, verification, updated: at, journal } as unknown as StoredDomain;
}
