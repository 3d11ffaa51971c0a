// Whose request it is: the right-most hop that is no trusted proxy, else the peer of the socket.

import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clientReader } from '../../../server/http/middleware/client.ts';
import { heldBytes } from '../../support/memory.ts';

export const runs = 'fresh';

const test = suite('client');

const PROXIES = ['127.0.0.0/8', '::1/128', '10.0.0.0/8', 'fd00::/8', '192.0.2.7', '2001:db8:ffff::7'];

function request(peer: string | undefined, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage;
}

const readClient = clientReader({ proxies: PROXIES, exempt: ['203.0.113.0/24', '2001:db8:1::/48'] });
const addressOf = (peer: string, forwarded?: string) => readClient(request(peer, forwarded)).address;

const TABLE = JSON.parse(
  readFileSync(new URL('../../fixtures/server/clients.json', import.meta.url), 'utf8'),
) as readonly (readonly [what: string, peer: string, forwarded: string | null, client: string])[];

for (const [what, peer, forwarded, client] of TABLE)
  test(`${what}: ${forwarded ?? 'none'} from ${peer} is ${client}`, () =>
    assert.is(addressOf(peer, forwarded ?? undefined), client));

test('without trusted proxies the header means nothing', () => {
  const untrusting = clientReader({ proxies: [], exempt: [] });
  assert.is(untrusting(request('127.0.0.1', '1.1.1.1')).address, '127.0.0.1');
});

test('IPv6 is counted by /64, IPv4 by itself, a socket that is gone with all that are gone', () => {
  const bucket = (peer: string | undefined) => readClient(request(peer)).bucket;
  assert.is(bucket('2001:db8:0:1::1'), bucket('2001:db8:0:1:ffff:ffff:ffff:ffff'));
  assert.is.not(bucket('2001:db8:0:1::1'), bucket('2001:db8:0:2::1'));
  assert.is.not(bucket('1.1.1.1'), bucket('1.1.1.2'));
  assert.is(bucket('::ffff:1.1.1.1'), bucket('1.1.1.1'));
  assert.is(bucket(undefined), 'unknown');
});

test('IPv6 is counted besides by its /48, except this machine', () => {
  const network = (peer: string | undefined) => readClient(request(peer)).network;
  assert.is(readClient(request('2001:db8:0:1::1')).bucket, '2001:db8:0:1::/64');
  assert.is(network('2001:db8:0:1::1'), '2001:db8::/48');
  assert.is(network('2001:db8:1:1::1'), '2001:db8:1::/48');
  for (const peer of ['1.1.1.1', '::ffff:1.1.1.1', '::1', undefined]) assert.is(network(peer), undefined, peer);
});

test('requests of this machine count, unless they are said not to; those of others always do', () => {
  const bucket = (countsLoopback: boolean | undefined, peer: string) => {
    const reader = clientReader({ proxies: [], exempt: [], ...(countsLoopback !== undefined && { countsLoopback }) });
    return reader(request(peer)).bucket;
  };
  for (const counts of [undefined, true])
    assert.equal([bucket(counts, '127.0.0.1'), bucket(counts, '::1')], ['127.0.0.1', '::/64']);
  assert.equal([bucket(false, '127.0.0.1'), bucket(false, '::1')], ['uncounted', 'uncounted']);
  assert.equal([bucket(false, '1.1.1.1'), bucket(false, '2001:db8::1')], ['1.1.1.1', '2001:db8::/64']);
});

test('who is on the other side of a closed socket is nobody in particular, whatever the request says', () => {
  const nobody = { address: '', bucket: 'unknown', loopback: false, exempt: false, proxy: false };
  assert.equal(readClient(request(undefined, '203.0.113.9')), nobody);
});

test('an address is read once as long as it has no port: what is remembered has the length of an address at most', () => {
  const reader = clientReader({ proxies: ['127.0.0.1'], exempt: [] });
  const isRemembered = (hop: string) => {
    const first = reader(request('127.0.0.1', hop));
    return reader(request('127.0.0.1', hop)) === first;
  };
  const longest = '0000:0000:0000:0000:0000:ffff:255.255.255.255';
  assert.ok(isRemembered('203.0.113.9') && isRemembered('2001:db8::1') && isRemembered(longest));
  assert.not(isRemembered(`[${longest}]:4711`));
});

test('exempt networks and this machine are known', () => {
  const client = (peer: string) => readClient(request(peer));
  assert.ok(client('203.0.113.77').exempt && client('2001:db8:1:2::3').exempt && client('::ffff:203.0.113.1').exempt);
  assert.not(client('203.0.114.1').exempt);
  assert.ok(client('127.8.9.1').loopback && client('::1').loopback && client('::ffff:127.0.0.1').loopback);
  assert.not(client('10.0.0.1').loopback);
});

test('whatever clients write in front, only the last hop before the proxies counts', () =>
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 20 }), { maxLength: 4 }), fc.ipV4(), (made, last) => {
      fc.pre(!/^(127|10)\.|^192\.0\.2\.7$/.test(last));
      assert.is(addressOf('127.0.0.1', [...made, last, '10.0.0.1'].join(',')), last);
    }),
    { numRuns: 200 },
  ));

test('any header at all gives an address and never throws', () =>
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (forwarded) => {
      assert.match(addressOf('127.0.0.1', forwarded), /^[0-9a-f.:]+$/);
    }),
    { numRuns: 200 },
  ));

test('long headers, and long hops in them, are not kept', async () => {
  const reader = clientReader({ proxies: PROXIES, exempt: [] });
  const before = await heldBytes();
  const long = 'x'.repeat(15_000);
  for (let at = 1; at <= 5_000; at++) {
    const address = `2001:db8:${at.toString(16)}::1234:5678`;
    assert.is(reader(request('127.0.0.1', `${long}${at}, ${address}`)).address, address);
    assert.is(reader(request('127.0.0.1', `${long}${at}`)).address, '127.0.0.1');
  }
  const kept = (await heldBytes()) - before;
  assert.ok(kept < 15_000_000, `${kept} bytes after 150,000,000 bytes of headers`);
  assert.is(reader(request('127.0.0.1', '203.0.113.1')).address, '203.0.113.1');
});

test.run();
