// What lives as long as the process: a new caller costs the same when a structure is full as when it fills. lru-cache and Map
// tell nobody how much they skip, so processor time is compared: a wide ratio, and the best of several tries.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { knownCalls } from '../../../lib/engine/calls.ts';
import { keyedMutex } from '../../../lib/queue.ts';
import { USSD_LIMITS } from '../../../lib/ussd/limits.ts';
import { phoneSessions } from '../../../lib/ussd/phone-sessions.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { clientReader } from '../../../server/http/middleware/client.ts';
import { LastSeenMap } from '../../../server/http/middleware/rate-limit.ts';

const test = suite('growth');

const RATIO = 6;
const TRIES = 4;

/** Takes the caller of this number; callers do not come again. */
type Take = (n: number) => unknown;

const STRUCTURES: { readonly [what: string]: { readonly bound: number; readonly open: () => Take } } = {
  'the counts of clients': {
    bound: SERVER_LIMITS.countedClients,
    open: () => {
      const map = new LastSeenMap<object>(SERVER_LIMITS.countedClients);
      return (n) => map.get(`c${n}`) ?? map.set(`c${n}`, {});
    },
  },
  'the addresses of clients': {
    bound: 10_000,
    open: () => {
      const read = clientReader({ proxies: [], exempt: [] });
      const address = (n: number) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
      return (n) => read({ socket: { remoteAddress: address(n) } as never, headers: {} });
    },
  },
  'the sessions of phones': {
    bound: USSD_LIMITS.phonesCounted,
    open: () => {
      const sessions = phoneSessions({ isLive: async () => false, endSession: async () => false });
      return (n) => void sessions.begin(`+${n}`, `s${n}`);
    },
  },
  'calls of which 20,000 are open': {
    bound: 20_000,
    open: () => {
      const calls = knownCalls();
      return (n) => {
        calls.dropStale(n);
        calls.set(`k${n}`, { until: n + 1_000_000, isRunning: false });
        calls.delete(`k${n - 20_000}`);
      };
    },
  },
  'sessions of which 20,000 are at work': {
    bound: 20_000,
    open: () => {
      const mutex = keyedMutex(10, 'requests');
      const ends: (() => void)[] = [];
      return (n) => {
        void mutex.run(`k${n}`, () => new Promise<void>((end) => ends.push(end)));
        ends[n - 20_000]?.();
      };
    },
  },
};

for (const [what, { bound, open }] of Object.entries(STRUCTURES))
  test(`${what}: of three times as many as it holds, the last tenth costs about as much as the tenth in which it filled up`, async () => {
    const found: number[] = [];
    while (found.length < TRIES && !(Math.min(...found) <= RATIO)) found.push(await measureRatio(bound, open()));
    assert.ok(Math.min(...found) <= RATIO, `times of the last tenth to the tenth one: ${found.join(', ')}`);
  });

/** The processor time of the last tenth of 3 × `bound` callers, to that of the tenth in which it filled up. */
async function measureRatio(bound: number, take: Take): Promise<number> {
  const tenth = Math.ceil(bound / 10);
  const times: number[] = [];
  for (let at = 0; at < 30; at++) {
    const before = process.cpuUsage();
    for (let n = at * tenth; n < (at + 1) * tenth; n++) take(n);
    await new Promise(setImmediate);
    const { user, system } = process.cpuUsage(before);
    times.push(user + system);
  }
  return times.at(-1)! / Math.max(times[9]!, 1);
}

test.run();
