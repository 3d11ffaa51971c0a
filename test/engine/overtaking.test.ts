// Requests that overtake each other while a call goes on: no answer is lost, no event is taken twice.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { takeTurn } from '../../lib/engine/session/turn.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { ASK, asking, MINUTE, options, withService } from './asking.ts';
import { begin, gate, KEY, place, rejection, say, settled, textOf } from './support.ts';

const test = suite('overtaking');

test('two processes take the same request at once: the service is called once and both answer the same bytes', async () => {
  const ask = gate();
  const here = withService(ask.service);
  await begin(here.engine());
  const turns = [here.engine(), here.engine()].map((engine) => say(engine, ASK, { turnKey: 'k1' }));
  await settled();
  ask.answer('one');
  await settled();
  await here.clock.advance(200);
  const [one, two] = await Promise.all(turns);
  assert.is(ask.keys.length, 1);
  assert.equal(
    [one!.kind === 'replied' && one!.reply, two!.kind === 'replied' && two!.reply],
    [
      { kind: 'continue', text: '"answered"' },
      { kind: 'continue', text: '"answered"' },
    ],
  );
});

test('an answer is not lost when another writer was first while the call went on', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE, secret: true });
  const [one, two] = [here.engine(), here.engine()];
  await begin(one);
  const first = textOf(say(one, ASK, { turnKey: 'k1', deadlineMs: MINUTE }));
  await settled();
  const other = textOf(say(two, ASK, { turnKey: 'k2', deadlineMs: 1000 }));
  await here.clock.advance(1000);
  assert.is(await other, 'wait');
  ask.answer('mine');
  await settled();
  await here.clock.advance(1000);
  assert.is(await first, '"answered"');
  assert.equal(here.record().rest.context, { got: 'mine', n: 1 });
  assert.is(ask.keys.length, 1);
});

test('an event is not taken twice when another request was told to wait while its call went on', async () => {
  const ask = gate();
  const here = place(machineConversation(compileMachine(asking()), options({ timeoutMs: MINUTE })), {
    services: { ask: ask.service },
  });
  const [one, two] = [here.engine(), here.engine()];
  await begin(one);
  const first = textOf(say(one, ASK, { turnKey: 'k1', deadlineMs: MINUTE }));
  await settled();
  const other = textOf(say(two, { type: 'look' }, { turnKey: 'k2', deadlineMs: 1000 }));
  await here.clock.advance(1000);
  assert.is(await other, '"asked"');
  ask.answer('once');
  await settled();
  await here.clock.advance(1000);
  assert.is(await first, '"answered"');
  assert.equal(here.record().rest.context, { got: 'once', n: 1 });
  assert.is(ask.keys.length, 1);
});

test('who was told to wait sees the outcome before an input is taken, also when another request had it', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE });
  const [one, two] = [here.engine(), here.engine()];
  await begin(one);
  const first = textOf(say(one, ASK, { turnKey: 'k1', deadlineMs: MINUTE }));
  await settled();
  const other = textOf(say(two, ASK, { turnKey: 'k2', deadlineMs: 1000 }));
  await here.clock.advance(1000);
  assert.is(await other, 'wait');
  ask.answer(1);
  await settled();
  await here.clock.advance(1000);
  assert.is(await first, '"answered"');
  assert.is(await textOf(say(two, { type: 'stop' }, { turnKey: 'k3' })), '"answered"');
  assert.is(here.stored().ended, false);
  await say(two, { type: 'stop' }, { turnKey: 'k4' });
  assert.is(here.stored().ended, true);
});

test('who is told to wait for a call of another process, is told so by both, and sees the outcome before an input is taken', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE });
  const [one, two] = [here.engine(), here.engine()];
  await begin(one);
  const first = textOf(say(one, ASK, { turnKey: 'k1', deadlineMs: MINUTE }));
  await settled();
  // Its clock is ahead, or its time is shorter: it gives up before the process that makes the call.
  const joined = textOf(say(two, ASK, { turnKey: 'k1', deadlineMs: 1000 }));
  await here.clock.advance(1000);
  assert.is(await joined, 'wait');
  ask.answer('late');
  await settled();
  await here.clock.advance(1000);
  assert.is(await first, 'wait');
  assert.equal(here.record().rest.context, { got: 'late', n: 1 });
  assert.is(await textOf(say(two, { type: 'stop' }, { turnKey: 'k2' })), '"answered"');
  assert.is(here.stored().ended, false);
  assert.is(ask.keys.length, 1);
});

test('a request without a key that has begun its call is answered with the outcome, also when another was first', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE, secret: true });
  const [one, two] = [here.engine(), here.engine()];
  await begin(one);
  // As a door does that has seen a later request since.
  const first = takeTurn(one, {
    key: KEY,
    deadlineMs: MINUTE,
    decide: (seen) => (seen.kind === 'live' && seen.turn > 1 ? { kind: 'repeat' } : { kind: 'input', input: ASK }),
  });
  await settled();
  const other = textOf(say(two, ASK, { deadlineMs: 1000 }));
  await here.clock.advance(1000);
  assert.is(await other, 'wait');
  ask.answer('mine');
  await settled();
  assert.is(await textOf(first), '"answered"');
  assert.equal(here.record().rest.context, { got: 'mine', n: 1 });
});

test('an outcome that could not be stored is stored when the store is back, and its request is not taken twice', async () => {
  const ask = gate();
  const here = withService(ask.service, { secret: true });
  let commits = 0;
  const store: SnapshotStore = {
    ...here.store,
    commit: (...args) =>
      ++commits === 3 ? Promise.reject(new TwinlineError('ERR_STORE', 'gone')) : here.store.commit(...args),
  };
  const engine = here.engine({ store });
  await begin(engine);
  const turn = rejection(say(engine, ASK, { turnKey: 'k1' }));
  await settled();
  ask.answer('kept');
  assert.is((await turn).code, 'ERR_STORE');
  await settled();
  assert.is(here.record().rest.state, 'answered');
  assert.is(await textOf(say(here.engine(), ASK, { turnKey: 'k1' })), '"answered"');
  assert.equal(here.record().rest.context, { got: 'kept', n: 1 });
});

test.run();
