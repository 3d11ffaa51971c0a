// How many requests a client may make, how it is told, who is counted together, and who is not counted at all.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { warnAtStart } from '../../../server/boot/notices.ts';
import { readConfig } from '../../../server/config/config.ts';
import { callRarely } from '../../../server/http/fast-path.ts';
import { LastSeenMap } from '../../../server/http/middleware/rate-limit.ts';
import { cpuMs } from '../../support/timed.ts';
import { DIAL, json, withServer } from '../support/serve.ts';

const test = suite('rate limit');

const KEYS = {
  PIN_ENCRYPTION_KEY: '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
};
const TOO_MANY = 'END Too many requests. Please try again later.';
const PROXY = { TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' };
const from = (address: string) => ({ 'x-forwarded-for': address });

test('the request after the last allowed one is 429 with Retry-After: END text on USSD, JSON elsewhere', () =>
  withServer({ env: { RATE_LIMIT_MAX: '5' } }, async (server) => {
    for (let at = 0; at < 4; at++) assert.match(await server.ussd({ ...DIAL, sessionId: `s${at}` }), /^CON /);
    assert.is((await server.ask('/')).status, 200, 'all routes count together');
    const ussd = await server.ask('/api/ussd', json(DIAL));
    assert.equal([ussd.status, ussd.text], [429, TOO_MANY]);
    assert.is(ussd.headers['content-type'], 'text/plain; charset=utf-8');
    const other = await server.ask('/health');
    assert.is(other.status, 429);
    assert.match(other.headers['content-type']!, /^application\/json/);
    assert.is((other.json() as { code: string }).code, 'too-many-requests');
    for (const { headers } of [ussd, other])
      assert.ok(Number(headers['retry-after']) >= 1 && Number(headers['retry-after']) <= 60);
    for (const probe of ['/livez', '/readyz']) assert.is((await server.ask(probe)).status, 200);
  }));

test('when the window has passed, requests count anew; Retry-After is never 0', () =>
  withServer({ env: { RATE_LIMIT_MAX: '1', RATE_LIMIT_WINDOW_MS: '300' } }, async (server) => {
    assert.match(await server.ussd(DIAL), /^CON /);
    const limited = await server.ask('/api/ussd', json(DIAL));
    assert.equal([limited.status, limited.headers['retry-after']], [429, '1']);
    await new Promise((resolve) => setTimeout(resolve, 350));
    assert.match(await server.ussd(DIAL), /^CON /);
  }));

test('clients behind a trusted proxy are counted one by one, IPv6 by /64, mapped IPv4 as IPv4', () =>
  withServer({ env: { RATE_LIMIT_MAX: '1', ...PROXY } }, async (server) => {
    const status = async (address: string) => (await server.ask('/', { headers: from(address) })).status;
    assert.is(await status('203.0.113.1'), 200);
    assert.is(await status('203.0.113.2'), 200);
    assert.is(await status('203.0.113.1'), 429);
    assert.is(await status('::ffff:203.0.113.2'), 429);
    assert.is(await status('2001:db8:0:1::1'), 200);
    assert.is(await status('2001:db8:0:1:ffff::2'), 429);
    assert.is(await status('2001:db8:0:2::1'), 200);
  }));

test('a /48 is counted too, for 16 clients together; its neighbours and IPv4 are not touched', () =>
  withServer({ env: { RATE_LIMIT_MAX: '1', ...PROXY } }, async (server) => {
    const status = async (address: string) => (await server.ask('/', { headers: from(address) })).status;
    for (let at = 0; at < 16; at++) assert.is(await status(`2001:db8:0:${at}::1`), 200, `${at}`);
    assert.is(await status('2001:db8:0:ff::1'), 429);
    assert.is((await server.ask('/api/ussd', json(DIAL, from('2001:db8:0:fe::1')))).status, 429);
    assert.is(await status('2001:db8:1::1'), 200);
    assert.is(await status('203.0.113.1'), 200);
  }));

test('without trust, X-Forwarded-For gives nobody a fresh budget', () =>
  withServer({ env: { RATE_LIMIT_MAX: '1' } }, async (server) => {
    assert.is((await server.ask('/', { headers: from('203.0.113.1') })).status, 200);
    assert.is((await server.ask('/', { headers: from('203.0.113.2') })).status, 429);
  }));

test('an exempt gateway is limited per phone number, and only there', () =>
  withServer({ env: { RATE_LIMIT_MAX: '2', RATE_LIMIT_EXEMPT: '127.0.0.0/8' } }, async (server) => {
    const dial = (at: number, phoneNumber: string) =>
      server.ask('/api/ussd', json({ ...DIAL, sessionId: `s${at}`, phoneNumber }));
    for (let at = 0; at < 2; at++) assert.is((await dial(at, '+260971230001')).status, 200);
    const limited = await dial(2, '+260971230001');
    assert.equal([limited.status, limited.text], [429, TOO_MANY]);
    assert.is((await dial(3, '+260971230002')).status, 200);
    for (let at = 0; at < 5; at++) assert.is((await server.ask('/health')).status, 200);
  }));

test('the counts of at most so many clients are kept: those that came last', () => {
  const map = new LastSeenMap<{ n: number }>(3);
  for (const [n, key] of ['a', 'b', 'c'].entries()) map.set(key, { n });
  map.get('a');
  map.set('d', { n: 3 });
  assert.equal([...map.keys()].sort(), ['a', 'c', 'd']);
  for (let n = 0; n < 1_000; n++) map.set(`x${n}`, { n });
  assert.is(map.size, 3);
  map.set('x999', { n: 7 });
  assert.equal([map.size, map.get('x999'), map.get('gone')], [3, { n: 7 }, undefined]);
});

test('a new client costs no more when 100,000 are known, in whatever order they come again', () => {
  const map = new LastSeenMap<{ n: number }>(100_000);
  const filling = cpuMs(() => {
    for (let n = 0; n < 100_000; n++) map.set(`k${n}`, { n });
  });
  for (let n = 0; n < 100_000; n++) map.get(`k${n}`);
  const replacing = cpuMs(() => {
    for (let n = 0; n < 4_000; n++) map.set(`n${n}`, { n });
  });
  // A twenty-fifth of the work; where each looks for the oldest from the beginning, it takes several times as long.
  assert.ok(replacing < filling, `${replacing} ms for 4,000 new ones, ${filling} ms for the first 100,000`);
});

test('what pages are made of is not counted, and neither are names that only look like it', () =>
  withServer({ env: { RATE_LIMIT_MAX: '2' } }, async (server) => {
    const files = [
      '/pages/page.css',
      '/pages/header.js',
      '/pages/simulator.js',
      '/pages/swagger.js',
      '/docs/swagger-ui.css',
    ];
    for (let at = 0; at < 3; at++) for (const file of files) assert.is((await server.ask(file)).status, 200, file);
    const others = ['/pages/made-up.js', '/docs/made-up.css', '/pages/page.css/x', '/docs/guides'];
    const statuses = [];
    for (const path of others) statuses.push((await server.ask(path)).status);
    assert.equal(statuses, [404, 404, 429, 429]);
  }));

test('in development this machine is not counted unless a limit is set; elsewhere it is', () => {
  const counts = (env: NodeJS.ProcessEnv) =>
    readConfig({ DATA_DIR: ':memory:', ...env }, { makeKeys: true }).config!.rateLimit.countsLoopback;
  assert.is(counts({}), false);
  assert.is(counts({ RATE_LIMIT_MAX: '100' }), true);
  assert.is(counts({ NODE_ENV: 'test' }), true);
  return withServer({ env: { RATE_LIMIT_MAX: undefined } }, async (server) => {
    for (let at = 0; at < 130; at++) assert.is((await server.ask('/livez/none')).status, 404);
    assert.match(await server.ussd(DIAL), /^CON /);
  });
});

test('people get a page with a countdown, programs get JSON', () =>
  withServer({ env: { RATE_LIMIT_MAX: '1' } }, async (server) => {
    await server.ask('/');
    const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    for (const path of ['/', '/docs', '/nowhere']) {
      const page = await server.ask(path, { headers: { accept: html } });
      assert.is(page.status, 429);
      assert.match(page.headers['content-type']!, /^text\/html/);
      assert.match(page.headers['content-security-policy']!, /script-src 'self'/);
      const [, until, now] = /<time data-until="([^"]+)" data-now="([^"]+)">\d+ seconds?<\/time>/.exec(page.text)!;
      assert.is((Date.parse(until!) - Date.parse(now!)) / 1_000, Number(page.headers['retry-after']));
      assert.match(page.text, /src="\/pages\/header\.js\?v=[\w-]{16}"/);
    }
    for (const accept of ['application/json', '*/*', '']) {
      const answer = await server.ask('/', { headers: { accept } });
      assert.equal([answer.status, (answer.json() as { code: string }).code], [429, 'too-many-requests'], accept);
    }
  }));

test('who is turned away is counted by reason, and a refused dial is told with its address, once a minute', () =>
  withServer({ env: { RATE_LIMIT_MAX: '2', RATE_LIMIT_EXEMPT: '203.0.113.7', ...PROXY } }, async (server) => {
    for (let at = 0; at < 3; at++) await server.ask('/', { headers: from('198.51.100.1') });
    const dial = (address: string, phoneNumber: string) =>
      server.ask('/api/ussd', json({ ...DIAL, sessionId: phoneNumber, phoneNumber }, from(address)));
    for (let at = 0; at < 4; at++) await dial('198.51.100.2', `+26097123000${at}`);
    for (let at = 0; at < 3; at++) await dial('203.0.113.7', '+260971230009');
    const { text } = await server.ask('/metrics');
    assert.match(text, /^twinline_refused_total\{why="address"\} 3$/m);
    assert.match(text, /^twinline_refused_total\{why="phone"\} 1$/m);
    const told = server.logged.filter(({ msg }) => String(msg).startsWith('dials are refused'));
    assert.equal(
      told.map(({ level, address, times }) => [level, address, times]),
      [[40, '198.51.100.2', 1]],
    );
    assert.match(String(told[0]!.msg), /RATE_LIMIT_EXEMPT/);
    assert.not.match(JSON.stringify(server.logged), /26097123000/);
  }));

test('what happens often is told at once and then once a minute, with how often it happened', async () => {
  const clock = new SimulatedClock();
  const told: [string, number][] = [];
  const tell = callRarely((what: string, times) => told.push([what, times]), clock);
  for (const what of ['a', 'b', 'c']) tell(what);
  await clock.advance(59_999);
  tell('d');
  await clock.advance(1);
  tell('e');
  assert.equal(told, [
    ['a', 1],
    ['e', 4],
  ]);
});

test('a production start says when all callers of a gateway, or all clients of a proxy, would share one limit', () => {
  const limit = /all callers of a telecom gateway have one address.*RATE_LIMIT_EXEMPT/;
  const warns = (env: NodeJS.ProcessEnv, words = limit) => {
    const { config } = readConfig({ DATA_DIR: ':memory:', ...env }, { makeKeys: true });
    const warned: string[] = [];
    warnAtStart({ ...config!, production: env.NODE_ENV !== 'test' }, {
      warn: (text: string) => warned.push(text),
    } as never);
    return warned.filter((text) => words.test(text)).length;
  };
  assert.is(warns({}), 1);
  assert.is(warns({ RATE_LIMIT_EXEMPT: '203.0.113.7' }), 0);
  assert.is(warns({ NODE_ENV: 'test' }), 0);
  const proxies = /no proxy is listed.*TRUST_PROXY_CIDRS/;
  assert.is(warns({ TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '10.0.0.1' }, proxies), 0);
  const production = { NODE_ENV: 'production', USSD_GATEWAYS: '*', ...KEYS };
  assert.is(warns({ ...production, TRUST_PROXY_ENABLED: 'true' }, proxies), 1);
  assert.is(warns(production, proxies), 0);
});

test.run();
