// The way of events between instances: socket.io's adapter for Redis Streams, on connections of ours.
//
// The adapter does not handle rejections, retries a broken connection at once and for ever, and loses its position in the
// stream until it has read something. So it gets a Redis client of ours in which none of this can happen.

import { createAdapter } from '@socket.io/redis-streams-adapter';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { TwinlineError } from '../../lib/errors.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import { backoff } from '../../lib/store/redis/options.ts';
import { SERVER_LIMITS } from '../config/limits.ts';

export interface RedisAdapter {
  /** For the options of the server. */
  readonly adapter: ReturnType<typeof createAdapter>;
  /** Lets what was written go out, and hangs up. */
  close(): Promise<void>;
}

export interface RedisAdapterOptions {
  /** Where Redis is; the adapter has connections of its own. */
  readonly connection: RedisConnection;
  /** Told when events of other instances cannot be read any more, and of states that cannot be kept. */
  readonly onProblem: (error: unknown) => void;
}

const STREAM = 'twinline:sockets';
const STATES = 'twinline:socket:';
/** Milliseconds between two looks for events that are too old to be asked for. */
const TRIM_MS = 60_000;
// By the clock of Redis, which gave the events their numbers.
const TRIM = `
  local now = redis.call('TIME')
  redis.call('XTRIM', KEYS[1], 'MINID', '~', (now[1] - ARGV[1]) * 1000)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

type Words = readonly (string | number)[];
type Entry = readonly [id: string, fields: readonly string[]];
type Entries = readonly (readonly [stream: string, entries: readonly Entry[]])[];

export function redisAdapter({ connection, onProblem }: RedisAdapterOptions): RedisAdapter {
  const writer = connection.duplicate();
  const reader = streamReader({ connection, onProblem });
  const trimmed = writer.script(TRIM, 1);
  const trim = () =>
    writer
      .run('forget old events', () =>
        trimmed(STREAM, (SERVER_LIMITS.socketRecoveryMs * 2) / 1_000, SERVER_LIMITS.socketRecoveryMs * 4),
      )
      .catch(() => {});
  const timer = setInterval(trim, TRIM_MS);
  const ask = (action: string, words: Words) =>
    writer.run(action, (client) => (client as Redis).call(...(words as [string, ...string[]])));

  const found = new LRUCache<string, object>({ max: 1_000, ttl: SERVER_LIMITS.socketRecoveryMs });
  const asked = {
    options: {},
    duplicate: () => reader.asked,
    // When this rejects, the sockets of this instance get the event nevertheless.
    xadd: (words: Words) => ask('tell other instances', ['XADD', ...words]),
    xrange: (...words: Words) => ask('find missed events', ['XRANGE', ...words]),
    set: (...words: Words) => ask('keep the state of a socket', ['SET', ...words]).catch(onProblem),
    multi: () => taking((key) => ask('find the state of a socket', ['GETDEL', key]), found),
  };
  return {
    adapter: createAdapter(asked, {
      streamName: STREAM,
      sessionKeyPrefix: STATES,
      maxLen: SERVER_LIMITS.socketEventsKept,
      readCount: 1_000,
      blockTimeInMs: SERVER_LIMITS.socketBlockMs,
      onlyPlaintext: true,
    }),
    async close() {
      clearInterval(timer);
      await Promise.all([reader.close(), writer.close()]);
    },
  };
}

// The adapter asks for a value and deletes it in one transaction; there is a command for that. What was found is found
// once more: a second look tells what happened meanwhile.
function taking(take: (key: string) => Promise<unknown>, found: LRUCache<string, object>) {
  let wanted = '';
  const steps = {
    get: (key: string) => {
      wanted = key;
      return steps;
    },
    del: () => steps,
    exec: async () => {
      const known = found.get(wanted);
      found.delete(wanted);
      if (known) return known;
      const answer = [[null, await take(wanted)]];
      if (answer[0]![1] !== null) found.set(wanted, answer);
      return answer;
    },
  };
  return steps;
}

function streamReader({ connection, onProblem }: RedisAdapterOptions) {
  const link = connection.duplicate({ blockMs: SERVER_LIMITS.socketBlockMs });
  let start: string | undefined;
  let given: { readonly after: string; readonly last: string } | undefined;
  let failures = 0;
  let closed = false;
  let again: NodeJS.Timeout | undefined;

  async function newest(stream: string): Promise<string> {
    const [last] = (await link.client.xrevrange(stream, '+', '-', 'COUNT', 1)) as Entry[];
    return last?.[0] ?? '0-0';
  }

  async function read(words: Words): Promise<Entries | null> {
    const [stream, after] = words.slice(-2) as [string, string];
    // Until something has come, the adapter says "from now on" each time.
    if (after === '$') start ??= await newest(stream);
    const from = placeAfter(after === '$' ? start! : after);
    const asked = [...words.slice(0, -1), from] as unknown as Parameters<Redis['xread']>;
    const found = (await (link.client as Redis).xread(...asked)) as Entries | null;
    const last = found?.[0]?.[1].at(-1)?.[0];
    given = last === undefined ? undefined : { after: from, last };
    return found;
  }

  // Asked for the same again, it could not read what it was given, and never will.
  function placeAfter(from: string): string {
    if (given?.after !== from) return from;
    onProblem(
      new TwinlineError('ERR_RECORD', `Events of other instances after ${from} cannot be read. They are left out.`),
    );
    start = given.last;
    return start;
  }

  async function xread(...words: Words): Promise<unknown> {
    try {
      await link.run('read the events of other instances', async () => {});
      const found = await read(words);
      failures = 0;
      return found;
    } catch (error) {
      if (closed) return new Promise(() => {});
      if (failures++ === 0) onProblem(error);
      await new Promise((resolve) => {
        again = setTimeout(resolve, backoff(failures));
      });
      return null;
    }
  }

  return {
    // It also asks for a connection to subscribe with, for questions that we do not ask.
    asked: { on() {}, xread, subscribe: async () => {}, disconnect() {} },
    async close() {
      closed = true;
      clearTimeout(again);
      await link.close();
    },
  };
}
