// How many requests a client may make, how it is told, who is counted together, and who is not counted at all.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LastSeenMap } from '../../server/middleware/last-seen-map.ts';
import { DIAL, json, withServer } from './serve.ts';

const test = suite('rate limit');

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

test.run();
