// What happens to Redis under a running server and is no fault of the network (test/server/faults): the process stopped or
// killed, many callers at once, PIN checks whose words are lost.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ACCOUNT_LIMITS } from '../../../lib/account/limits.ts';
import { KEYS } from '../../package/keys.ts';
import { type FaultProxy, faultProxy, PASS } from '../../support/fault-proxy.ts';
import { withFolder } from '../../support/process.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { LOGIN, pastWaiting } from '../support/login.ts';
import { json, type Served, withServer } from '../support/serve.ts';

const test = suite('store faults');

const UNAVAILABLE = 'END Service temporarily unavailable. Please try again later.';
const DEADLINE_MS = 600;
/** Enough for a PIN check on a busy machine. */
const CHECK_MS = 3_000;

// Says how often it was told to add: a turn that is lost or applied twice shows.
const COUNTER = {
  flow: 'main',
  version: 1,
  start: 'count',
  keys: { exit: '*' },
  vars: { n: { type: 'number', default: 0 } },
  screens: {
    count: {
      type: 'menu',
      text: 'Count {{n}}',
      options: [{ id: 'add', text: 'Add', set: { n: '=n + 1' }, to: 'count' }],
    },
  },
};
const screen = (n: number) => `CON Count ${n}\n1. Add\n*. Exit`;

let redis: RedisServer;
let proxy: FaultProxy;

test.before(async () => {
  redis = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  proxy = await faultProxy(redis);
});

test.after.each(() => proxy.set(PASS));

test.after(async () => {
  await proxy?.close();
  await redis?.stop();
});

interface Flow {
  readonly flow: object;
  readonly deadlineMs: number;
}

function withFlow({ flow, deadlineMs }: Flow, work: (server: Served) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(flow));
    const env = {
      REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
      PIN_ENCRYPTION_KEY: KEYS.PIN_ENCRYPTION_KEY,
      USSD_TURN_DEADLINE_MS: String(deadlineMs),
      MENUS_DIR: folder,
      LOG_LEVEL: 'warn',
    };
    await withServer({ env }, work);
  });
}

async function turn(server: Served, sessionId: string, text: string): Promise<string> {
  const fields = { sessionId, serviceCode: '*2233#', phoneNumber: '+260971230001', text };
  const answer = await server.ask('/api/ussd', json(fields));
  assert.is(answer.status, 200);
  return answer.text;
}

async function isReady(server: Served): Promise<boolean> {
  return (await server.ask('/readyz')).status === 200;
}

const readyAgain = (server: Served) => until('the server to be ready', () => isReady(server));

/** The answer once the store is there again: as the telecom does, it asks until then. */
const turnAgain = (server: Served, sessionId: string, text: string): Promise<string> =>
  until('a turn to be taken', async () => {
    const said = await turn(server, sessionId, text);
    return said !== UNAVAILABLE && said;
  });

/** What the log, readiness and /health say must name the store and nothing secret or local. */
async function isToldAway(server: Served): Promise<void> {
  // What health heard a moment ago still counts.
  await until('the server not to be ready', async () => !(await isReady(server)));
  const [ready, health] = await Promise.all([server.ask('/readyz'), server.ask('/health')]);
  assert.is(ready.status, 503);
  const { stores } = ready.json() as { stores: { keeps: string; kind: string; away: string }[] };
  assert.equal(
    stores.map(({ keeps, kind }) => `${keeps} ${kind}`),
    ['sessions redis'],
  );
  assert.ok(['refused', 'cut', 'no-answer'].includes(stores[0]!.away), stores[0]!.away);
  assert.not.match(ready.text, /127\.0\.0\.1/);
  assert.is((health.json() as { database: string }).database, 'disconnected');
}

// What is written of this session, and nothing else that is said to Redis.
// Not the note of the sessions of a phone, which is written beside the answer of a dial and names it too.
const commitOf = (id: string) => new RegExp(`evalsha(?:(?!note\\[)[\\s\\S])*${id}`, 'i');

test('Redis stopped by SIGSTOP and killed by kill -9: all callers are answered, and the dialogue goes on where it was', () =>
  withFlow({ flow: COUNTER, deadlineMs: DEADLINE_MS }, async (server) => {
    await turnAgain(server, 'real', '');
    redis.freeze();
    const others = Array.from({ length: 20 }, (_, at) => turn(server, `other-${at}`, ''));
    assert.is(await turn(server, 'real', '1'), UNAVAILABLE);
    assert.equal(await Promise.all(others), Array(20).fill(UNAVAILABLE));
    await isToldAway(server);
    redis.thaw();
    await readyAgain(server);
    assert.is(await turnAgain(server, 'real', '1'), screen(1));
    await redis.kill();
    assert.is(await turn(server, 'real', '1*1'), UNAVAILABLE);
    await isToldAway(server);
    await redis.restart();
    await readyAgain(server);
    assert.is(await turnAgain(server, 'real', '1*1'), screen(2));
  }));

test('a PIN check is one guess at most, whichever word about it is lost and however often the telecom asks again', () =>
  withFlow({ flow: LOGIN, deadlineMs: CHECK_MS }, async (server) => {
    const [PIN, WRONG] = ['83519', '47026'];
    let calls = 0;
    const dial = async (choice: string, pin: string, lost?: (id: string) => RegExp) => {
      const id = `pin-${calls++}`;
      for (const text of ['', choice]) await turnAgain(server, id, text);
      const text = `${choice}*${pin}`;
      if (lost) {
        await proxy.set({ kind: 'lose-reply', to: lost(id), after: 'close' });
        for (let at = 0; at < 3; at++) await turn(server, id, text);
        await until('a reply to be lost', () => proxy.lost > 0);
        await proxy.set(PASS);
      }
      const said = await turnAgain(server, id, text);
      return pastWaiting(said, (more) => turnAgain(server, id, text + more));
    };
    // Before the check it is stored that it begins, afterwards what came of it.
    const before = commitOf;
    const afterwards = () => /evalsha[\s\S]*(Wrong|Locked)/i;
    assert.is(await dial('1', PIN), 'END Made');
    assert.is(await dial('2', WRONG, before), 'END Trouble', 'nothing was checked');
    assert.is(await dial('2', WRONG, afterwards), 'END Wrong');
    assert.is(await dial('2', PIN), 'END In', 'that was one guess, or two, not more');
    const answers = [];
    for (let at = 0; at < ACCOUNT_LIMITS.pinFailuresToLock; at++) answers.push(await dial('2', WRONG, afterwards));
    assert.is(answers.filter((answer) => answer === 'END Wrong' || answer === 'END Locked').length, 3);
    assert.is(await dial('2', PIN), 'END Locked', 'and three are three');
  }));

test.run();
