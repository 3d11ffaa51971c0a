// Streams of the query gateway: lines and events, errors before and in the middle, slow and leaving readers, the end.

import { get, type IncomingMessage } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../support/until.ts';
import { sharedGateway, withGateway } from './place.ts';

const test = suite('streams of the query gateway');
const { scripted } = sharedGateway(test);

const TWO = [{ text: 'a' }, { text: 'b' }];
const texts = (lines: readonly string[]) =>
  lines.map((line) => (JSON.parse(line) as { result: { text: string } }).result.text);

test('each message is a line of JSON', async () => {
  const { server } = scripted(() => ({ replies: TWO, headers: { 'x-cosmos-block-height': '9' } }));
  const { status, headers, text } = await server.ask('/grove/follow/x');
  assert.equal([status, headers['content-type']], [200, 'application/x-ndjson']);
  assert.is(headers['x-cosmos-block-height'], '9');
  assert.ok(text.endsWith('\n'));
  assert.equal(texts(text.trimEnd().split('\n')), ['a', 'b']);
});

test('or an event, when events are asked for', async () => {
  const { server } = scripted(() => ({ replies: TWO, status: { code: 10, details: 'broke' } }));
  const { headers, text } = await server.ask('/grove/follow/x', { headers: { accept: 'text/event-stream' } });
  assert.match(headers['content-type']!, /^text\/event-stream/);
  const events = text.trimEnd().split('\n\n');
  assert.equal(texts(events.slice(0, 2).map((event) => event.replace(/^data: /, ''))), ['a', 'b']);
  assert.is(events[2], 'event: error\ndata: {"error":{"code":10,"message":"broke","details":[]}}');
});

test('an error after messages is the last line; before any it is an answer like others', async () => {
  const { server } = scripted(() => ({ replies: TWO, status: { code: 8, details: 'enough' } }));
  const { status, text } = await server.ask('/grove/follow/x');
  assert.is(status, 200);
  assert.equal(JSON.parse(text.trimEnd().split('\n')[2]!), { error: { code: 8, message: 'enough', details: [] } });
  scripted(() => ({ status: { code: 5, details: 'none' } }));
  const none = await server.ask('/grove/follow/x');
  assert.equal([none.status, none.json()], [404, { code: 5, message: 'none', details: [] }]);
});

test('a stream without messages is empty, and HEAD starts none', async () => {
  const { server, node } = scripted(() => ({}));
  const empty = await server.ask('/grove/follow/x');
  assert.equal([empty.status, empty.text], [200, '']);
  const before = node.seen.length;
  const head = await server.ask('/grove/follow/x', { method: 'HEAD' });
  assert.equal([head.status, head.headers['content-type']], [200, 'application/x-ndjson']);
  assert.is(node.seen.length, before);
});

test('a message that cannot be read ends the stream with an error', async () => {
  const { server } = scripted(() => ({ bytes: Buffer.from([0xff]), replies: TWO }));
  const { status, text } = await server.ask('/grove/follow/x');
  assert.is(status, 200);
  const [line, ...more] = text.trimEnd().split('\n');
  assert.equal([(JSON.parse(line!) as { error: { code: number } }).error.code, more], [13, []]);
});

function opened(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get(url, { agent: false }, resolve).on('error', reject));
}

test('a reader who takes nothing slows the node down', async () => {
  function* endless() {
    for (;;) yield { text: 'x'.repeat(50_000) };
  }
  const { server, node } = scripted(() => ({ replies: endless() }));
  const answer = await opened(`${server.url}/grove/follow/slow`);
  answer.once('readable', () => {});
  let [before, same] = [0, 0];
  await until('the node writes no more', () => {
    same = node.written() === before ? same + 1 : 0;
    before = node.written();
    return before > 0 && same === 10;
  });
  assert.ok(before < 1_000, `${before} messages of 50 kB are on their way`);
  answer.destroy();
});

test('a server that stops ends its streams with an error that says so', async () => {
  await withGateway({}, async ({ server, node }) => {
    node.script = () => ({ replies: TWO, after: new Promise(() => {}) });
    const answer = await opened(`${server.url}/grove/follow/x`);
    let text = '';
    answer.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const ended = new Promise((resolve) => answer.on('end', resolve));
    while (text.split('\n').length < 3) await new Promise((resolve) => answer.once('data', resolve));
    await server.close({ drainDelayMs: 0 });
    await ended;
    assert.match(text.trimEnd().split('\n').at(-1)!, /^\{"error":\{"code":14,/);
  });
});

test('the deadline ends a stream too', async () => {
  const { server } = scripted(() => ({ replies: TWO, after: new Promise(() => {}) }));
  let ms = 100;
  const text = await until('a stream that begins before its deadline', async () => {
    ms *= 2;
    const answer = await server.ask('/grove/follow/x', { headers: { 'grpc-timeout': `${ms}m` } });
    return answer.status === 200 && answer.text;
  });
  const lines = text.trimEnd().split('\n');
  assert.is((JSON.parse(lines.at(-1)!) as { error: { code: number } }).error.code, 4);
});

test.run();
