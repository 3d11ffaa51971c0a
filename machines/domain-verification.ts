// A proposal about a domain: ballots are cast until it is decided, and what was decided is carried out.
//
// Pure: lib provides the tally. The context holds copies of everything that the decision depends on, so a change elsewhere
// cannot change an open proposal. `closing` and `decided` are transient states, never stored.

import { type AnyStateMachine, assertEvent, assign, fromPromise, setup } from 'xstate';
import type {
  CastEvent,
  Choice,
  ProposalContext,
  ProposalEvent,
  ProposalInput,
  ProposalState,
  Tally,
  TallyOutcome,
  Voter,
} from './proposal.ts';

/** Milliseconds since 1970, which the engine adds to every event. */
type Timed = { readonly at: number };

/** What the calls `present`, `execute` and `release` get; `at` is the moment of the event that leads to the call. */
export type Subject = Pick<ProposalContext, 'kind' | 'subject' | 'hash' | 'packageHash' | 'subjectRevision'> & {
  readonly at: number;
  readonly outcome?: ProposalState;
};
/** What they answer; `changed`: why the domain no longer is what was voted on. */
export type SubjectAnswer = { readonly changed?: string };

/** A published fact about a proposal. */
type ProposalFact = { readonly kind: string; readonly subject: string; readonly reason?: string };
type BallotFact = ProposalFact & { readonly voter: string; readonly vote: Choice; readonly power: string };

type When = { readonly when: 'voting' | 'close' };

// The engine collects facts and makes calls; nothing happens here.
const fact = (_: unknown, _params: ProposalFact) => {};
const call = fromPromise<SubjectAnswer, Subject>(() => new Promise(() => {}));

const machine = setup({
  types: {
    context: {} as ProposalContext,
    events: {} as ProposalEvent & Timed,
    input: {} as ProposalInput,
  },
  guards: {
    /** Provided by {@link domainVerification}. */
    outcome: (_, _params: When & { readonly is: TallyOutcome['kind'] }) => false,
    /** In time, in the list of voters, and a first ballot or a changed one. */
    mayVote: ({ context, event }) => {
      assertEvent(event, 'CAST');
      const { voter: did, vote, at } = event;
      const voter = findVoter(context, did);
      if (!voter || at >= context.closesAt) return false;
      return voter.vote === undefined || (context.rules.allowRevoting && voter.vote !== vote);
    },
    isLocked: ({ context }) => context.rules.timelockSeconds > 0,
    subjectChanged: (_, answer: SubjectAnswer) => answer.changed !== undefined,
  },
  actions: {
    cast: assign(({ context, event }) => {
      assertEvent(event, 'CAST');
      const { voter: did, vote, at } = event;
      return { voters: context.voters.map((voter) => (voter.did === did ? { ...voter, vote, at } : voter)) };
    }),
    decide: assign(({ context, event }) => {
      const decidedAt = event.at;
      return { decidedAt, passesAt: decidedAt + context.rules.timelockSeconds * 1000 };
    }),
    /** Provided by {@link domainVerification}. */
    reject: (_, _params: When) => {},
    explain: assign((_, { reason }: { readonly reason: string }) => ({ reason })),
    forgetReason: assign(({ context }) => (context.reason === undefined ? {} : ({ reason: undefined } as object))),
    'proposal.opened': fact,
    'vote.cast': fact as (_: unknown, params: BallotFact) => void,
    'proposal.timelock': fact,
    'proposal.passed': fact,
    'proposal.executed': fact,
    'proposal.execution_failed': fact,
    'proposal.rejected': fact,
    'proposal.withdrawn': fact,
    'proposal.vetoed': fact,
    'proposal.invalidated': fact,
  },
  actors: { present: call, execute: call, release: call },
  delays: {
    votingPeriod: ({ context }) => context.closesAt - context.openedAt,
    timelock: ({ context }) => context.rules.timelockSeconds * 1000,
  },
}).createMachine({
  id: 'domain-verification',
  initial: 'open',
  context: ({ input: { at, ...copies } }) => ({
    ...copies,
    openedAt: at,
    closesAt: at + copies.rules.votingPeriodSeconds * 1000,
  }),
  states: {
    open: {
      entry: { type: 'proposal.opened', params: ({ context }) => makeFact(context) },
      invoke: {
        id: 'present',
        src: 'present',
        input: ({ context, event }) => pickSubject(context, event),
        onDone: [
          {
            guard: { type: 'subjectChanged', params: ({ event }) => event.output },
            target: 'invalidated',
            actions: { type: 'explain', params: ({ event }) => changeReason(event) },
          },
          { actions: [] },
        ],
        onError: { actions: [] },
      },
      after: { votingPeriod: { target: 'closing' } },
      always: [
        { guard: { type: 'outcome', params: { when: 'voting', is: 'passes' } }, target: 'decided' },
        {
          guard: { type: 'outcome', params: { when: 'voting', is: 'fails' } },
          target: 'rejected',
          actions: { type: 'reject', params: { when: 'voting' } },
        },
      ],
      on: {
        CAST: {
          guard: 'mayVote',
          actions: ['cast', { type: 'vote.cast', params: ({ context, event }) => makeBallotFact(context, event) }],
        },
        WITHDRAW: { target: 'withdrawn' },
        VETO: { target: 'vetoed', actions: { type: 'explain', params: ({ event }) => eventReason(event) } },
        SUBJECT_CHANGED: {
          target: 'invalidated',
          actions: { type: 'explain', params: ({ event }) => eventReason(event) },
        },
      },
    },
    closing: {
      always: [
        { guard: { type: 'outcome', params: { when: 'close', is: 'passes' } }, target: 'decided' },
        { target: 'rejected', actions: { type: 'reject', params: { when: 'close' } } },
      ],
    },
    decided: {
      entry: 'decide',
      // "proposal.passed" is published by the transition, not on entry: a second try to execute enters this state again.
      always: [
        { guard: 'isLocked', target: 'timelock' },
        { target: 'passed', actions: { type: 'proposal.passed', params: ({ context }) => makeFact(context) } },
      ],
    },
    timelock: {
      entry: { type: 'proposal.timelock', params: ({ context }) => makeFact(context) },
      after: {
        timelock: {
          target: 'passed',
          actions: { type: 'proposal.passed', params: ({ context }) => makeFact(context) },
        },
      },
      on: {
        VETO: { target: 'vetoed', actions: { type: 'explain', params: ({ event }) => eventReason(event) } },
        SUBJECT_CHANGED: {
          target: 'invalidated',
          actions: { type: 'explain', params: ({ event }) => eventReason(event) },
        },
      },
    },
    passed: {
      entry: 'forgetReason',
      invoke: {
        id: 'execute',
        src: 'execute',
        input: ({ context, event }) => pickSubject(context, event),
        onDone: [
          {
            guard: { type: 'subjectChanged', params: ({ event }) => event.output },
            target: 'invalidated',
            actions: { type: 'explain', params: ({ event }) => changeReason(event) },
          },
          { target: 'executed' },
        ],
        onError: {
          target: 'execution_failed',
          actions: { type: 'explain', params: ({ event }) => failureReason(event) },
        },
      },
      on: { EXECUTE: { target: 'passed', reenter: true } },
    },
    execution_failed: {
      entry: { type: 'proposal.execution_failed', params: ({ context }) => makeFact(context) },
      on: {
        EXECUTE: { target: 'passed' },
        VETO: { target: 'vetoed', actions: { type: 'explain', params: ({ event }) => eventReason(event) } },
        SUBJECT_CHANGED: {
          target: 'invalidated',
          actions: { type: 'explain', params: ({ event }) => eventReason(event) },
        },
      },
    },
    executed: {
      entry: { type: 'proposal.executed', params: ({ context }) => makeFact(context) },
    },
    // `release` notes the end of the proposal in its domain; the proposal itself does not depend on the outcome of that call.
    rejected: {
      entry: { type: 'proposal.rejected', params: ({ context }) => makeFact(context) },
      invoke: {
        id: 'release',
        src: 'release',
        input: ({ context, event }) => ({ ...pickSubject(context, event), outcome: 'rejected' }),
        onDone: { actions: [] },
        onError: { actions: [] },
      },
    },
    withdrawn: {
      entry: { type: 'proposal.withdrawn', params: ({ context }) => makeFact(context) },
      invoke: {
        id: 'release',
        src: 'release',
        input: ({ context, event }) => ({ ...pickSubject(context, event), outcome: 'withdrawn' }),
        onDone: { actions: [] },
        onError: { actions: [] },
      },
    },
    vetoed: {
      entry: { type: 'proposal.vetoed', params: ({ context }) => makeFact(context) },
      invoke: {
        id: 'release',
        src: 'release',
        input: ({ context, event }) => ({ ...pickSubject(context, event), outcome: 'vetoed' }),
        onDone: { actions: [] },
        onError: { actions: [] },
      },
    },
    invalidated: {
      entry: { type: 'proposal.invalidated', params: ({ context }) => makeFact(context) },
      invoke: {
        id: 'release',
        src: 'release',
        input: ({ context, event }) => ({ ...pickSubject(context, event), outcome: 'invalidated' }),
        onDone: { actions: [] },
        onError: { actions: [] },
      },
    },
  },
});

/**
 * The machine with its tally; its input is a {@link ProposalInput}, its events are {@link ProposalEvent}s with `at`.
 * @example
 * domainVerification({ outcome: () => ({ kind: 'open' }) }).id; // → 'domain-verification'
 */
export function domainVerification(tally: Tally): AnyStateMachine {
  return machine.provide({
    guards: { outcome: ({ context }, { when, is }) => tally.outcome(context, when).kind === is },
    actions: {
      reject: assign(({ context, event }, { when }) => {
        const outcome = tally.outcome(context, when);
        return { decidedAt: event.at, reason: outcome.kind === 'fails' ? outcome.reason : 'unknown' };
      }),
    },
  });
}

function findVoter(context: ProposalContext, did: string): Voter | undefined {
  return context.voters.find((voter) => voter.did === did);
}

// XState's own init event has no `at`.
function pickSubject(context: ProposalContext, { at = context.openedAt }: Partial<Timed>): Subject {
  const { kind, subject, hash, packageHash, subjectRevision } = context;
  return { kind, subject, hash, packageHash, subjectRevision, at };
}

function makeFact({ kind, subject, reason }: ProposalContext): ProposalFact {
  return { kind, subject, ...(reason !== undefined && { reason }) };
}

function makeBallotFact(context: ProposalContext, { voter, vote, rationale }: CastEvent): BallotFact {
  const { kind, subject } = context;
  const { power } = findVoter(context, voter)!;
  return { kind, subject, voter, vote, power, ...(rationale !== undefined && { rationale }) };
}

const eventReason = ({ reason = 'unknown' }: { readonly reason?: string }) => ({ reason });
const changeReason = ({ output }: { readonly output: SubjectAnswer }) => ({ reason: output.changed ?? 'unknown' });
const failureReason = ({ error }: { readonly error: unknown }) => ({
  reason: (error as { readonly code?: string } | undefined)?.code ?? 'unknown',
});
