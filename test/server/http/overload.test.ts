// More than the server can do: it turns work away at once, in words that callers understand, and says that it lives.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withFolder } from '../../support/process.ts';
import { DIAL, json, testRoutes, withServer } from '../support/serve.ts';

const test = suite('overload');

const UNAVAILABLE = 'END Service temporarily unavailable. Please try again later.';

const SLOW_MS = 1_500;
/** A service whose loading stops everything, but not at once. */
const SLOW = `await new Promise((resolve) => setTimeout(resolve, 100));
const until = performance.now() + ${SLOW_MS};
while (performance.now() < until);
export default {};
`;

test('with too many requests in flight, others are turned away with Retry-After; probes are answered', () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hold = testRoutes({
    'GET /hold': async (ctx) => {
      await held;
      ctx.body = {};
    },
  });
  const env = { USSD_ERROR_STATUS: '503' };
  return withServer({ env, overload: { requestsAtOnce: 3, loopDelayMs: 60_000 }, routes: [hold] }, async (server) => {
    const holding = [1, 2, 3].map(() => server.ask('/hold'));
    await pause(50);
    const ussd = await server.ask('/api/ussd', json(DIAL));
    assert.equal([ussd.status, ussd.text, ussd.headers['retry-after']], [503, UNAVAILABLE, '1']);
    const other = await server.ask('/nowhere');
    assert.equal([other.status, other.headers['retry-after']], [503, '1']);
    for (const probe of ['/livez', '/health', '/']) assert.is((await server.ask(probe)).status, 200);
    release();
    for (const answer of await Promise.all(holding)) assert.is(answer.status, 200);
    assert.match(await server.ussd(DIAL), /^CON /);
  });
});

test('after the event loop stood still, work is turned away for a moment, and then taken again', () =>
  withServer({ overload: { loopDelayMs: 250, requestsWhenLate: 0 } }, async (server) => {
    assert.match(await server.ussd(DIAL), /^CON /);
    // A stall is measured from the last look at the clock, so there must have been one.
    await pause(100);
    const until = performance.now() + 450;
    while (performance.now() < until);
    const seen = new Set<string>();
    for (let at = 0; at < 60 && !seen.has('away'); at++) {
      seen.add((await server.ask('/nowhere')).status === 503 ? 'away' : 'served');
      await pause(25);
    }
    assert.ok(seen.has('away'));
    assert.is((await server.ask('/livez')).status, 200);
    assert.is(await server.ussd({ ...DIAL, text: '1' }), UNAVAILABLE);
    assert.ok(server.logged.some(({ msg }) => msg === 'the event loop is late; shedding load'));
    await pause(2_100);
    assert.match(await server.ussd({ ...DIAL, text: '1' }), /^CON Know more/);
  }));

test('an event loop that stood still once turns nobody away while there is little to do', () =>
  withServer({ overload: { loopDelayMs: 250 } }, async (server) => {
    const until = performance.now() + 450;
    while (performance.now() < until);
    for (let at = 0; at < 50; at++) {
      assert.match(await server.ussd({ ...DIAL, sessionId: `after-${at}` }), /^CON /);
      await pause(25);
    }
  }));

test('a start that takes all of the processor is no lateness of the event loop', () =>
  withFolder((folder) => {
    const service = join(folder, 'slow.mjs');
    writeFileSync(service, SLOW);
    return withServer({ env: { SERVICES: service }, overload: { loopDelayMs: 250 } }, async (server) => {
      await pause(1_100);
      const late = server.logged.filter(({ loopDelayMs }) => Number(loopDelayMs) > SLOW_MS - 100);
      assert.equal(late, []);
    });
  }));

test.run();
