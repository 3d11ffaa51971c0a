// Calls that take longer than a turn: who is told to wait, what is heard meanwhile, and where chains of calls end.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMachine } from 'xstate';
import { ENGINE_LIMITS } from '../../lib/engine/limits.ts';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import type { Service } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { ASK, askAndWait, asking, MINUTE, options, patient, withService } from './asking.ts';
import { begin, gate, place, rejection, say, settled, textOf } from './support.ts';

const test = suite('slow calls');

test('a slow call: told to wait in time, called once, the next input shows the outcome, the one after is taken', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE });
  const engine = here.engine();
  await begin(engine);
  const turn = textOf(say(engine, ASK));
  await settled();
  await here.clock.advance(8000 - ENGINE_LIMITS.turnReserveMs);
  assert.is(await turn, 'wait');
  ask.answer('at last');
  await settled();
  assert.is(here.record().rest.state, 'answered');
  assert.is(await textOf(say(engine, { type: 'stop' })), '"answered"');
  assert.is(here.stored().ended, false);
  await say(engine, { type: 'stop' });
  assert.is(here.stored().ended, true);
  assert.is(ask.keys.length, 1);
});

test('who asks too early waits again, in this process and in another, and the call is still made once', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: 5 * MINUTE });
  const [one, two] = [here.engine({ ttlSeconds: 3600 }), here.engine({ ttlSeconds: 3600 })];
  await begin(one);
  for (const engine of [one, one, two, one, two]) {
    await askAndWait(here, engine);
  }
  const last = textOf(say(two, ASK));
  await settled();
  ask.answer('ready');
  await settled();
  await here.clock.advance(100);
  assert.is(await last, '"answered"');
  assert.is(ask.keys.length, 1);
});

test('a turn that waited long for another process and then loses one race is taken anew, not refused', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE });
  const one = here.engine();
  await begin(one);
  const first = say(one, ASK, { deadlineMs: MINUTE });
  await settled();
  let races = 1;
  const store: SnapshotStore = {
    ...here.store,
    commit: async (key, expected, next) => {
      if (races-- > 0) await here.store.commit(key, expected, here.stored());
      return here.store.commit(key, expected, next);
    },
  };
  const second = textOf(say(here.engine({ store }), ASK));
  await here.clock.advance(8000);
  assert.is(await second, 'wait');
  ask.answer(1);
  await settled();
  await here.clock.advance(1000);
  await first;
  assert.is(here.record().rest.state, 'answered');
});

test('an outcome that the store refuses is stored when it is back, not made again and not given up', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE });
  let isAway = false;
  const store: SnapshotStore = {
    ...here.store,
    commit: async (...args) => {
      if (isAway) throw new TwinlineError('ERR_STORE', 'away');
      return here.store.commit(...args);
    },
  };
  const problems: unknown[] = [];
  const one = here.engine({ store, onProblem: (problem) => problems.push(problem) });
  await begin(one);
  const turn = say(one, ASK, { turnKey: 'asked' });
  const refused = rejection(turn);
  await settled();
  isAway = true;
  ask.answer('ready');
  assert.is((await refused).code, 'ERR_STORE');
  for (let at = 0; at < 10; at++) await here.clock.advance(500);
  assert.is(here.record().rest.state, 'asked');
  isAway = false;
  await here.clock.advance(1_000);
  // By the process that made the call: the other one could only wait until its lease ends.
  assert.is(here.record().rest.state, 'answered');
  assert.is(await textOf(say(here.engine(), ASK, { turnKey: 'asked' })), '"answered"');
  assert.is(ask.keys.length, 1);
  assert.equal(problems, []);
});

test('an outcome that comes after the end changes nothing', async () => {
  const ask = gate();
  const here = place(machineConversation(compileMachine(asking()), options({ timeoutMs: MINUTE })), {
    services: { ask: ask.service },
  });
  const engine = here.engine();
  await begin(engine);
  await askAndWait(here, engine, '"asked"');
  // A begin in the same place is what ends the waiting one.
  await begin(engine, { inputs: [{ type: 'stop' }] });
  const over = here.stored();
  assert.is(over.ended, true);
  ask.answer('nobody is there');
  await settled();
  assert.equal(here.stored(), over);
  assert.is(engine.calls.size, 0);
});

const calling = (loop: 'ask' | 'rest') =>
  createMachine({
    id: 'loop',
    initial: 'idle',
    states: {
      idle: { on: { ask: 'one' } },
      one: { invoke: { id: 'ask', src: 'ask', onDone: 'two' } },
      two: { invoke: { id: 'again', src: 'ask', onDone: loop === 'ask' ? 'one' : 'idle' } },
    },
  } as never);

test("calls that lead to each other in a circle end with ERR_TURN_LIMIT, also behind the caller's back", async () => {
  let calls = 0;
  const slow = gate();
  const ask: Service = async (input, call) => (calls++ === 0 ? slow.service(input, call) : null);
  const problems: unknown[] = [];
  const here = place(patient(calling('ask'), options({ timeoutMs: MINUTE })), {
    services: { ask },
    onProblem: ({ error }) => problems.push((error as TwinlineError).code),
  });
  const engine = here.engine();
  await begin(engine);
  await askAndWait(here, engine);
  slow.answer(null);
  for (let i = 0; i < 50; i++) await settled();
  assert.equal(problems, ['ERR_TURN_LIMIT']);
  // A chain through each of the four states once is no circle.
  assert.is(calls, ENGINE_LIMITS.hopsPerTurn + 4 + 1);
  calls = 1;
  const quick = place(patient(calling('ask')), { services: { ask } });
  await begin(quick.engine());
  const { ending } = (await say(quick.engine(), ASK)) as { ending?: { error?: { code: string } } };
  assert.is(ending?.error?.code, 'ERR_TURN_LIMIT');
});

test('a call that leads to another one behind the caller shows the end of both', async () => {
  const ask = gate();
  const here = place(patient(calling('rest'), options({ timeoutMs: MINUTE })), { services: { ask: ask.service } });
  const engine = here.engine();
  await begin(engine);
  await askAndWait(here, engine);
  ask.answer(1);
  await settled();
  assert.is(here.record().rest.state, 'two');
  ask.answer(2);
  await settled();
  assert.is(await textOf(say(engine, ASK)), '"idle"');
  assert.is(ask.keys.length, 2);
});

test.run();
