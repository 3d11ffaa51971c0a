// Streams of events and sockets of one client address: so many and no more, whichever door they came by.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { mintInvocation } from '../../../lib/delegation/tokens.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { clientReader } from '../../../server/http/middleware/client.ts';
import { livePlaces } from '../../../server/http/unsent.ts';
import { newKey } from '../../delegation/keys.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { withGateway } from '../gateway/place.ts';
import { openTab } from '../sockets/ground.ts';
import { headersOf, writeKeys } from '../support/domain-client.ts';
import { readEvents } from '../support/event-reader.ts';
import { readMetric, type Served } from '../support/serve.ts';

const test = suite('live places');

const ORACLE_KEY = makeOracleKey();
const { did: audience } = parseOracleKey(ORACLE_KEY);
const BEHIND_PROXY = { TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' };
const from = (address: string) => ({ 'x-forwarded-for': address });
const follow = ({ url }: Served, address: string) =>
  readEvents(`${url}/v1/events`, { ...headersOf('controller'), ...from(address) });

function* forEver() {
  while (true) yield { text: 'a' };
}

async function chat({ ask }: Served) {
  const key = newKey();
  const invocation = await mintInvocation({
    key,
    audience,
    capability: { can: '*', with: 'ixo:oracle' },
    expiresIn: 600,
  });
  const headers = { authorization: `Bearer ${invocation}`, 'x-auth-type': 'ucan', 'content-type': 'application/json' };
  const made = await ask('/sessions', { method: 'POST', headers });
  return { invocation, session: (made.json() as { sessionId: string }).sessionId };
}

test('an address has so many streams and sockets of all doors together; others, and places that were left, are free', () =>
  withFolder((folder) =>
    withGateway(
      {},
      async ({ server, node }) => {
        node.script = () => ({ replies: forEver() });
        const { session, invocation } = await chat(server);
        const [one, other] = ['203.0.113.1', '203.0.113.2'];
        const live = () => readMetric(server, 'twinline_live_streams');
        const stream = await follow(server, one);
        const open = (address: string, transport: 'polling' | 'websocket') =>
          openTab(server.url, {
            ...{ extraHeaders: from(address), transports: [transport], auth: { invocation } },
            query: { sessionId: session },
          });
        const tab = open(one, 'polling');
        await until('the socket', () => tab.heard.length > 0);
        const following = await readEvents(`${server.url}/grove/follow/x`, from(one));
        following.pause();
        assert.equal([stream.status, following.status, await live()], [200, 200, 3]);

        const refused = await server.ask('/v1/events', { headers: { ...headersOf('controller'), ...from(one) } });
        assert.equal([refused.status, refused.headers['retry-after']], [429, '5']);
        assert.match((refused.json() as { detail: string }).detail, /^This address has 3 open streams and sockets/);
        const socket = await server.ask('/socket.io/?EIO=4&transport=polling', { headers: from(one) });
        assert.is(socket.status, 429);
        assert.match((socket.json() as { error: string }).error, /^This address has 3 open streams and sockets/);
        const node429 = await server.ask('/grove/follow/x', { headers: from(one) });
        assert.equal([node429.status, node429.headers['retry-after']], [429, '5']);
        assert.match((node429.json() as { message: string }).message, /^This address has 3 open streams and sockets/);
        assert.is(await readMetric(server, 'twinline_refused_total{why="streams"}'), 3);
        const said = server.logged.filter(({ msg }) => String(msg).startsWith('streams and sockets are refused'));
        assert.equal([said.length, said[0]!.address], [1, one]);

        const elsewhere = await follow(server, other);
        const second = open(other, 'websocket');
        await until('the other socket', () => second.heard.length > 0);
        assert.equal([elsewhere.status, await live()], [200, 5]);
        await elsewhere.close();
        await stream.close();
        await following.close();
        tab.close();
        second.close();
        await until('free places', async () => (await live()) === 0);
        const again = await follow(server, one);
        assert.is(again.status, 200);
        await again.close();
      },
      { env: { ...BEHIND_PROXY, ORACLE_KEY, API_KEYS_FILE: writeKeys(folder), STREAMS_PER_CLIENT: '3' } },
    ),
  ));

test('an IPv6 /48 has sixteen times the places of a /64; gateways and proxies that are known have any number', () => {
  const readClient = clientReader({ proxies: ['10.0.0.0/8'], exempt: ['198.51.100.0/24'] });
  const places = livePlaces({ readClient, perClient: 1 });
  const take = (remoteAddress: string) => places.take({ socket: { remoteAddress }, headers: {} } as never);
  const network = (at: number) => `2001:db8:1:${at.toString(16)}::1`;
  const leave = take(network(0))!;
  assert.is(take('2001:db8:1:0:ffff::2'), undefined);
  for (let at = 1; at < 16; at++) assert.ok(take(network(at)));
  assert.is(take(network(16)), undefined);
  leave();
  leave();
  assert.is(places.open, 15);
  assert.ok(take(network(16)));
  assert.is(take(network(17)), undefined);
  for (const known of ['198.51.100.7', '10.1.2.3']) for (let at = 0; at < 3; at++) assert.ok(take(known));
  assert.is(places.open, 22);
});

test.run();
