// Alive, ready, healthy: the exact shapes, HEAD, and what they say while the server stops.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Clock, SimulatedClock } from '../../../lib/clock.ts';
import { type AwayReason, PATIENCE_MS, type StoreHealth, watchHealth } from '../../../server/health/health.ts';
import { sharedServer, withServer } from '../support/serve.ts';

const test = suite('health');

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const server = sharedServer(test, { env: { NODE_ENV: 'test' } });

test('/health has exactly status, environment, timestamp, uptime and database; / has status, message, environment, timestamp', async () => {
  const answer = await server().ask('/health');
  assert.is(answer.status, 200);
  const { timestamp, uptime, ...rest } = answer.json() as { timestamp: string; uptime: number };
  assert.equal(rest, { status: 'ok', environment: 'test', database: 'connected' });
  assert.match(timestamp, ISO);
  assert.ok(uptime > 0);
  const { message, ...home } = (await server().ask('/')).json() as { timestamp: string; message: string };
  assert.equal({ ...home, timestamp: '' }, { status: 'ok', environment: 'test', timestamp: '' });
  assert.match(home.timestamp, ISO);
  assert.type(message, 'string');
});

test('while it stops it is alive and not ready, and tells clients to go elsewhere', () => {
  const clock = new SimulatedClock();
  return withServer({ clock }, async ({ close, ask }) => {
    const closing = close({ drainDelayMs: 300 });
    assert.is((await ask('/livez')).status, 200);
    const ready = await ask('/readyz');
    assert.equal([ready.status, ready.json()], [503, { status: 'draining' }]);
    assert.is((await ask('/health', { headers: { connection: 'keep-alive' } })).headers.connection, 'close');
    await clock.advance(300);
    await closing;
    const gone = await ask('/livez').catch((error) => error.code);
    assert.is(gone, 'ECONNREFUSED');
  });
});

/** A clock on which each part of a wait takes so long as on a late event loop, and lasts one turn of it. */
function lateClock(partMs: number): Clock & { readonly waits: () => number } {
  let [now, waits] = [0, 0];
  const wait = async () => {
    now += partMs;
    waits++;
    await new Promise(setImmediate);
  };
  return { now: () => now, monotonic: () => now, wait, waits: () => waits };
}

const STORE = { keeps: 'sessions', kind: 'remote' } as const;
const never = () => new Promise<void>(() => {});

test('a store that answers is not called away because the event loop is late, one that does not is after a few turns', async () => {
  const answers = async () => {
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  };
  assert.equal(await watchHealth([{ ...STORE, ping: answers }], { clock: lateClock(400) }).stores(), [STORE]);
  const clock = lateClock(400);
  const [silent] = await watchHealth([{ ...STORE, ping: never }], { clock }).stores();
  assert.equal(silent, { ...STORE, away: 'no-answer' });
  assert.ok(clock.waits() < 10, `${clock.waits()} turns`);
});

test('many who ask for the health of a silent store wait for a moment, and cost one ping', async () => {
  const clock = new SimulatedClock();
  let pings = 0;
  const ping = () => {
    pings++;
    return never();
  };
  const health = watchHealth([{ ...STORE, ping }], { clock });
  const asked = Promise.all(Array.from({ length: 30 }, () => health.stores()));
  await clock.advance(PATIENCE_MS);
  for (const [seen] of await asked) assert.equal(seen, { ...STORE, away: 'no-answer' });
  assert.is(pings, 1);
});

test('a store that answers late is away until it has answered, and then there, not by turns; in silence it is away', async () => {
  const clock = new SimulatedClock();
  let ms = 150;
  const ping = () => (ms === Infinity ? never() : clock.wait(ms));
  const changes: (AwayReason | 'there')[] = [];
  const onChange = ({ away }: StoreHealth) => changes.push(away ?? 'there');
  const health = watchHealth([{ keeps: 'documents', kind: 'far', ping }], { clock, onChange });
  const askFor = async (askedMs: number) => {
    for (let passed = 0; passed < askedMs; passed += 20) {
      void health.stores();
      await clock.advance(20);
    }
    await clock.advance(PATIENCE_MS);
  };
  await askFor(2_000);
  assert.equal(changes, ['no-answer', 'there']);
  ms = Infinity;
  await askFor(3_000);
  assert.equal(changes, ['no-answer', 'there', 'no-answer']);
  ms = 1;
  await askFor(1_500);
  assert.equal(changes, ['no-answer', 'there', 'no-answer', 'there']);
});

test.run();
