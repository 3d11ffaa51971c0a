// More than the server can do: it turns work away at once, in words that callers understand, and says that it lives.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
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
    const lines = server.logged.filter(({ status, msg }) => status === 503 || /turned away/.test(`${msg}`));
    assert.equal(
      lines.map(({ msg }) => msg),
      ['requests are turned away: there is more to do than this server can'],
      'one line for all of them',
    );
    release();
    for (const answer of await Promise.all(holding)) assert.is(answer.status, 200);
    assert.match(await server.ussd(DIAL), /^CON /);
  });
});

test('a request that waits for others begins when one of them is answered, and what waits is served in its order', () => {
  const begun: string[] = [];
  const releases: (() => void)[] = [];
  const hold = testRoutes({
    'GET /hold/:name': async (ctx) => {
      begun.push(ctx.params.name);
      await new Promise<void>((resolve) => releases.push(resolve));
      ctx.body = {};
    },
  });
  return withServer({ overload: { requestsAtOnce: 2, loopDelayMs: 60_000 }, routes: [hold] }, async (server) => {
    const asked: Promise<{ status: number }>[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      asked.push(server.ask(`/hold/${name}`));
      await pause(30);
    }
    assert.equal(begun, ['a', 'b']);
    for (let count = 3; count <= 5; count++) {
      releases.shift()!();
      for (let at = 0; at < 40 && begun.length < count; at++) await pause(5);
      assert.is(begun.length, count);
    }
    assert.equal(begun, ['a', 'b', 'c', 'd', 'e']);
    for (const release of releases) release();
    for (const { status } of await Promise.all(asked)) assert.is(status, 200);
  });
});

test('a client that hangs up while it waits takes no place of others', () => {
  let begun = 0;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hold = testRoutes({
    'GET /hold': async (ctx) => {
      begun++;
      await held;
      ctx.body = {};
    },
  });
  return withServer({ overload: { requestsAtOnce: 1, loopDelayMs: 60_000 }, routes: [hold] }, async (server) => {
    const first = server.ask('/hold');
    await pause(50);
    const { port, hostname } = new URL(server.url);
    const impatient = Array.from({ length: 5 }, () => {
      const socket = connect(Number(port), hostname);
      socket.write('GET /hold HTTP/1.1\r\nHost: a\r\n\r\n');
      return socket;
    });
    await pause(100);
    for (const socket of impatient) socket.destroy();
    await pause(50);
    release();
    assert.is((await first).status, 200);
    assert.match(await server.ussd(DIAL), /^CON /);
    assert.is(begun, 1);
  });
});

test('requests that come all at once leave the event loop time for a probe of its health between them', () => {
  const order: string[] = [];
  const busy = testRoutes({
    'GET /busy': (ctx) => {
      const until = performance.now() + 5;
      while (performance.now() < until);
      order.push('busy');
      ctx.body = {};
    },
  });
  return withServer({ routes: [busy] }, async (server) => {
    const { port, hostname } = new URL(server.url);
    // In one turn of the event loop: connections that the server has taken already, each with its request.
    const sockets = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const socket = connect(Number(port), hostname);
        socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
        await once(socket, 'data');
        return socket;
      }),
    );
    const probe = sockets.pop()!;
    for (const socket of sockets) socket.write('GET /busy HTTP/1.1\r\nHost: a\r\n\r\n');
    probe.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(probe, 'data');
    order.push('probe');
    assert.ok(order.indexOf('probe') < 70, `the probe was answered after ${order.indexOf('probe')} of 99`);
    for (const socket of [probe, ...sockets]) socket.destroy();
  });
});

const OTHER_DOORS: Readonly<Record<string, (said: string) => boolean>> = {
  '/v1/domains': (said) => said.includes('application/problem+json') && said.includes('"status":503'),
  '/sessions': (said) => said.includes('"code":"unavailable"'),
  '/nowhere': (said) => said.includes('"code":"unavailable"'),
};

test('what is turned away is 503 with Retry-After in the form of its door', () =>
  withServer({ overload: { requestsAtOnce: 0, loopDelayMs: 60_000 } }, async (server) => {
    await Promise.all(
      Object.entries(OTHER_DOORS).map(async ([path, fits]) => {
        const { status, headers, text } = await server.ask(path);
        assert.equal([status, headers['retry-after']], [503, '1'], path);
        assert.ok(fits(`${headers['content-type']} ${text}`), `${path}: ${headers['content-type']} ${text}`);
      }),
    );
    assert.is((await server.ask('/livez')).status, 200);
  }));

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
