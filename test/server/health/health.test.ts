// Alive, ready, healthy: the exact shapes, HEAD, and what they say while the server stops.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Clock, SimulatedClock } from '../../../lib/clock.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import {
  type AwayReason,
  type Health,
  PATIENCE_MS,
  type StoreHealth,
  watchHealth,
} from '../../../server/health/health.ts';
import { numbersFrom } from '../../support/random.ts';
import { sharedServer, untilClosed, withServer } from '../support/serve.ts';

const test = suite('health');

const SEED = Number(process.env.TEST_SEED ?? 1);
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
    await untilClosed(closing, clock);
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

/** Asks again and again for so many milliseconds; what was said of one store, sampled and judged. */
async function askFor(health: Health, clock: SimulatedClock, askedMs: number) {
  const sampled: (AwayReason | 'there')[] = [];
  const judged: (AwayReason | 'there')[] = [];
  for (let passed = 0; passed < askedMs; passed += 100) {
    void health.stores().then(([store]) => sampled.push(store!.away ?? 'there'));
    void health.judgeStores().then(([store]) => judged.push(store!.away ?? 'there'));
    await clock.advance(100);
  }
  return { sampled, judged };
}

test('a store of which some answers are late is away for those who look, and never for those who act on it', async () => {
  const clock = new SimulatedClock();
  const random = numbersFrom(SEED);
  const changes: unknown[] = [];
  const ping = () => clock.wait(random() < 0.2 ? 130 : 3);
  const health = watchHealth([{ ...STORE, ping }], { clock, onChange: (store) => changes.push(store) });
  const { sampled, judged } = await askFor(health, clock, 60_000);
  assert.ok(sampled.includes('no-answer'));
  assert.equal([judged.length, judged.includes('no-answer'), changes], [600, false, []]);
});

test('a silent store is away after two seconds, at once when it has failed somebody, and back with its first answer', async () => {
  const clock = new SimulatedClock();
  let failedAt: number | undefined;
  let isSilent = false;
  const changes: (AwayReason | 'there')[] = [];
  const ping = () => (isSilent ? never() : clock.wait(1));
  const health = watchHealth([{ ...STORE, ping, failedAt: () => failedAt }], {
    clock,
    onChange: ({ away }: StoreHealth) => changes.push(away ?? 'there'),
  });
  await askFor(health, clock, 500);
  isSilent = true;
  const before = await askFor(health, clock, 2_000);
  assert.ok(before.sampled.includes('no-answer') && !before.judged.includes('no-answer'));
  await askFor(health, clock, 1_000);
  assert.equal(changes, ['no-answer']);
  isSilent = false;
  await askFor(health, clock, 2_000);
  assert.equal(changes, ['no-answer', 'there']);
  isSilent = true;
  failedAt = clock.monotonic();
  assert.ok((await askFor(health, clock, 1_000)).judged.includes('no-answer'));
  assert.equal(changes, ['no-answer', 'there', 'no-answer']);
});

test('refused writes and damage count at once', async () => {
  const refuse = (reason?: string) => async () => {
    throw new TwinlineError('ERR_STORE', 'x', reason === undefined ? {} : { reason });
  };
  const well = async () => {};
  for (const [store, away] of [
    [{ ping: well, takesWrites: refuse() }, 'refuses-writes'],
    [{ ping: refuse('damaged') }, 'damaged'],
  ] as const)
    assert.equal(await watchHealth([{ ...STORE, ...store }]).judgeStores(), [{ ...STORE, away }]);
});

test.run();
