// A proposal about a domain: ballots are cast until it is decided, and what was decided is carried out.
//
// Pure: what ballots amount to is a hand. The context holds copies of everything that the decision rests on, so nothing
// that changes outside while it is open can change it. `closing` and `decided` are passed through, never kept.

import { type AnyStateMachine, assign, createMachine, type EventObject } from 'xstate';

export const PROPOSAL_STATES = [
  'open',
  'timelock',
  'passed',
  'executed',
  'execution_failed',
  'rejected',
  'withdrawn',
  'vetoed',
  'invalidated',
] as const;
export type ProposalState = (typeof PROPOSAL_STATES)[number];

export type Choice = 'yes' | 'no' | 'abstain';

/** Who may vote, with what power, and what they voted; one ballot each. */
export type Voter = {
  readonly did: string;
  /** A whole number in decimal digits, greater than 0. */
  readonly power: string;
  readonly vote?: Choice;
  /** Milliseconds since 1970. */
  readonly at?: number;
};

/** What the machine itself must know of the rules; the hands know the rest. */
export type ProposalRules = {
  readonly votingPeriodSeconds: number;
  readonly allowRevoting: boolean;
  readonly timelockSeconds: number;
};

/** Times are milliseconds since 1970. */
export type ProposalContext<Rules extends ProposalRules = ProposalRules> = {
  readonly kind: string;
  /** The DID of the domain. */
  readonly subject: string;
  /** Of what is material about the domain, as it was when the proposal was made. */
  readonly hash: string;
  /** And with the package that came with the proposal. */
  readonly packageHash: string;
  /** The domain's, when the proposal was made. */
  readonly subjectRevision: number;
  readonly proposer: string;
  readonly rules: Rules;
  readonly voters: readonly Voter[];
  readonly openedAt: number;
  readonly closesAt: number;
  readonly decidedAt?: number;
  /** When it passes, after a timelock. */
  readonly passesAt?: number;
  /** Why it was rejected, vetoed or invalidated, or why the execution failed. */
  readonly reason?: string;
};

/** What a proposal begins with, copied. `at`: milliseconds since 1970. */
export type ProposalInput = Omit<ProposalContext, 'openedAt' | 'closesAt'> & {
  readonly at: number;
};

export type Outcome = { readonly kind: 'passes' | 'open' } | { readonly kind: 'fails'; readonly reason: string };

/** What lib provides once at start. */
export interface TallyHands {
  /** What the ballots amount to: while more may come only what no further ballot can change, at the close the result. */
  outcome(context: ProposalContext, when: 'voting' | 'close'): Outcome;
}

export interface CastEvent extends EventObject {
  readonly type: 'CAST';
  readonly voter: string;
  readonly vote: Choice;
  readonly rationale?: string;
}

interface Answer extends EventObject {
  readonly at: number;
  readonly output?: { readonly changed?: string };
  readonly error?: { readonly code: string };
}

type Seen = { readonly context: ProposalContext; readonly event: EventObject };

const castOf = (event: EventObject) => event as CastEvent & { readonly at: number };
const atOf = (event: EventObject) => (event as Answer).at;
const voterOf = (context: ProposalContext, did: string) => context.voters.find((voter) => voter.did === did);

// What observers are told; the domain and its kind are on every one.
const told = (type: string) => ({
  type,
  params: ({ context: { kind, subject, reason } }: Seen) => ({
    kind,
    subject,
    ...(reason !== undefined && { reason }),
  }),
});
const call = (id: string, ways: { onDone: unknown; onError: unknown }, outcome?: ProposalState) => ({
  id,
  src: id,
  input: ({ context, event }: Seen) => {
    const { kind, subject, hash, packageHash, subjectRevision, openedAt } = context;
    const { at = openedAt } = event as Partial<Answer>;
    return { kind, subject, hash, packageHash, subjectRevision, at, ...(outcome && { outcome }) };
  },
  ...ways,
});
// It no longer matters to the domain what becomes of the proposal, once this has been noted there.
const ended = (state: ProposalState) => ({
  entry: told(`proposal.${state}`),
  invoke: call('release', { onDone: { actions: [] }, onError: { actions: [] } }, state),
});

// Another try to execute is no second passing, so this is no entry action.
const PASS = { target: 'passed', actions: told('proposal.passed') };
const invalidate = { target: 'invalidated', actions: { type: 'explain' } };
const veto = { target: 'vetoed', actions: { type: 'explain' } };

const config = {
  id: 'domain-verification',
  initial: 'open',
  context: ({ input: { at, ...copies } }: { input: ProposalInput }) => ({
    ...copies,
    openedAt: at,
    closesAt: at + copies.rules.votingPeriodSeconds * 1000,
  }),
  states: {
    open: {
      entry: told('proposal.opened'),
      invoke: call('present', {
        onDone: [{ guard: { type: 'subjectChanged' }, ...invalidate }, { actions: [] }],
        onError: { actions: [] },
      }),
      after: { votingPeriod: 'closing' },
      always: [
        { guard: { type: 'outcome', params: { when: 'voting', is: 'passes' } }, target: 'decided' },
        {
          guard: { type: 'outcome', params: { when: 'voting', is: 'fails' } },
          target: 'rejected',
          actions: { type: 'reject', params: { when: 'voting' } },
        },
      ],
      on: {
        CAST: { guard: { type: 'mayVote' }, actions: [{ type: 'cast' }, { type: 'vote.cast', params: ballotOf }] },
        WITHDRAW: 'withdrawn',
        VETO: veto,
        SUBJECT_CHANGED: invalidate,
      },
    },
    closing: {
      always: [
        { guard: { type: 'outcome', params: { when: 'close', is: 'passes' } }, target: 'decided' },
        { target: 'rejected', actions: { type: 'reject', params: { when: 'close' } } },
      ],
    },
    decided: {
      entry: { type: 'decide' },
      always: [{ guard: { type: 'isLocked' }, target: 'timelock' }, PASS],
    },
    timelock: {
      entry: told('proposal.timelock'),
      after: { timelock: PASS },
      on: { VETO: veto, SUBJECT_CHANGED: invalidate },
    },
    passed: {
      entry: { type: 'forgetReason' },
      invoke: call('execute', {
        onDone: [{ guard: { type: 'subjectChanged' }, ...invalidate }, { target: 'executed' }],
        onError: { target: 'execution_failed', actions: { type: 'explain' } },
      }),
      on: { EXECUTE: { target: 'passed', reenter: true } },
    },
    execution_failed: {
      entry: told('proposal.execution_failed'),
      on: { EXECUTE: 'passed', VETO: veto, SUBJECT_CHANGED: invalidate },
    },
    executed: { entry: told('proposal.executed') },
    rejected: ended('rejected'),
    withdrawn: ended('withdrawn'),
    vetoed: ended('vetoed'),
    invalidated: ended('invalidated'),
  },
};

function ballotOf({ context, event }: Seen) {
  const { voter, vote, rationale } = castOf(event);
  const { power } = voterOf(context, voter)!;
  return {
    kind: context.kind,
    subject: context.subject,
    voter,
    vote,
    power,
    ...(rationale !== undefined && { rationale }),
  };
}

/**
 * The machine; its input is a {@link ProposalInput}. Its calls `present`, `execute` and `release` get `{kind, subject,
 * hash, packageHash, subjectRevision, at, outcome?}`, where `at` is the moment of the event that leads to the call, and
 * answer `{changed?: why}`: the domain is not what the proposal is about any more.
 */
export function domainVerification(hands: TallyHands): AnyStateMachine {
  const outcomeOf = (seen: Seen, when: 'voting' | 'close') => hands.outcome(seen.context, when);
  return createMachine(
    config as never,
    {
      guards: {
        outcome: (seen: Seen, { when, is }: { when: 'voting' | 'close'; is: Outcome['kind'] }) =>
          outcomeOf(seen, when).kind === is,
        /** In time, in the list of voters, and a first ballot or a changed one. */
        mayVote: ({ context, event }: Seen) => {
          const { voter: did, vote, at } = castOf(event);
          const voter = voterOf(context, did);
          if (!voter || at >= context.closesAt) return false;
          return voter.vote === undefined || (context.rules.allowRevoting && voter.vote !== vote);
        },
        isLocked: ({ context }: Seen) => context.rules.timelockSeconds > 0,
        subjectChanged: ({ event }: Seen) => (event as Answer).output?.changed !== undefined,
      },
      actions: {
        cast: assign(({ context, event }: Seen) => {
          const { voter: did, vote, at } = castOf(event);
          const voters = context.voters.map((voter) => (voter.did === did ? { ...voter, vote, at } : voter));
          return { voters };
        }),
        decide: assign(({ context, event }: Seen) => {
          const decidedAt = atOf(event);
          return { decidedAt, passesAt: decidedAt + context.rules.timelockSeconds * 1000 };
        }),
        reject: assign((seen: Seen, { when }: { when: 'voting' | 'close' }) => {
          const outcome = outcomeOf(seen, when);
          return { decidedAt: atOf(seen.event), reason: outcome.kind === 'fails' ? outcome.reason : 'unknown' };
        }),
        explain: assign(({ event }: Seen) => {
          const { reason, output, error } = event as Answer & { readonly reason?: string };
          return { reason: reason ?? output?.changed ?? error?.code ?? 'unknown' };
        }),
        forgetReason: assign(
          ({ context }: Seen) => (context.reason === undefined ? {} : { reason: undefined }) as object,
        ),
      },
      delays: {
        votingPeriod: ({ context }: Seen) => context.closesAt - context.openedAt,
        timelock: ({ context }: Seen) => context.rules.timelockSeconds * 1000,
      },
    } as never,
  );
}
