// What is left of a call when its process dies: made again under the same key, or failed when a secret is gone.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import type { Service } from '../../lib/engine/service.ts';
import { wakeSession } from '../../lib/engine/session/turn.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { ASK, asking, crash, MINUTE, patient, withService } from './asking.ts';
import { begin, gate, KEY, place, rejection, say, settled, textOf } from './support.ts';

const test = suite('crash');

test('a crash between intent and outcome: the same request makes the call again under the same key', async () => {
  const ask = gate();
  const here = withService(ask.service);
  await crash(here);
  const again = textOf(say(here.engine(), ASK, { turnKey: 'k1' }));
  await settled();
  assert.is(ask.keys.length, 2);
  assert.is(ask.keys[0], ask.keys[1]);
  ask.skip();
  ask.answer('yes');
  assert.is(await again, '"answered"');
  assert.equal(here.record().rest.context, { got: 'yes', n: 1 });
});

test('nobody takes the call of a crashed process before its lease has ended; who asks meanwhile is told to wait', async () => {
  const ask = gate();
  const here = withService(ask.service);
  await begin(here.engine());
  void say(here.doomed(), ASK, { turnKey: 'k1' });
  await settled();
  const early = textOf(say(here.engine(), ASK, { turnKey: 'k1', deadlineMs: 2000 }));
  await here.clock.advance(1500);
  assert.is(await early, 'wait');
  assert.is(ask.keys.length, 1);
  await here.clock.advance(MINUTE);
  assert.is(await textOf(say(here.engine(), ASK, { turnKey: 'k1' })), 'wait');
  const next = textOf(say(here.engine(), ASK, { turnKey: 'k2' }));
  await settled();
  assert.is(ask.keys.length, 2);
  assert.is(ask.keys[0], ask.keys[1]);
  ask.skip();
  ask.answer('yes');
  assert.is(await next, '"answered"');
  assert.equal(here.record().rest.context, { got: 'yes', n: 1 });
});

test('a crash while a call held a secret: nothing of it is stored, and the call has failed', async () => {
  const ask = gate();
  const here = withService(ask.service, { secret: true });
  await begin(here.engine());
  void say(here.doomed(), ASK, { turnKey: 'k1' });
  await settled();
  assert.is(here.record().calls[0]!.input, undefined);
  await here.clock.advance(MINUTE);
  assert.is(await textOf(say(here.engine(), ASK, { turnKey: 'k1' })), '"failed"');
  assert.is(ask.keys.length, 1);
});

test('a crash while a call held a credential: it is sealed where the session is stored, and the call is made again', async () => {
  const ask = gate();
  const inputs: object[] = [];
  const service: Service = (input, call) => {
    inputs.push(input);
    return ask.service(input, call);
  };
  const headers = { authorization: 'Bearer credential-0123456789' };
  const keyring = parseKeyring('8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13');
  const here = place(patient(asking({ headers }), { shown: 'all' }), { services: { ask: service }, keyring });
  await begin(here.engine());
  void say(here.doomed(), ASK, { turnKey: 'k1' });
  await settled();
  assert.not.match(here.stored().record, 'credential-0123456789');
  assert.match(here.stored().record, '"sealed":"v1$');
  await here.clock.advance(MINUTE);
  const again = textOf(say(here.engine(), ASK, { turnKey: 'k1' }));
  await settled();
  assert.is(ask.keys.length, 2);
  assert.equal(inputs, [
    { n: 1, headers },
    { n: 1, headers },
  ]);
  ask.skip();
  ask.answer('yes');
  assert.is(await again, '"answered"');
});

test('a crash between call and commit: the same key again, and the same process does not even ask again', async () => {
  const keys: string[] = [];
  const here = withService(async (_input, { idempotencyKey }) => keys.push(idempotencyKey), { secret: true });
  const plain = withService(async (_input, { idempotencyKey }) => keys.push(idempotencyKey));
  for (const { engine: newEngine, store, clock } of [here, plain]) {
    const isHere = store === here.store;
    let commits = 0;
    const breaking: SnapshotStore = {
      ...store,
      commit: (...args) => {
        commits++;
        const isGone = isHere ? commits === 3 : commits >= 3;
        return isGone ? Promise.reject(new TwinlineError('ERR_STORE', 'gone')) : store.commit(...args);
      },
    };
    const engine = newEngine({ store: breaking });
    await begin(engine);
    keys.length = 0;
    assert.is((await rejection(say(engine, ASK, { turnKey: 'k1' }))).code, 'ERR_STORE');
    assert.is(keys.length, 1);
    if (!isHere) await clock.advance(MINUTE);
    const answer = await textOf(say(isHere ? engine : newEngine(), ASK, { turnKey: 'k1' }));
    assert.is(answer, '"answered"');
    assert.is(keys.length, isHere ? 1 : 2);
    assert.is(new Set(keys).size, 1);
  }
});

test('whoever wakes the session makes a dead call again; the request that began it gets its outcome, and only once', async () => {
  const ask = gate();
  const here = place(machineConversation(compileMachine(asking())), { services: { ask: ask.service } });
  await begin(here.engine());
  void say(here.doomed(), ASK, { turnKey: 'k1' });
  await settled();
  const lease = here.record().calls[0]!.until;
  assert.is(here.stored().dueAt, lease);
  await here.clock.advance(lease - here.clock.now());
  const engine = here.engine();
  await wakeSession(engine, KEY);
  assert.is(ask.keys.length, 2);
  assert.ok(here.stored().dueAt! > lease);
  ask.skip();
  ask.answer('after all');
  await settled();
  assert.equal(here.record().rest, { state: 'answered', context: { got: 'after all', n: 1 } });
  // The event is not taken a second time.
  assert.is(await textOf(say(engine, ASK, { turnKey: 'k1' })), '"answered"');
  assert.is(here.record().rest.context.n, 1);
  assert.is(ask.keys.length, 2);
  assert.is(here.record().busy, undefined);
});

test('a dead call with a secret fails when the session is woken', async () => {
  const ask = gate();
  const here = withService(ask.service, { secret: true });
  await crash(here, {});
  await wakeSession(here.engine(), KEY);
  await settled();
  assert.is(here.record().rest.state, 'failed');
  assert.is(here.stored().dueAt, null);
});

test('after a crash the outcome is shown before any input is taken, also when requests carry no key', async () => {
  const ask = gate();
  const here = withService(ask.service);
  await crash(here, {});
  const turn = textOf(say(here.engine(), { type: 'stop' }));
  await settled();
  ask.skip();
  ask.answer('x');
  assert.is(await turn, '"answered"');
});

test.run();
