// What turns leave behind in a process: nothing.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SnapshotStore, StoredSession } from '../../lib/store/store.ts';
import { heldBytes } from '../support/memory.ts';
import { marketFlow, marketServices } from './market.ts';
import { begin, place, say } from './support.ts';

export const runs = 'fresh';

const test = suite('memory of turns');

test('turns leave nothing behind in the process: not by session, not by what was typed, not by call', async () => {
  let stored: StoredSession | undefined;
  const store: SnapshotStore = {
    ...place(marketFlow()).store,
    load: () => stored,
    commit: async (_key, expected, next) => {
      stored = { ...next, revision: expected + 1 };
      return { kind: 'committed', revision: expected + 1 };
    },
  };
  const engine = place(marketFlow(), { services: marketServices }).engine({ store });
  const run = async (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      stored = undefined;
      await begin(engine, { turnKey: `b${i}` });
      for (const typed of [`text ${i}`, '1', `${i}`, '1', '0', '1'])
        await say(engine, typed, { turnKey: `${typed}${i}` });
    }
  };
  await run(0, 300);
  const before = await heldBytes();
  await run(300, 1300);
  const grown = (await heldBytes()) - before;
  assert.ok(grown < 1_000_000, `${grown} bytes after 7,000 turns of 1,000 sessions`);
});

test.run();
