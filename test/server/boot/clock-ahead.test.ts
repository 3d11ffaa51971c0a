// A clock that runs ahead for a while, and is right again: what seemed to have expired meanwhile is all there.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock, settledTime } from '../../../lib/clock.ts';
import { mintDelegation, mintInvocation } from '../../../lib/delegation/tokens.ts';
import { memoryDocuments, memoryLogs, memorySnapshots } from '../../../lib/store/memory/index.ts';
import type { Kind } from '../../../lib/store/store.ts';
import { newKey } from '../../delegation/keys.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { KEYS, keyOf } from '../domain/place.ts';
import { IDENTITY, ORACLE_DID, ORACLE_KEY } from '../plugins/users.ts';
import { DIAL, json, type Served, withServer } from '../support/serve.ts';

const test = suite('a clock that runs ahead');

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TEN_YEARS_MS = 3_653 * DAY_MS;
/** The sweeper works once in a second or so. */
const ROUNDS_MS = 5_000;

/** Documents, sessions and logs in memory, and what is removed of them in the background. */
function watchedStores(clock: SimulatedClock) {
  const removed: string[] = [];
  const noted = async (what: string, count: Promise<number | boolean>) => {
    const done = await count;
    if (Number(done) > 0) removed.push(what);
    return done as never;
  };
  const [documents, snapshots, logs] = [memoryDocuments({ clock }), memorySnapshots({ clock }), memoryLogs({ clock })];
  const remove = (kind: Kind, id: string, expected?: number) =>
    // The sign of life of a store is written and removed all the time.
    kind.name === 'server'
      ? documents.remove(kind, id, expected)
      : noted(kind.name, documents.remove(kind, id, expected));
  return {
    removed,
    documents: { ...documents, remove },
    snapshots: { ...snapshots, sweep: (now: number, limit: number) => noted('sessions', snapshots.sweep(now, limit)) },
    logs: { ...logs, sweep: (now: number, limit: number) => noted('logs', logs.sweep(now, limit)) },
  };
}

/** A user on the clock of a server: with an invocation that outlives nothing, and delegations. */
function newVisitor({ ask }: Served, clock: SimulatedClock) {
  const key = newKey();
  const headers = async () => ({
    authorization: `Bearer ${await mintInvocation({ key, audience: ORACLE_DID, capability: IDENTITY, expiresIn: 600, clock })}`,
    'x-auth-type': 'ucan',
  });
  const grant = () =>
    mintDelegation({ key, audience: ORACLE_DID, capabilities: [IDENTITY], expiresIn: 30 * 86_400, clock });
  const call = async (line: string, body?: object) => {
    const [method, path] = line.split(' ') as [string, string];
    const sent = body ? json(body, await headers()) : { headers: await headers() };
    return ask(path, { ...sent, method });
  };
  const mayEnter = async (raw: string) =>
    (await ask('/sessions', { headers: { 'x-ucan-delegation': raw } })).status === 200;
  return { grant, call, mayEnter };
}

test('nothing is removed while it is ahead; when it is right again, what was revoked is, and what was kept is there', async () => {
  const clock = new SimulatedClock();
  const { removed, logs, ...kept } = watchedStores(clock);
  const stores = (opened: object) => ({ ...opened, ...kept }) as never;
  await withFolder(async (folder) => {
    const API_KEYS_FILE = join(folder, 'keys.json');
    writeFileSync(API_KEYS_FILE, JSON.stringify(KEYS));
    const env = { ORACLE_KEY, AGENT_KEEP_DAYS: '90', API_KEYS_FILE };
    await withServer({ clock, stores, parts: { stores: { logs } }, env }, async (server) => {
      const [ann, bob] = [newVisitor(server, clock), newVisitor(server, clock)];
      const raw = await ann.grant();
      await ann.call('POST /delegation', { raw });
      await ann.call('DELETE /delegation');
      await bob.call('POST /delegation', { raw: await bob.grant() });
      const { sessionId } = (await bob.call('POST /sessions', {})).json() as { sessionId: string };
      const said = await bob.call(`POST /messages/${sessionId}`, { message: 'hello', stream: true });
      const run = said.headers['x-run-id']!;
      const screen = await server.ussd(DIAL);
      const protocol = (name: string) =>
        server.ask(
          '/v1/protocols',
          json(
            { type: 'Protocol', name, alsoKnownAs: name },
            { 'idempotency-key': name, authorization: `Bearer ${keyOf('operator')}` },
          ),
        );
      const first = await protocol('did:x:stove');
      assert.is(first.status, 201, first.text);

      const sweep = async () => {
        for (let ms = 0; ms < ROUNDS_MS; ms += 500) await clock.advance(500);
      };
      removed.length = 0;
      clock.jump(TEN_YEARS_MS);
      await sweep();
      assert.ok(!(await bob.call('GET /delegation')).text.includes('true'), 'it has expired by this clock');
      assert.is((await protocol('did:x:stove')).text, first.text, 'a repeated request is still known');
      await sweep();
      assert.equal(removed, []);
      await until('operators are told', () =>
        server.logged.some(({ msg }) => /^the clock was set on/.test(String(msg))),
      );
      clock.jump(-TEN_YEARS_MS);
      await sweep();
      assert.equal(removed, []);

      assert.not(await ann.mayEnter(raw), 'what was revoked stays revoked');
      assert.match((await bob.call('GET /delegation')).text, /"authorized":true/);
      assert.match((await bob.call('GET /sessions')).text, sessionId);
      assert.is((await bob.call(`GET /runs/${run}?after=0`)).text, said.text);
      assert.is(await server.ussd({ ...DIAL, text: '' }), screen);
      assert.is((await protocol('did:x:stove')).text, first.text);
    });
  });
});

test('a time counts as passed when each look of the last day says so', () => {
  const minute = (most: number) => fc.integer({ min: 0, max: most }).map((count) => count * 60_000);
  const step = fc.record({
    wait: fc.oneof(minute(90), minute(20 * 60)),
    jump: fc.oneof(
      { arbitrary: fc.constant(0), weight: 4 },
      fc.integer({ min: -400, max: 400 }).map((count) => count * HOUR_MS),
    ),
  });
  const check = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    let [elapsed, now] = [0, 1e12];
    const clock = { now: () => now, monotonic: () => elapsed };
    const looks = [{ at: elapsed, ahead: now - elapsed }];
    settledTime(clock);
    for (const { wait, jump } of steps) {
      elapsed += wait;
      now += wait + jump;
      looks.push({ at: elapsed, ahead: now - elapsed });
      const least = (ms: number) =>
        elapsed + Math.min(...looks.filter(({ at }) => at > elapsed - ms).map(({ ahead }) => ahead));
      const settled = settledTime(clock);
      assert.ok(settled <= least(DAY_MS), 'no look of a day says less');
      assert.ok(settled >= least(DAY_MS + HOUR_MS), 'older looks do not count');
    }
  });
  fc.assert(check, { seed: Number(process.env.TEST_SEED ?? 1), numRuns: 300 });
});

test.run();
