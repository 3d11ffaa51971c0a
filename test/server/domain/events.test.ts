// GET /v1/events: order, resuming, filters, tenants, the end of the server. Slow readers of streams are in server/agent/slow.test.ts. Kills are in kill.short.kills.test.ts.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventSource } from 'eventsource';
import fc from 'fast-check';
import Koa, { type Context } from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../lib/clock.ts';
import { type EventStreams, eventStreams } from '../../../server/http/event-streams.ts';
import { listen } from '../../../server/http/listen.ts';
import { faultProxy, PASS } from '../../support/fault-proxy.ts';
import { until } from '../../support/until.ts';
import { domainClient, headersOf, type Who, writeKeys } from '../support/domain-client.ts';
import { type Reading, readEvents, type SeenEvent } from '../support/event-reader.ts';
import { sharedServer, withServer } from '../support/serve.ts';

const test = suite('events');

const folder = mkdtempSync(join(tmpdir(), 'twinline-events-'));
const server = sharedServer(test, { env: { API_KEYS_FILE: writeKeys(folder) } });
const client = domainClient(() => server().url);
test.before(async () => {
  await client.protocol('controller');
  await client.protocol('stranger');
});
test.after(() => rmSync(folder, { recursive: true }));

const follow = (query = '', who: Who = 'controller', headers: Record<string, string> = {}) =>
  readEvents(`${server().url}/v1/events${query}`, { ...headersOf(who), ...headers });
const after = (position: string | undefined) => ({ 'last-event-id': position! });

/** The id that the feed has reached. */
async function endOfFeed(): Promise<string> {
  const stream = await follow();
  await stream.until(() => stream.lastId() !== undefined);
  await stream.close();
  return stream.lastId()!;
}

const seqs = (reading: Reading) => reading.events().map(({ seq }) => seq);

test('every event in the documented form, numbered upwards, as it happens', async () => {
  const stream = await follow();
  assert.is(stream.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.is(stream.headers['cache-control'], 'no-store');
  await stream.until(() => stream.lastId() !== undefined);
  const did = await client.project('controller');
  await client.send('controller', `/v1/domains/${did}`, { method: 'DELETE' });
  await stream.until(() => stream.events().length === 2);
  const [made, ended] = stream.events() as [SeenEvent, SeenEvent];
  assert.equal([made.type, ended.type], ['domain.created', 'domain.deactivated']);
  assert.equal(Object.keys(made), ['seq', 'type', 'did', 'revision', 'at', 'data']);
  assert.equal([made.did, made.revision, made.data], [did, 1, { type: 'Project' }]);
  assert.is(stream.blocks.find(({ event }) => event === 'domain.created')!.id, String(made.seq));
  assert.ok(made.seq < ended.seq);
  await stream.close();
});

test('a client that hears nothing, is cut, and comes back has missed nothing, also by a library that takes ids only from events', async () => {
  const { port } = new URL(server().url);
  const proxy = await faultProxy({ port: Number(port) });
  const heard: string[] = [];
  let opened = 0;
  const source = new EventSource(`http://127.0.0.1:${proxy.port}/v1/events`, {
    fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...headersOf('controller') } }),
  });
  source.addEventListener('ready', () => opened++);
  source.addEventListener('domain.created', ({ data }) => heard.push((JSON.parse(data) as SeenEvent).did));
  try {
    await until('it listens', () => opened === 1);
    await proxy.set({ kind: 'refuse' });
    const did = await client.project('controller');
    await proxy.set(PASS);
    await until('it hears what it missed', () => heard.includes(did));
  } finally {
    source.close();
    await proxy.close();
  }
});

test('the header counts more than ?after, and a bad position or filter is 400', async () => {
  await client.project('controller');
  const all = await follow('?after=0');
  await all.until(() => all.events().length >= 2);
  const resumed = await follow('?after=0', 'controller', after(`${seqs(all)[0]}`));
  await resumed.until(() => resumed.events().length > 0);
  assert.is(seqs(resumed)[0], seqs(all)[1]);
  await Promise.all([all.close(), resumed.close()]);
  for (const id of ['x', '-1', '1.5', '1e3', '99999999999999999', '900000000', '0x10']) {
    const { status, text } = await client.send('controller', '/v1/events', { headers: after(id) });
    assert.equal([status, JSON.parse(text).error.code], [400, 'bad-request'], id);
  }
  for (const query of ['after=', 'after=a', 'after=1&after=2', 'types=', 'types=domain', 'types=nothing.here', 'did=x'])
    assert.is((await client.send('controller', `/v1/events?${query}`)).status, 400, query);
  const head = await client.send('controller', '/v1/events', { method: 'HEAD' });
  assert.equal([head.status, head.headers['content-type']], [200, 'text/event-stream; charset=utf-8']);
});

test('a tenant sees its own events only, and filters let through what they name', async () => {
  const position = await endOfFeed();
  const theirs = await client.project('stranger');
  const ours = await client.project('controller');
  await client.send('controller', `/v1/domains/${ours}`, { method: 'DELETE' });
  const read = async (who: Who, query: string, count: number) => {
    const stream = await follow(query, who, after(position));
    await stream.until(() => stream.events().length >= count);
    await stream.close();
    return stream.events().map(({ type, did }) => `${type} ${did === ours ? 'ours' : did === theirs ? 'theirs' : ''}`);
  };
  const both = ['domain.created ours', 'domain.deactivated ours'];
  assert.equal(await read('controller', '', 2), both);
  assert.equal(await read('stranger', '', 1), ['domain.created theirs']);
  assert.equal(await read('controller', '?types=domain.deactivated', 1), both.slice(1));
  assert.equal(await read('controller', '?types=protocol.*,domain.created', 1), both.slice(0, 1));
  assert.equal(await read('controller', `?did=${ours}&types=domain.*`, 2), both);
});

interface StreamBench {
  readonly heartbeatMs?: number;
  readonly most?: { all: number; perOwner: number };
  readonly messages: (signal: AbortSignal) => AsyncIterable<string>;
  readonly mayRead?: () => boolean;
}

/** Streams alone, without a domain service behind them. */
async function withStreams(bench: StreamBench, work: (url: string, streams: EventStreams) => Promise<void>) {
  const { messages, mayRead = () => true, ...options } = bench;
  const streams = eventStreams({ clock: systemClock, ...options, onProblem: () => {} });
  const app = new Koa();
  app.use((ctx: Context) => {
    const tenant = String(ctx.query.tenant ?? 'one');
    try {
      streams.serve(ctx, { owner: tenant, hello: ': hello\n\n', messages, mayRead });
    } catch {
      ctx.status = 503;
    }
  });
  const door = await listen(app.callback(), { host: '127.0.0.1', port: 0 });
  try {
    await work(door.url, streams);
  } finally {
    streams.close();
    await door.close(0);
  }
}

async function* nothing(signal: AbortSignal): AsyncGenerator<string> {
  await systemClock.wait(60_000, signal);
  yield* [];
}

test('a quiet stream is kept alive by comments, and ends when its key is withdrawn', async () => {
  let mayRead = true;
  await withStreams({ heartbeatMs: 20, messages: nothing, mayRead: () => mayRead }, async (url) => {
    const stream = await readEvents(url, {});
    await stream.until(() => stream.blocks.filter(({ comment }) => comment === 'still here').length === 2);
    mayRead = false;
    assert.is(await stream.ended, 'ended');
    assert.is(stream.blocks.at(-1)!.event, 'shutdown');
  });
});

test('streams are counted, in all and for each tenant, and a closed one makes room', () =>
  withStreams({ most: { all: 3, perOwner: 2 }, messages: nothing }, async (url) => {
    const open = (tenant: string) => readEvents(`${url}/?tenant=${tenant}`, {});
    const one = [await open('one'), await open('one')];
    assert.is((await open('one')).status, 503);
    const two = await open('two');
    assert.is((await open('two')).status, 503);
    await one[0]!.close();
    const again = await until('the closed one to make room', async () => {
      const stream = await open('two');
      return stream.status === 200 && stream;
    });
    await Promise.all([one[1]!.close(), two.close(), again.close()]);
  }));

test('the end of the server ends the streams in order and does not wait for them; they are no work', () =>
  withServer({ env: { API_KEYS_FILE: writeKeys(folder) }, overload: { requestsAtOnce: 2 } }, async (own) => {
    const streams = await Promise.all(
      Array.from({ length: 8 }, () => readEvents(`${own.url}/v1/events`, headersOf('controller'))),
    );
    assert.ok(streams.every(({ status }) => status === 200));
    assert.is((await domainClient(() => own.url).send('controller', '/v1/limits')).status, 200);
    await own.close({ drainDelayMs: 0 });
    for (const stream of streams) {
      assert.is(await stream.ended, 'ended');
      assert.is(stream.blocks.at(-1)!.event, 'shutdown');
      assert.is(stream.blocks.at(-1)!.id, undefined);
    }
  }));

test('whatever is read across random disconnects is the log: no event is missing, none comes twice', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.nat(4), { minLength: 3, maxLength: 8 }), fc.nat(3), async (cuts, width) => {
      const start = await endOfFeed();
      let position = start;
      const seen: number[] = [];
      const writing = writes(EVENTS, width + 1);
      for (const cut of [...cuts, EVENTS]) {
        const stream = await follow('', 'controller', after(position));
        await stream.until(() => stream.events().length >= Math.min(cut, EVENTS - seen.length));
        await stream.close();
        seen.push(...seqs(stream));
        position = stream.lastId() ?? position;
      }
      await writing;
      const log = await follow('', 'controller', after(start));
      await log.until(() => log.events().length >= EVENTS);
      await log.close();
      assert.equal(seen, seqs(log));
      assert.is(seen.length, EVENTS);
    }),
    { numRuns: 8 },
  ));

const EVENTS = 12;

async function writes(count: number, width: number): Promise<void> {
  for (let made = 0; made < count; made += width)
    await Promise.all(Array.from({ length: Math.min(width, count - made) }, () => client.project('controller')));
}

test.run();
