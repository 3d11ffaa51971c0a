// What a user lets the service do on their behalf: granted until it expires or is revoked, and perhaps granted again.
//
// Pure: times come with the events, the sealed token is carried along and forgotten as soon as it counts no more.

import { type AnyStateMachine, assign, createMachine, type EventObject } from 'xstate';

/** What was granted. */
export type Grant = {
  /** The token, sealed; null once it counts no more. */
  readonly sealed: string | null;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** By which the token and its proofs are revoked. */
  readonly keys: readonly string[];
};

export type DelegationContext = Grant & { readonly storedAt: number };

/** A token takes the place of the one before. `at` is milliseconds since 1970. */
export interface StoreEvent extends EventObject {
  readonly type: 'STORE';
  readonly grant: Grant;
}

type Seen = { readonly context: DelegationContext; readonly event: EventObject };
type Stored = StoreEvent & { readonly at: number };

const STORE = { target: 'authorized', reenter: true, actions: { type: 'keep' } };

const config = {
  id: 'delegation',
  initial: 'authorized',
  context: ({ input: { at, ...grant } }: { input: Grant & { at: number } }) => ({ ...grant, storedAt: at }),
  states: {
    authorized: { after: { lifetime: 'expired' }, on: { STORE, REVOKE: 'revoked' } },
    expired: { entry: { type: 'forget' }, on: { STORE } },
    revoked: { entry: { type: 'forget' }, on: { STORE } },
  },
};

/** The machine; its input is a {@link Grant}. */
export function delegationMachine(): AnyStateMachine {
  return createMachine(
    config as never,
    {
      actions: {
        keep: assign(({ event }: Seen) => {
          const { grant, at } = event as Stored;
          return { ...grant, storedAt: at };
        }),
        forget: assign(() => ({ sealed: null })),
      },
      delays: {
        lifetime: ({ context: { expiresAt, storedAt } }: Seen) => Math.max(0, expiresAt - storedAt),
      },
    } as never,
  );
}
