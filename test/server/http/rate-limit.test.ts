// How many requests a client may make, how it is told, who is counted together, and who is not counted at all.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { readConfig } from '../../../server/config/config.ts';
import { LastSeenMap } from '../../../server/http/middleware/rate-limit.ts';
import { callRarely } from '../../../server/telemetry/log.ts';
import { DIAL, json, sharedServer, withServer } from '../support/serve.ts';

const test = suite('rate limit');

const TOO_MANY = 'END Too many requests. Please try again later.';
const GATEWAY = '203.0.113.7';

// Each test asks from addresses of its own.
const clock = new SimulatedClock();
const server = sharedServer(test, {
  clock,
  env: {
    ...{ RATE_LIMIT_MAX: '2', RATE_LIMIT_EXEMPT: GATEWAY },
    ...{ TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' },
  },
});
const from = (address: string) => ({ 'x-forwarded-for': address });
const get = (address: string, path = '/', headers: Readonly<Record<string, string>> = {}) =>
  server().ask(path, { headers: { ...from(address), ...headers } });
const dial = (address: string, phoneNumber: string = DIAL.phoneNumber) =>
  server().ask('/api/ussd', json({ ...DIAL, sessionId: `${address} ${phoneNumber}`, phoneNumber }, from(address)));

async function statuses(addresses: readonly string[]): Promise<number[]> {
  const all = [];
  for (const address of addresses) all.push((await get(address)).status);
  return all;
}

// The first one: its counts begin at 0.
test('who is turned away is counted by reason, and a refused dial is told with its address, once a minute', async () => {
  await statuses(Array(3).fill('198.51.100.1'));
  const phones = Array.from({ length: 4 }, (_, at) => `+26097123000${at}`);
  for (const phoneNumber of phones) await dial('198.51.100.2', phoneNumber);
  for (let at = 0; at < 3; at++) await dial(GATEWAY, phones[0]);
  const { text } = await server().ask('/metrics');
  assert.match(text, /^twinline_refused_total\{why="address"\} 3$/m);
  assert.match(text, /^twinline_refused_total\{why="phone"\} 1$/m);
  const told = server().logged.filter(({ msg }) => String(msg).startsWith('dials are refused'));
  assert.equal(
    told.map(({ level, address, times }) => [level, address, times]),
    [[40, '198.51.100.2', 1]],
  );
  assert.match(String(told[0]!.msg), /RATE_LIMIT_EXEMPT/);
  assert.not.match(JSON.stringify(server().logged), /26097123000/);
});

test('the request after the last allowed one is 429 until the window ends: END text on USSD, JSON elsewhere', async () => {
  const address = '198.51.100.3';
  assert.match((await dial(address)).text, /^CON /);
  assert.is((await get(address)).status, 200, 'all routes count together');
  const ussd = await dial(address);
  assert.equal([ussd.status, ussd.text, ussd.headers['retry-after']], [429, TOO_MANY, '60']);
  assert.is(ussd.headers['content-type'], 'text/plain; charset=utf-8');
  for (const accept of ['application/json', '*/*', '']) {
    const other = await get(address, '/health', { accept });
    assert.equal([other.status, other.headers['retry-after']], [429, '60']);
    assert.match(other.headers['content-type']!, /^application\/json/);
    assert.is((other.json() as { code: string }).code, 'too-many-requests');
  }
  for (const probe of ['/livez', '/readyz']) assert.is((await get(address, probe)).status, 200);
  await clock.advance(59_999);
  assert.equal([(await dial(address)).status, (await dial(address)).headers['retry-after']], [429, '1']);
  await clock.advance(1);
  assert.match((await dial(address)).text, /^CON /);
});

test('people get a page with a countdown', async () => {
  const address = '198.51.100.4';
  await statuses([address, address]);
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  for (const path of ['/', '/docs', '/nowhere']) {
    const page = await get(address, path, { accept });
    assert.is(page.status, 429);
    assert.match(page.headers['content-type']!, /^text\/html/);
    assert.match(page.headers['content-security-policy']!, /script-src 'self'/);
    const [, until, now] = /<time data-until="([^"]+)" data-now="([^"]+)">\d+ seconds?<\/time>/.exec(page.text)!;
    assert.is((Date.parse(until!) - Date.parse(now!)) / 1_000, Number(page.headers['retry-after']));
    assert.match(page.text, /src="\/pages\/header\.js\?v=[\w-]{16}"/);
  }
});

test('clients behind a trusted proxy are counted one by one, IPv6 by /64, mapped IPv4 as IPv4', async () => {
  const [one, two] = ['198.51.100.5', '198.51.100.6'];
  assert.equal(await statuses([one, one, one, two, `::ffff:${two}`, two]), [200, 200, 429, 200, 200, 429]);
  const six = ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:1::3', '2001:db8:0:2::1'];
  assert.equal(await statuses(six), [200, 200, 429, 200]);
});

test('a /48 is counted too, for 16 clients together; its neighbours and IPv4 are not touched', async () => {
  const clients = Array.from({ length: 32 }, (_, at) => `2001:db8:7:${at >> 1}::1`);
  assert.equal(await statuses(clients), Array(32).fill(200));
  assert.is((await dial('2001:db8:7:fe::1')).status, 429);
  assert.equal(await statuses(['2001:db8:7:ff::1', '2001:db8:8::1', '198.51.100.7']), [429, 200, 200]);
});

test('an exempt gateway is limited per phone number, and only there', async () => {
  const phoneNumber = '+260971230011';
  for (let at = 0; at < 2; at++) assert.is((await dial(GATEWAY, phoneNumber)).status, 200);
  const limited = await dial(GATEWAY, phoneNumber);
  assert.equal([limited.status, limited.text], [429, TOO_MANY]);
  assert.is((await dial(GATEWAY, '+260971230012')).status, 200);
  assert.equal(await statuses(Array(5).fill(GATEWAY)), Array(5).fill(200));
});

test('what pages are made of is not counted, and neither are names that only look like it', async () => {
  const address = '198.51.100.8';
  const pages = ['page.css', 'header.js', 'simulator.js', 'swagger.js'].map((name) => `/pages/${name}`);
  for (const file of [...pages, '/docs/swagger-ui.css', ...pages])
    assert.is((await get(address, file)).status, 200, file);
  const others = ['/pages/made-up.js', '/docs/made-up.css', '/pages/page.css/x', '/docs/guides'];
  const answers = [];
  for (const path of others) answers.push((await get(address, path)).status);
  assert.equal(answers, [404, 404, 429, 429]);
});

test('in development this machine is not counted unless a limit is set; elsewhere it is', () => {
  const counts = (env: NodeJS.ProcessEnv) =>
    readConfig({ DATA_DIR: ':memory:', ...env }, { makeKeys: true }).config!.rateLimit.countsLoopback;
  assert.is(counts({}), false);
  assert.is(counts({ RATE_LIMIT_MAX: '100' }), true);
  assert.is(counts({ NODE_ENV: 'test' }), true);
  return withServer({ clock, env: { RATE_LIMIT_MAX: undefined } }, async ({ ask, ussd }) => {
    for (let at = 0; at < 130; at++) assert.is((await ask('/livez/none')).status, 404);
    assert.match(await ussd(DIAL), /^CON /);
  });
});

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

test.run();
