// Frame logs in Redis Streams, shared by all instances: single server, Sentinel or Cluster.

import { type Clock, systemClock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { checkLimit, closedError, requireGiven } from '../../given.ts';
import { STORE_LIMITS } from '../limits.ts';
import { followers } from '../log/follow.ts';
import { checkAppend, checkClaim, checkLog, checkMoment, checkRead, checkWhole } from '../log-rules.ts';
import type { AppendResult, LogPage, LogState, LogStore, OpenResult, ReadOptions } from '../log-store.ts';
import type { Durability } from '../store.ts';
import { redisSubscriber } from './channel.ts';
import { type RedisAt, type RedisConnection, shareConnection } from './connection.ts';
import { redisDurability } from './durability.ts';
import { channelName, checkPrefix, logNames, REDIS_PREFIX } from './layout.ts';
import { logScripts } from './log-scripts.ts';

/** Options of `redisLogs`. */
export type RedisLogsOptions = RedisAt & {
  /** Prefix of all keys and channels: letters, digits, `:._-`. @default 'twinline:' */
  readonly prefix?: string;
  /** Decides what has expired. @default systemClock */
  readonly clock?: Pick<Clock, 'now'>;
  /** The result of {@link redisDurability}, which {@link openRedisLogs} calls. @default 'memory' */
  readonly durability?: Durability;
};

/**
 * Like {@link redisLogs}, but first determines how durable Redis is. Rejects with ERR_STORE when Redis does not answer.
 * @example
 * const logs = await openRedisLogs({ url: process.env.REDIS_URL! });
 * logs.durability; // → 'memory'
 * await logs.close();
 */
export async function openRedisLogs(options: RedisLogsOptions): Promise<LogStore> {
  const connection = connect(options);
  try {
    return logsOn(connection, { durability: await redisDurability(connection), ...options });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/**
 * Opens the store; returns immediately and connects in the background, with one connection for everything and one for all
 * followers (in a Cluster, one per master). An append is one script that checks, writes and notifies followers atomically on
 * one node. Followers are woken by pub/sub and read the stream, so a lost message or connection delays frames but never loses
 * them.  The store's clock decides what has expired; Redis deletes it STORE_LIMITS.redisGraceMs later, so `sweep` has nothing
 * to do. Throws ERR_CONFIG for an invalid URL or prefix.
 * @example
 * const logs = redisLogs({ url: process.env.REDIS_URL! });
 * const claim = { fence: 1, expiresAt: Date.now() + 60_000 };
 * await logs.open('run-1', claim);
 * await logs.append('run-1', ['first'], { ...claim, expected: 0 }); // → { kind: 'appended', last: 1 }
 * await logs.close();
 */
export function redisLogs(options: RedisLogsOptions): LogStore {
  return logsOn(connect(options), options);
}

// Checks the prefix first, so that no connection stays open when it is refused.
function connect(options: RedisLogsOptions): RedisConnection {
  requireGiven('keep logs in Redis', options, {});
  const { prefix = REDIS_PREFIX, ...at } = options;
  checkPrefix(prefix);
  return shareConnection(at);
}

function logsOn(connection: RedisConnection, options: Omit<RedisLogsOptions, 'url' | 'connection'>): LogStore {
  const { clock = systemClock, prefix = REDIS_PREFIX, durability = 'memory' } = options;
  const { client, kind } = connection;
  const scripts = logScripts(connection);
  const subscriber = redisSubscriber(connection);
  const publish = kind === 'cluster' ? 'SPUBLISH' : 'PUBLISH';
  const following = followers({ clock, read: readPage, watch });
  let isClosed = false;

  function run<T>(action: string, work: () => Promise<T>): Promise<T> {
    if (isClosed) return Promise.reject(closedError('Redis log'));
    return connection.run(action, work);
  }

  function nameKeys(log: string): [head: string, frames: string, channel: string] {
    const { head, frames, topic } = logNames(prefix, log);
    return [head, frames, channelName(prefix, topic)];
  }

  // A relative TTL, because Redis's clock differs from the store's, which stands still in tests.
  function times(expiresAt: number): [now: number, ttlMs: number] {
    const now = clock.now();
    return [now, Math.max(0, expiresAt - now) + STORE_LIMITS.redisGraceMs];
  }

  function watch(log: string, wake: () => void): Promise<() => void> {
    const [, , channel] = nameKeys(log);
    return run('follow a log', () => subscriber.subscribe(channel, { onMessage: wake, onGap: wake }));
  }

  async function readPage(log: string, { after, limit }: Required<ReadOptions>): Promise<LogPage | undefined> {
    const [head, frames] = nameKeys(log);
    const answer = await run('read a log', () =>
      scripts.read(head, frames, clock.now(), after, limit, COMMON_LIMITS.logReadBytes),
    );
    return answer === null ? undefined : pageOfAnswer(answer as string[]);
  }

  return {
    name: 'redis',
    durability,

    async open(log, claim): Promise<OpenResult> {
      checkLog(log);
      checkClaim(claim);
      const { fence, expiresAt } = claim;
      const args = [publish, ...times(expiresAt), fence, expiresAt];
      const answer = await run('open a log', () => scripts.open(...nameKeys(log), ...args));
      const [verdict, number, ended] = answer as [OpenResult['kind'], string, string];
      if (verdict === 'fenced') return { kind: verdict, fence: Number(number) };
      return { kind: verdict, last: Number(number), ended: ended === '1' };
    },

    async append(log, texts, appendOptions): Promise<AppendResult> {
      checkLog(log);
      checkAppend(texts, appendOptions);
      const { fence, expiresAt, expected, end = false } = appendOptions;
      const claim = [publish, ...times(expiresAt), fence, expiresAt];
      const args = [...claim, expected, end ? 1 : 0, STORE_LIMITS.framesPerLog, STORE_LIMITS.logBytes, ...texts];
      const answer = await run('append to a log', () => scripts.append(...nameKeys(log), ...args));
      const [verdict, number] = answer as [AppendResult['kind'], string];
      if (verdict === 'missing') return { kind: verdict };
      return verdict === 'fenced' ? { kind: verdict, fence: Number(number) } : { kind: verdict, last: Number(number) };
    },

    async state(log): Promise<LogState | undefined> {
      checkLog(log);
      const [head] = nameKeys(log);
      const fields = await run('look at a log', () =>
        client.hmget(head, 'first', 'last', 'ended', 'fence', 'expiresAt'),
      );
      const [first, last, ended, fence, expiresAt] = fields.map(Number) as [number, number, number, number, number];
      if (fields[0] === null || expiresAt <= clock.now()) return undefined;
      return { first, last, ended: ended === 1, fence, expiresAt };
    },

    async read(log, readOptions = {}) {
      checkLog(log);
      return readPage(log, checkRead(readOptions));
    },

    follow: following.follow,

    async trim(log, through) {
      checkLog(log);
      checkWhole('number to trim through', through, { min: 0 });
      const [head, frames] = nameKeys(log);
      return Number(await run('trim a log', () => scripts.trim(head, frames, clock.now(), through)));
    },

    async expireAt(log, at) {
      checkLog(log);
      checkMoment(at);
      return (await run('let a log expire', () => scripts.expire(...nameKeys(log), publish, ...times(at), at))) === 1;
    },

    async remove(log) {
      checkLog(log);
      return (await run('remove a log', () => scripts.remove(...nameKeys(log), publish, clock.now()))) === 1;
    },

    async sweep(_now, limit) {
      checkLimit(limit);
      return run('sweep logs', async () => 0);
    },

    ping: () => run('ping', () => connection.ping()),

    async close() {
      if (isClosed) return;
      isClosed = true;
      following.close();
      subscriber.close();
      await connection.close();
    },
  };
}

function pageOfAnswer([last, endMark, expiresAt, from, ...texts]: string[]): LogPage {
  const first = Number(from);
  const frames = texts.map((text, at) => ({ n: first + at, text }));
  return { frames, last: Number(last), ended: endMark === '1', expiresAt: Number(expiresAt) };
}
