// A machine that counts, one that can go wrong in every way, and a store in which others are first.

import { assign, createMachine, sendTo } from 'xstate';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import type { Json } from '../../lib/json/json.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';

export const UP = { type: 'up' };
const up = assign({ n: ({ context }: { context: { n: number } }) => context.n + 1 });

/** Counts with `up`; `spin`, `chatter` and `bad` go wrong, `off` ends it. */
export const counter = () =>
  machineConversation(
    compileMachine(
      createMachine({
        id: 'counter',
        initial: 'on',
        context: { n: 0 },
        states: {
          on: {
            on: {
              up: { actions: [up, { type: 'counted' }] },
              spin: 'spin',
              chatter: 'chatter',
              bad: {
                actions: assign(() => {
                  throw new Error('no');
                }),
              },
              off: 'off',
            },
          },
          spin: { always: 'spun' },
          spun: { always: 'spin' },
          chatter: { entry: sendTo(({ self }) => self, { type: 'chatter' }), on: { chatter: 'chatter2' } },
          chatter2: { entry: sendTo(({ self }) => self, { type: 'chatter' }), on: { chatter: 'chatter' } },
          off: { type: 'final' },
        },
        on: { reset: '.on' },
      } as never),
    ),
    { shown: 'all' },
  );

/** How far it has counted. */
export const count = (here: { record(): { rest: { context: { n?: Json } } } }) => here.record().rest.context.n;

/** A store in which another writer is first, `times` times. */
export function contested(store: SnapshotStore, times: number, write: () => Promise<unknown>): SnapshotStore {
  let left = times;
  return {
    ...store,
    commit: async (...args) => {
      if (left-- > 0) await write();
      return store.commit(...args);
    },
  };
}
