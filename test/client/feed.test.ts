// The feed of twins as clients read it: from now on, from an event, over cuts at random bytes, and over a restart of the server.

import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ConnectionError, type EventOptions, type ProblemError, twinsClient } from '../../lib/client/index.ts';
import { domainClient, keyOf, writeKeys } from '../server/support/domain-client.ts';
import { withServer } from '../server/support/serve.ts';
import { faultProxy } from '../support/fault-proxy.ts';
import { listenLow } from '../support/ports.ts';
import { withFolder } from '../support/process.ts';
import { until } from '../support/until.ts';

const test = suite('the feed of the client');

const credential = () => keyOf('controller');
const AT_ONCE = { now: () => 0, wait: async () => {} };

interface Heard {
  readonly seqs: number[];
  readonly dids: string[];
  /** Connections that were made or lost, in order. */
  readonly changes: boolean[];
  /** Resolves when the iterator has ended. */
  stop(): Promise<void>;
}

/** Listens until it is stopped. */
function listen(client: ReturnType<typeof twinsClient>, options: EventOptions = {}): Heard {
  const ending = new AbortController();
  const heard = { seqs: [] as number[], dids: [] as string[], changes: [] as boolean[] };
  const onConnected = (isConnected: boolean) => void heard.changes.push(isConnected);
  const listening = (async () => {
    for await (const event of client.events({ ...options, onConnected, signal: ending.signal })) {
      heard.seqs.push(event.seq);
      heard.dids.push(event.did);
    }
  })();
  const ended = listening.then(
    () => assert.unreachable('a feed has no end'),
    ({ name }: Error) => assert.is(name, 'AbortError'),
  );
  const stop = () => {
    ending.abort();
    return ended;
  };
  return { ...heard, stop };
}

test('each event is heard once, in order, though connections are cut at random bytes', () =>
  withFolder((keys) =>
    withServer({ env: { API_KEYS_FILE: writeKeys(keys) } }, async ({ url }) => {
      const own = domainClient(() => url);
      await own.protocol('controller');
      const proxy = await faultProxy({ port: Number(new URL(url).port) });
      const client = twinsClient({ url: `http://127.0.0.1:${proxy.port}`, credential, clock: AT_ONCE, tries: 50 });
      try {
        const first = listen(twinsClient({ url, credential }), { after: 0 });
        await until('the past is heard', () => first.seqs.length > 0);
        await fc.assert(
          fc.asyncProperty(fc.array(fc.nat(3_000), { maxLength: 6 }), async (after) => {
            await proxy.set({ kind: 'cut', after });
            const feed = listen(client, { after: 0 });
            const did = await own.project('controller');
            for (const { dids } of [first, feed]) await until('both hear of it', () => dids.includes(did));
            assert.equal(feed.seqs, first.seqs.slice(0, feed.seqs.length), String(after));
            await feed.stop();
          }),
          { numRuns: 12, endOnFailure: true },
        );
        await first.stop();
      } finally {
        await proxy.close();
      }
    }),
  ));

test('without a number the feed begins now, and is gone on with from there when it is cut before its first event', async () => {
  const asked: string[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url!);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (asked.length === 1)
      response.write('retry: 1000\nid: 7\nevent: ready\ndata: {"seq":7}\n\n', () => response.destroy());
    else response.write('id: 8\nevent: domain.created\ndata: {"seq":8,"did":"did:x:a"}\n\n');
  });
  const url = `http://127.0.0.1:${await listenLow(server)}`;
  const feed = listen(twinsClient({ url, credential, clock: AT_ONCE }), { types: ['domain.*', 'vote.cast'] });
  await until('it hears', () => feed.dids.length > 0);
  await feed.stop();
  assert.equal(feed.dids, ['did:x:a']);
  assert.equal(asked, ['/v1/events?types=domain.*%2Cvote.cast', '/v1/events?after=7&types=domain.*%2Cvote.cast']);
  server.closeAllConnections();
  server.close();
});

test('what is final ends a feed at once, and so does a server that is not there after all tries', () =>
  withFolder((keys) =>
    withServer({ env: { API_KEYS_FILE: writeKeys(keys) } }, async ({ url }) => {
      const failureOf = (client: ReturnType<typeof twinsClient>, options?: EventOptions) =>
        client
          .events(options)
          [Symbol.asyncIterator]()
          .next()
          .catch((error: unknown) => error);
      const refused = await failureOf(twinsClient({ url, credential: () => 'wrong' }));
      assert.is((refused as ProblemError).code, 'unauthorized');
      const early = await failureOf(twinsClient({ url, credential }), { after: 1_000_000 });
      assert.is((early as ProblemError).code, 'bad-request');
      const waits: number[] = [];
      const clock = { now: () => 0, wait: async (ms: number) => void waits.push(ms) };
      const proxy = await faultProxy({ port: Number(new URL(url).port) });
      await proxy.set({ kind: 'refuse' });
      const away = await failureOf(twinsClient({ url: `http://127.0.0.1:${proxy.port}`, credential, clock, tries: 7 }));
      assert.instance(away, ConnectionError);
      assert.is(waits.length, 6);
      const longest = [500, 1_000, 2_000, 4_000, 8_000, 8_000];
      for (const [at, ms] of waits.entries()) assert.ok(ms > longest[at]! / 2 && ms <= longest[at]!, String(waits));
      await proxy.close();
    }),
  ));

test('a server that restarts is found again, and what happened meanwhile is heard once', () =>
  withFolder(async (folder) => {
    const env = { API_KEYS_FILE: writeKeys(folder), DATA_DIR: folder };
    let port = '';
    const made: string[] = [];
    let feed: Heard | undefined;
    await withServer({ env }, async ({ url }) => {
      port = new URL(url).port;
      const own = domainClient(() => url);
      await own.protocol('controller');
      const clock = { now: () => 0, wait: () => pause(5) };
      feed = listen(twinsClient({ url, credential, clock, tries: 1e6 }), { after: 0, types: ['domain.created'] });
      made.push(await own.project('controller'));
      await until('it hears', () => feed!.dids.length === 1);
    });
    await withServer({ env }, async ({ url }) => {
      made.push(await domainClient(() => url).project('controller'));
    });
    await withServer({ env: { ...env, PORT: port } }, async ({ url }) => {
      made.push(await domainClient(() => url).project('controller'));
      await until('it hears of all', () => feed!.dids.length === 3);
      assert.equal(feed!.dids, made);
      await feed!.stop();
    });
  }));

test.run();
