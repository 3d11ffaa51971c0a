// Seeded sessions: stored like any other, without secrets, and only at a state that the conversation has.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { createEngine } from '../../lib/engine/engine.ts';
import { seedSession } from '../../lib/engine/sessions.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import { flowFixture } from '../support/flow-fixture.ts';

const test = suite('seed');

const FLOW = flowFixture('small');

const keyring = parseKeyring('8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13');
const BARE = { $stack: [], $page: 0, $bad: 0 };

function engine() {
  return createEngine({ store: memorySnapshots(), conversations: [compileFlow(FLOW)], keyring });
}

const place = (on: ReturnType<typeof engine>, state: string, context: Record<string, string> = {}) =>
  seedSession(on, 'k', { conversation: 'small', state, context: { ...BARE, ...context }, door: {} });

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: TwinlineError) => error.code,
  );

test('a secret is not in the record, not even before the first turn', async () => {
  const on = engine();
  await place(on, 'second', { name: 'Ada', pin: '48291' });
  const stored = await on.store.load('k');
  assert.match(stored!.record, /Ada/);
  assert.not.match(stored!.record, /48291/);
});

test('a session lives as long as its flow says', async () => {
  const clock = new SimulatedClock();
  const on = createEngine({
    ...{ store: memorySnapshots({ clock }), clock, keyring, ttlSeconds: 180 },
    conversations: [compileFlow({ ...FLOW, limits: { session: '30s' } })],
  });
  await place(on, 'second');
  assert.is((await on.store.load('k'))!.expiresAt, clock.now() + 30_000);
});

test('a state that is not there, a conversation that is not loaded and a key that is taken are refused', async () => {
  const on = engine();
  assert.is(await failure(place(on, 'third')), 'ERR_INPUT');
  assert.is(await on.store.load('k'), undefined);
  const other = { conversation: 'other', state: 'first', context: BARE, door: {} };
  assert.is(await failure(seedSession(on, 'k', other)), 'ERR_FLOW_UNKNOWN');
  await place(on, 'first');
  assert.is(await failure(place(on, 'second')), 'ERR_INPUT');
});

test.run();
