// What a user lets the service do on their behalf: granted until it expires or is revoked, and perhaps granted again.
//
// Pure: times come with the events. The sealed token is kept in the context and dropped when the grant ends.

import { assertEvent, assign, setup } from 'xstate';

/** What was granted. */
export type Grant = {
  /** The token, sealed; null once the grant has ended. */
  readonly sealed: string | null;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Revocation keys of the token and of its proofs. */
  readonly keys: readonly string[];
};

/** What the lifecycle of a delegation keeps. */
export type DelegationContext = Grant & { readonly storedAt: number };

/** A token takes the place of the one before. */
export type StoreEvent = { readonly type: 'STORE'; readonly grant: Grant };

/** What moves a delegation. */
export type DelegationEvent = StoreEvent | { readonly type: 'REVOKE' };

/** Milliseconds since 1970, which the engine adds to every event and input. */
type Timed = { readonly at: number };

/** Its input is a {@link Grant} and its events are {@link DelegationEvent}s, each with `at`. */
export const delegationMachine = setup({
  types: {
    context: {} as DelegationContext,
    events: {} as DelegationEvent & Timed,
    input: {} as Grant & Timed,
  },
  actions: {
    keep: assign(({ event }) => {
      assertEvent(event, 'STORE');
      return { ...event.grant, storedAt: event.at };
    }),
    forget: assign({ sealed: null }),
  },
  delays: {
    lifetime: ({ context }) => Math.max(0, context.expiresAt - context.storedAt),
  },
}).createMachine({
  id: 'delegation',
  initial: 'authorized',
  context: ({ input: { at, ...grant } }) => ({ ...grant, storedAt: at }),
  states: {
    authorized: {
      after: { lifetime: { target: 'expired' } },
      on: {
        STORE: { target: 'authorized', reenter: true, actions: 'keep' },
        REVOKE: { target: 'revoked' },
      },
    },
    expired: {
      entry: 'forget',
      on: { STORE: { target: 'authorized', reenter: true, actions: 'keep' } },
    },
    revoked: {
      entry: 'forget',
      on: { STORE: { target: 'authorized', reenter: true, actions: 'keep' } },
    },
  },
});
