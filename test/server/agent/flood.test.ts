// Broken and hostile tokens thrown at a server: none gets in, and whoever asks for its health is answered meanwhile.

import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BOMBS } from '../../delegation/hostile-bombs.ts';
import { diceOf, isSame, MUTATIONS } from '../../delegation/mutate.ts';
import { type RunningServer, startProcess } from '../../support/process.ts';
import { ORACLE_KEY } from '../plugins/users.ts';
import { newChatter } from './chats.ts';

const test = suite('a flood of tokens');

const TOKENS = 1_500;
const FLOOD_MS = 4_000;
const THROWERS = 16;
/** In peace an answer takes a millisecond or two; the machine of a test may be busy with other things. */
const AT_MOST_MS = 1_000;
const SEED = 20_261_122;

let server: RunningServer;
test.before(async () => {
  server = await startProcess({ ORACLE_KEY, DATA_DIR: ':memory:', LOG_LEVEL: 'error' });
});
test.after(() => server.kill());

type Headers = Readonly<Record<string, string>>;

/** Asks on one of the connections that are kept; the status, and what came with it. */
function asking(connections: Agent, path: string, headers: Headers = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(server.url + path, { agent: connections, headers }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      res.on('end', () => resolve({ status: res.statusCode!, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const asInvocation = (token: string): Headers => ({ authorization: `Bearer ${token}`, 'x-auth-type': 'ucan' });
const asDelegation = (token: string): Headers => ({ 'x-ucan-delegation': token });

/** A request that can be sent: no letters that Node would not let into a header, and not more than a server reads. */
const canBeSent = (token: string) => /^[\t\x20-\x7e\x80-\xff]+$/.test(token) && token.length < 15_000;

interface Throw {
  readonly name: string;
  readonly headers: Headers;
  /** It is another writing of a good token. */
  readonly isGood: boolean;
}

/** Made before the flood: making them costs more than refusing them. */
async function throwsOf(good: string): Promise<Throw[]> {
  const names = Object.keys(MUTATIONS);
  const broken = Array.from({ length: TOKENS }, (_, at): Throw & { token: string } => {
    const dice = diceOf(SEED + at);
    const name = names[at % names.length]!;
    const token = MUTATIONS[name]!(good, dice).trim();
    const headers = dice(2) ? asInvocation(token) : asDelegation(token);
    return { name: `${name}, seed ${SEED + at}`, token, headers, isGood: isSame(token, good) };
  });
  const bombs = await Promise.all(
    BOMBS.map(async ({ name, token }) => ({ name, token: await token(), isGood: false })),
  );
  const each = bombs.flatMap(({ token, ...bomb }) => [
    { ...bomb, token, headers: asInvocation(token) },
    { ...bomb, token, headers: asDelegation(token) },
  ]);
  // As many bombs as broken tokens.
  return broken.flatMap((one, at) => [one, each[at % each.length]!]).filter(({ token }) => canBeSent(token));
}

test('broken tokens by the thousand: none gets in, and health is told all the while', async () => {
  const flood = await throwsOf((await newChatter()).token);
  const connections = new Agent({ keepAlive: true, maxSockets: THROWERS });
  const counts = new Map<number, number>();
  const until = performance.now() + FLOOD_MS;
  let next = 0;
  const thrower = async () => {
    while (performance.now() < until || next < flood.length) {
      const { name, headers, isGood } = flood[next++ % flood.length]!;
      const { status, text } = await asking(connections, '/sessions', headers);
      counts.set(status, (counts.get(status) ?? 0) + 1);
      assert.ok(isGood || status === 401 || status === 400, `${name}: ${status} ${text}`);
    }
  };
  const calm = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  const flooding = Promise.all(Array.from({ length: THROWERS }, thrower)).finally(() => {
    over = true;
  });
  let over = false;
  const watching = async () => {
    while (!over) {
      const from = performance.now();
      assert.is((await asking(calm, '/health')).status, 200);
      times.push(performance.now() - from);
      await pause(10);
    }
  };
  await Promise.all([flooding, watching()]);
  connections.destroy();
  calm.destroy();

  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)]!;
  const told = `${next} tokens, health in ${at(0.5).toFixed(1)} ms (median), ${at(0.95).toFixed(1)} ms (95 %)`;
  console.log(`a flood of ${told}`);
  assert.ok(counts.get(401)! > TOKENS, JSON.stringify([...counts]));
  assert.ok(times.length > 10 && at(0.95) < AT_MOST_MS, told);
});

test.run();
