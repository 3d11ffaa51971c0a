// Metadata at the door of the query gateway: what a client sends to the node, and what of the node comes back.

import { request } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { metadataOf } from './node.ts';
import { type Place, type Settings, sharedGateway, withGateway } from './place.ts';

const test = suite('metadata of the query gateway');

type Work = (place: Place) => Promise<void>;

const { at } = sharedGateway(test);

/** A promise about a gateway without settings; what both channels bring is a part of their contract. */
const plain = (promise: string, work: Work) => test(promise, () => work(at()));
/** The same with settings, over the other channel. */
const withSettings = (promise: string, settings: Settings, work: Work) =>
  test(promise, () => withGateway({ channel: 'http2', ...settings }, work));

plain(
  'marked headers are metadata for the node, bytes decoded, and what is broken is 400',
  async ({ server, node }) => {
    node.script = () => ({ reply: { text: 'fine' } });
    const headers = { 'Grpc-Metadata-X-Tenant': 'a', 'grpc-metadata-x-raw-bin': 'AP8=, AQ' };
    assert.is((await server.ask('/grove/params', { headers })).status, 200);
    const { metadata } = node.last();
    assert.equal(metadata.get('x-tenant'), ['a']);
    assert.equal(metadata.get('x-raw-bin'), [Buffer.from([0, 255]), Buffer.from([1])]);
    const before = node.seen.length;
    const broken = await server.ask('/grove/params', { headers: { 'grpc-metadata-x-raw-bin': '!' } });
    assert.equal([broken.status, (broken.json() as { code: number }).code], [400, 3]);
    assert.is(node.seen.length, before);
  },
);

withSettings(
  'marked headers tell answers apart in the cache and in running calls',
  { cache: { ttlMs: 60_000, maxBytes: 1_000_000 } },
  async ({ server, node }) => {
    node.script = ({ metadata }) => ({ reply: { text: String(metadata.get('x-tenant')) } });
    const as = async (tenant: string) => {
      const answer = await server.ask('/grove/params', { headers: { 'grpc-metadata-x-tenant': tenant } });
      return (answer.json() as { text: string }).text;
    };
    assert.equal(await Promise.all(['a', 'b', 'a', 'b'].map(as)), ['a', 'b', 'a', 'b']);
    assert.equal(await Promise.all(['a', 'b'].map(as)), ['a', 'b']);
    assert.is(node.seen.length, 2);
  },
);

withSettings(
  'who asks is told to the node only where forwardHeaders says so, and is part of the key',
  { forwardHeaders: ['Authorization', 'X-Forwarded-For'], cache: { ttlMs: 60_000, maxBytes: 1_000_000 } },
  async ({ server, node }) => {
    node.script = ({ metadata }) => ({
      reply: { text: `${metadata.get('authorization')} ${metadata.get('x-forwarded-for')}` },
    });
    const as = async (headers: Record<string, string>) =>
      ((await server.ask('/grove/params', { headers })).json() as { text: string }).text;
    assert.is(await as({ authorization: 'Bearer a', 'x-forwarded-for': '1.2.3.4' }), 'Bearer a 1.2.3.4');
    assert.is(await as({ authorization: 'Bearer b', 'x-forwarded-for': '1.2.3.4' }), 'Bearer b 1.2.3.4');
    assert.is(await as({ authorization: 'Bearer b', 'x-forwarded-for': '4.3.2.1' }), 'Bearer b 4.3.2.1');
    assert.is(await as({ 'grpc-metadata-authorization': 'Bearer c' }), 'Bearer c ');
    assert.is(node.seen.length, 4);
  },
);

plain('metadata of the node come back marked, with errors too, without its addresses', async ({ server, node }) => {
  node.script = ({ request: { note } }) => ({
    headers: { 'x-region': 'west', 'x-from': 'at 10.1.2.3:9090', 'x-cosmos-block-height': '7' },
    ...(note && { status: { code: 5, details: 'none' } }),
  });
  for (const path of ['/grove/params', '/grove/trees?note=n']) {
    const { headers } = await server.ask(path);
    const told = ['x-region', 'x-from', 'x-cosmos-block-height'].map((name) => headers[`grpc-metadata-${name}`]);
    assert.equal(told, ['west', 'at address', '7'], path);
    assert.equal([headers['x-region'], headers['x-cosmos-block-height']], [undefined, '7']);
  }
  const stream = await server.ask('/grove/follow/x');
  assert.is(stream.headers['grpc-metadata-x-region'], 'west');
});

interface Raw {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly trailers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

function askRaw(url: string, headers: Record<string, string>): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ headers: response.headers, trailers: response.trailers, text }));
    });
    asked.on('error', reject).end();
  });
}

plain('trailers of the node are trailers of HTTP for who says TE: trailers', async ({ server, node }) => {
  node.script = () => ({
    status: {
      code: 9,
      details: 'not now',
      metadata: metadataOf({ 'x-why': 'busy', 'x-raw-bin': Buffer.from([0, 255]) }),
    },
  });
  const without = await askRaw(`${server.url}/grove/params`, {});
  assert.equal([without.trailers, without.headers['grpc-metadata-x-why']], [{}, undefined]);
  const { trailers, headers, text } = await askRaw(`${server.url}/grove/params`, { te: 'trailers' });
  assert.equal(trailers, { 'grpc-trailer-x-why': 'busy', 'grpc-trailer-x-raw-bin': 'AP8=' });
  assert.equal([headers['content-length'], (JSON.parse(text) as { message: string }).message], [undefined, 'not now']);
});

plain('401 of the node tells how to come in: by its own words where it has some', async ({ server, node }) => {
  node.script = () => ({ status: { code: 16, details: 'who are you' } });
  assert.is((await server.ask('/grove/params')).headers['www-authenticate'], 'Bearer realm="node"');
  const metadata = metadataOf({ 'www-authenticate': 'DPoP realm="x"' });
  node.script = () => ({ status: { code: 16, details: 'who are you', metadata } });
  for (const path of ['/grove/params', '/grove/follow/x']) {
    const answer = await server.ask(path);
    assert.equal([answer.status, answer.headers['www-authenticate']], [401, 'DPoP realm="x"'], path);
  }
});

test.run();
