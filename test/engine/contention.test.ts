// Turns of one session at the same time: in order within a process, one winner among several, and bounds.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMachine } from 'xstate';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { type Decision, type SessionState, takeTurn } from '../../lib/engine/session/turn.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { contested, count, counter, UP } from './counting.ts';
import { begin, gate, KEY, place, rejection, say, settled } from './support.ts';

const test = suite('contention');

test('twenty deliveries of one request at once are one turn, in one process and in four', async () => {
  for (const processes of [1, 4]) {
    const here = place(counter());
    const engines = Array.from({ length: processes }, () => here.engine());
    await begin(engines[0]!);
    const turns = Array.from({ length: 20 }, (_, i) => say(engines[i % processes]!, UP, { turnKey: 'same' }));
    const results = await Promise.all(turns);
    assert.is(count(here), 1);
    assert.is(results.filter((result) => result.kind === 'replied' && !result.repeated).length, 1);
    assert.is(new Set(results.map((result) => result.kind === 'replied' && result.reply.text)).size, 1);
  }
});

test('different requests at once are all taken, none is lost and none is taken twice', async () => {
  for (const processes of [1, 4]) {
    const here = place(counter());
    let commits = 0;
    const store: SnapshotStore = {
      ...here.store,
      load: async (key) => {
        const found = here.store.load(key);
        await settled();
        return found;
      },
      commit: (...args) => {
        commits++;
        return here.store.commit(...args);
      },
    };
    const engines = Array.from({ length: processes }, () => here.engine({ store }));
    await begin(engines[0]!);
    await Promise.all(Array.from({ length: 20 }, (_, i) => say(engines[i % processes]!, UP, { turnKey: `k${i}` })));
    assert.is(count(here), 20);
    assert.is(here.record().turn, 21);
    if (processes === 1) assert.is(commits, 21, 'in one process they wait for each other');
  }
});

test('when another writer was first, the turn is taken anew on what it wrote', async () => {
  const here = place(counter());
  const other = here.engine();
  await begin(other);
  const store = contested(here.store, 3, () => say(other, UP));
  const seen: number[] = [];
  await takeTurn(here.engine({ store }), {
    key: KEY,
    decide: (found) => {
      seen.push((found as SessionState & { turn: number }).turn);
      return { kind: 'input', input: UP };
    },
  });
  assert.is(count(here), 4);
  assert.equal(seen, [1, 2, 3, 4]);
});

test('a request that another process has answered meanwhile is not taken again', async () => {
  const here = place(counter());
  const other = here.engine();
  await begin(other);
  const store = contested(here.store, 1, () => say(other, UP, { turnKey: 'k' }));
  const result = await say(here.engine({ store }), UP, { turnKey: 'k' });
  assert.is(result.kind === 'replied' && result.repeated, true);
  assert.is(count(here), 1);
});

test('a turn that loses for ever ends with ERR_CONFLICT, once its time is over', async () => {
  const here = place(counter());
  const other = here.engine();
  await begin(other);
  const store = contested(here.store, Infinity, async () => {
    await say(other, UP);
    await here.clock.advance(100);
  });
  const error = await rejection(say(here.engine({ store }), { type: 'off' }, { deadlineMs: 1000 }));
  assert.is(error.code, 'ERR_CONFLICT');
  assert.is(error.retry, true);
  assert.is(count(here), COMMON_LIMITS.conflictsPerTurn);
});

test('turns of one session wait for each other, up to a bound; those of others do not', async () => {
  const slow = gate();
  const here = place(
    machineConversation(
      compileMachine(
        createMachine({
          id: 'slow',
          initial: 'a',
          states: { a: { invoke: { id: 'x', src: 'slow', onDone: 'b' } }, b: {} },
        } as never),
      ),
    ),
    { services: { slow: slow.service } },
  );
  const engine = here.engine();
  const first = begin(engine);
  await settled();
  const waiting = Array.from({ length: 63 }, () => say(engine, UP));
  const refused = await rejection(say(engine, UP));
  assert.is(refused.code, 'ERR_BUSY');
  assert.is(refused.retry, true);
  const refuse = (): Decision => ({ kind: 'refuse', reason: 'later' });
  assert.equal(await takeTurn(engine, { key: 'other', decide: refuse }), { kind: 'refused', reason: 'later' });
  slow.answer(1);
  assert.is((await first).kind, 'replied');
  assert.is((await Promise.all(waiting)).length, 63);
  assert.is((await say(engine, UP)).kind, 'replied');
});

test.run();
