// GET /v1/events: order, resuming, filters, tenants, slow readers, restarts, the end of the server.

import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import Koa, { type Context } from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../lib/clock.ts';
import { eventsAfter, type FeedEvent, feed } from '../../../lib/domain/feed/feed.ts';
import { DOMAIN, DOMAIN_KINDS } from '../../../lib/domain/kinds.ts';
import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import { type EventStreams, eventStreams } from '../../../server/http/event-streams.ts';
import { listen } from '../../../server/http/listen.ts';
import { startProcess, withFolder } from '../../support/process.ts';
import { timed } from '../../support/timed.ts';
import { type DomainClient, domainClient, headersOf, type Who, writeKeys } from '../support/domain-client.ts';
import { type Reading, readEvents, type SeenEvent } from '../support/event-reader.ts';
import { type Served, withServer } from '../support/serve.ts';

const test = suite('events');

type Work = (server: Served, client: DomainClient, keysFile: string) => Promise<void>;

const withDomain = (work: Work) =>
  withFolder((folder) => {
    const keysFile = writeKeys(folder);
    return withServer({ env: { API_KEYS_FILE: keysFile } }, async (server) => {
      const client = domainClient(() => server.url);
      await client.protocol('controller');
      await work(server, client, keysFile);
    });
  });

const follow = (url: string, who: Who = 'controller', headers: Record<string, string> = {}) =>
  readEvents(url, { ...headersOf(who), ...headers });

const seqs = (reading: Reading) => reading.events().map(({ seq }) => seq);

test('from the beginning: every event in the documented form, numbered upwards, as it happens', () =>
  withDomain(async (server, client) => {
    const stream = await follow(`${server.url}/v1/events?after=0`);
    assert.is(stream.headers['content-type'], 'text/event-stream; charset=utf-8');
    assert.is(stream.headers['cache-control'], 'no-store');
    const did = await client.project('controller');
    await client.send('controller', `/v1/domains/${did}`, { method: 'DELETE' });
    await stream.until(() => stream.events().length === 3);
    assert.equal(
      stream.events().map(({ type }) => type),
      ['protocol.created', 'domain.created', 'domain.deactivated'],
    );
    const [, created] = stream.events();
    assert.equal(Object.keys(created!), ['seq', 'type', 'did', 'revision', 'at', 'data']);
    assert.equal([created!.did, created!.revision, created!.data], [did, 1, { type: 'Project' }]);
    const block = stream.blocks.find(({ event }) => event === 'domain.created');
    assert.is(block!.id, String(created!.seq));
    assert.equal(
      seqs(stream),
      [...seqs(stream)].sort((a, b) => a - b),
    );
    await stream.close();
  }));

test('without a position it starts now, and its first id lets a reader that was cut off at once go on', () =>
  withDomain(async (server, client) => {
    await client.project('controller');
    const first = await follow(`${server.url}/v1/events`);
    await first.until(() => first.lastId() !== undefined);
    await first.close();
    const did = await client.project('controller');
    const second = await follow(`${server.url}/v1/events`, 'controller', { 'last-event-id': first.lastId()! });
    await second.until(() => second.events().length > 0);
    assert.equal(
      second.events().map((event) => event.did),
      [did],
    );
    await second.close();
  }));

test('the header counts more than ?after, and a bad position is 400', () =>
  withDomain(async (server, client) => {
    const all = await follow(`${server.url}/v1/events?after=0`);
    await client.project('controller');
    await all.until(() => all.events().length === 2);
    const resumed = await follow(`${server.url}/v1/events?after=0`, 'controller', {
      'last-event-id': `${seqs(all)[0]}`,
    });
    await resumed.until(() => resumed.events().length > 0);
    assert.equal(seqs(resumed), seqs(all).slice(1));
    await Promise.all([all.close(), resumed.close()]);
    for (const id of ['x', '-1', '1.5', '1e3', '99999999999999999', '900000000', '0x10']) {
      const { status, text } = await client.send('controller', '/v1/events', { headers: { 'last-event-id': id } });
      assert.is(status, 400, id);
      assert.is(JSON.parse(text).error.code, 'bad-request');
    }
    for (const query of [
      'after=',
      'after=a',
      'after=1&after=2',
      'types=',
      'types=domain',
      'types=nothing.here',
      'did=x',
    ])
      assert.is((await client.send('controller', `/v1/events?${query}`)).status, 400, query);
    assert.is((await server.ask('/v1/events')).status, 401);
    const head = await client.send('controller', '/v1/events', { method: 'HEAD' });
    assert.equal([head.status, head.headers['content-type']], [200, 'text/event-stream; charset=utf-8']);
  }));

test('a tenant sees its own events only, and filters let through what they name', () =>
  withDomain(async (server, client) => {
    await client.protocol('stranger');
    const theirs = await client.project('stranger');
    const ours = await client.project('controller');
    await client.send('controller', `/v1/domains/${ours}`, { method: 'DELETE' });
    const read = async (who: Who, query: string, count: number) => {
      const stream = await follow(`${server.url}/v1/events?after=0${query}`, who);
      await stream.until(() => stream.events().length >= count);
      await stream.close();
      return stream
        .events()
        .map(({ type, did }) => `${type} ${did === ours ? 'ours' : did === theirs ? 'theirs' : ''}`);
    };
    assert.equal(await read('controller', '', 3), [
      'protocol.created ',
      'domain.created ours',
      'domain.deactivated ours',
    ]);
    assert.equal(await read('stranger', '', 2), ['protocol.created ', 'domain.created theirs']);
    assert.equal(await read('controller', '&types=domain.deactivated', 1), ['domain.deactivated ours']);
    assert.equal(await read('controller', '&types=protocol.*,vote.cast', 1), ['protocol.created ']);
    assert.equal(await read('controller', `&did=${ours}&types=domain.*`, 2), [
      'domain.created ours',
      'domain.deactivated ours',
    ]);
  }));

interface StreamBench {
  readonly heartbeatMs?: number;
  readonly stallMs?: number;
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

test('a reader that takes nothing costs a bounded amount of memory and is cut off in time', async () => {
  let made = 0;
  const block = `data: "${'x'.repeat(10_000)}"\n\n`;
  const flood = async function* (signal: AbortSignal) {
    while (!signal.aborted) {
      made++;
      yield block;
      if (made % 100 === 0) await new Promise(setImmediate);
    }
  };
  await withStreams({ stallMs: 200, messages: flood }, async (url) => {
    const stream = await readEvents(url, {});
    stream.pause();
    await pause(400);
    const stalled = made;
    await pause(50);
    assert.is(made, stalled, 'nothing more is made for it');
    assert.ok(made * block.length < 32_000_000, `${made} messages wait, most of them in the kernel`);
    stream.resume();
    assert.is(await stream.ended, 'cut');
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
    let again = await open('two');
    for (let tries = 0; again.status === 503 && tries < 100; tries++) again = await open('two');
    assert.is(again.status, 200);
    await Promise.all([one[1]!.close(), two.close(), again.close()]);
  }));

test('the end of the server ends the streams in order and does not wait for them; they are no work', () =>
  withFolder((folder) =>
    withServer({ env: { API_KEYS_FILE: writeKeys(folder) }, overload: { requestsAtOnce: 2 } }, async (server) => {
      const streams = await Promise.all(Array.from({ length: 8 }, () => follow(`${server.url}/v1/events`)));
      assert.ok(streams.every(({ status }) => status === 200));
      assert.is((await domainClient(() => server.url).send('controller', '/v1/limits')).status, 200);
      const { ms } = await timed(() => server.close({ drainDelayMs: 0 }));
      assert.ok(ms < 2_000, `${ms} ms`);
      for (const stream of streams) {
        assert.is(await stream.ended, 'ended');
        assert.is(stream.blocks.at(-1)!.event, 'shutdown');
        assert.is(stream.blocks.at(-1)!.id, undefined);
      }
    }),
  ));

test('whatever is read across random disconnects is the log: no event is missing, none comes twice', () =>
  withDomain(async (server, client) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(4), { minLength: 3, maxLength: 8 }), fc.nat(3), async (cuts, width) => {
        const start = await follow(`${server.url}/v1/events`);
        await start.until(() => start.lastId() !== undefined);
        let position = start.lastId()!;
        await start.close();
        const seen: number[] = [];
        const writing = writes(client, EVENTS, width + 1);
        for (const cut of [...cuts, EVENTS]) {
          const stream = await follow(`${server.url}/v1/events`, 'controller', { 'last-event-id': position });
          await stream.until(() => stream.events().length >= Math.min(cut, EVENTS - seen.length));
          await stream.close();
          seen.push(...seqs(stream));
          position = stream.lastId() ?? position;
        }
        await writing;
        const log = await follow(`${server.url}/v1/events`, 'controller', { 'last-event-id': start.lastId()! });
        await log.until(() => log.events().length >= seen.length);
        await log.close();
        assert.equal(seen, seqs(log));
        assert.is(seen.length, EVENTS);
      }),
      { numRuns: 8 },
    );
  }));

const EVENTS = 12;

async function writes(client: DomainClient, count: number, width: number): Promise<string[]> {
  const dids: string[] = [];
  for (let made = 0; made < count; made += width) {
    const batch = Array.from({ length: Math.min(width, count - made) }, () => client.project('controller'));
    dids.push(...(await Promise.all(batch)));
  }
  return dids;
}

test('numbers, order and resuming survive kill -9 of the server, without a gap and without a repeat', () =>
  withFolder(async (folder) => {
    const env = { DATA_DIR: folder, API_KEYS_FILE: writeKeys(folder), LOG_LEVEL: 'fatal' };
    let process = await startProcess(env);
    const client = domainClient(() => process.url);
    const seen: SeenEvent[] = [];
    const acknowledged: string[] = [];
    let position = '0';
    try {
      await client.protocol('controller');
      for (let round = 0; round < 2; round++) {
        const stream = await follow(`${process.url}/v1/events`, 'controller', { 'last-event-id': position });
        const writing = writeUntilDead(client, acknowledged);
        const goal = acknowledged.length + 8;
        await stream.until(() => acknowledged.length >= goal && stream.events().length > 5);
        await process.kill();
        assert.is(await stream.ended, 'cut');
        await writing;
        seen.push(...stream.events());
        position = stream.lastId()!;
        process = await startProcess(env);
      }
      const rest = await follow(`${process.url}/v1/events`, 'controller', { 'last-event-id': position });
      const last = await client.project('controller');
      await rest.until(() => rest.events().at(-1)?.did === last);
      seen.push(...rest.events());
      await rest.close();
      const all = await follow(`${process.url}/v1/events?after=0`);
      await all.until(() => all.events().at(-1)?.did === last);
      await all.close();
      assert.equal(seen, [...all.events()]);
      const created = new Set(seen.map(({ did }) => did));
      assert.ok(
        acknowledged.every((did) => created.has(did)),
        'what was acknowledged is in the log',
      );
    } finally {
      await process.kill();
    }
  }));

async function writeUntilDead(client: DomainClient, acknowledged: string[]): Promise<void> {
  try {
    for (;;) acknowledged.push(await client.project('controller'));
  } catch {}
}

test('what another process writes is told within a moment, and a feed reads the store once for all who listen', async () => {
  const documents = memoryDocuments();
  await documents.declare(DOMAIN_KINDS);
  let reads = 0;
  const changes = (after: number, limit: number) => {
    reads++;
    return documents.changes(after, limit);
  };
  const events = feed({ documents: { ...documents, changes }, clock: systemClock, pollMs: 10 });
  const first: FeedEvent[][] = Array.from({ length: 20 }, () => []);
  const listening = first.map(async (seen) => {
    for await (const event of events.follow('t', { after: 0, signal: new AbortController().signal }))
      if (seen.push(event) === DOMAIN_LIMITS.feedKept + 90) return;
  });
  await pause(30);
  reads = 0;
  const total = DOMAIN_LIMITS.feedKept + 90;
  for (let n = 0; n < total; n++) {
    const journal = { at: n, by: 'x', action: 'create', events: [{ type: 'domain.created', data: { n } }] };
    await documents.insert(DOMAIN, `d${n}`, { tenant: n % 10 === 11 ? 'u' : 't', journal } as never);
  }
  await Promise.all(listening);
  const log: FeedEvent[] = [];
  for (let at = 0, more = true; more; ) {
    const page = await eventsAfter(documents, at, 100);
    log.push(...page.events);
    at = page.upTo;
    more = !page.atEnd;
  }
  for (const seen of first)
    assert.equal(
      seen.map(({ seq }) => seq),
      log.map(({ seq }) => seq),
    );
  assert.ok(reads < 20 * 4, `${reads} reads for 20 listeners`);
  events.close();
});

test.run();
