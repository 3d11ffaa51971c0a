// Moves all sessions in Redis: reads them, including ended ones, and writes them with their revisions.

import type { Redis } from 'ioredis';
import { systemClock } from '../../clock.ts';
import { checkKey, checkLimit } from '../../given.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { KeyedSession, SessionTransfer } from '../transfer.ts';
import type { RedisConnection } from './connection.ts';
import { decodeSession, encodeSession, findExpiry, placesUnder, REDIS_PREFIX, sessionScripts } from './layout.ts';
import { readRefusal } from './refusals.ts';

export interface RedisTransferOptions {
  readonly connection: RedisConnection;
  /** The store's prefix. @default 'twinline:' */
  readonly prefix?: string;
  /** Decides what has expired. @default systemClock */
  readonly clock?: { now(): number };
}

/** The client name set by `connectRedis`. */
const OURS = / name=twinline /;

/** Uses the connection without closing it. */
export function redisTransfer(options: RedisTransferOptions): SessionTransfer {
  const { prefix = REDIS_PREFIX, clock = systemClock } = options;
  const connection = options.connection.share();
  const { client, run } = connection;
  const { buckets, of: bucketOf } = placesUnder(prefix);
  const scripts = sessionScripts(connection);

  return {
    // The cursor is a bucket and a rank in its expiry index, which has every session. This works because nobody else writes.
    scan: (limit, cursor = '0 0') =>
      run('scan', async () => {
        checkLimit(limit);
        const [at = 0, rank = 0] = cursor.split(' ').map(Number);
        const { expiry, sessions } = buckets[at]!;
        const keys = await client.zrange(expiry, String(rank), String(rank + limit - 1));
        const texts = keys.length ? await client.mget(...keys.map((key) => sessions + key)) : [];
        const items = keys.flatMap((key, index): KeyedSession[] => {
          const text = texts[index];
          const session = text ? decodeSession(text) : undefined;
          return session && session.expiresAt > clock.now() ? [{ key, session }] : [];
        });
        if (keys.length === limit) return { items, next: `${at} ${rank + limit}` };
        return at + 1 < buckets.length ? { items, next: `${at + 1} 0` } : { items };
      }),

    insert: (key, session) =>
      run('insert', async () => {
        checkKey(key);
        const { sessions, list, expiry, timers } = bucketOf(key);
        const now = clock.now();
        const ttlMs = Math.max(0, findExpiry(session) - now) + STORE_LIMITS.redisGraceMs;
        const text = encodeSession(session, session.revision);
        return (await scripts.commit(sessions + key, list, expiry, timers, now, ttlMs, 0, text, key)) === -1;
      }),

    others: () =>
      run('look for other clients', async () => {
        const nodes = 'nodes' in client ? client.nodes('master') : [client];
        const clients = await Promise.all(nodes.map(listOthers)).catch(refuseAllButPermission);
        return clients && [...new Set(clients.flat())];
      }),

    close: connection.close,
  };
}

// Only clients of the same database: a move may go from one database to another.
async function listOthers(node: Redis): Promise<string[]> {
  const own = String(await node.client('INFO'));
  const [id, database] = [readField(own, 'id'), readField(own, 'db')];
  const lines = String(await node.client('LIST')).split('\n');
  return lines
    .filter((line) => OURS.test(line) && readField(line, 'id') !== id && readField(line, 'db') === database)
    .map((line) => `a client at ${readField(line, 'addr')?.replace(/:\d+$/, '') ?? 'an unknown address'}`);
}

function readField(line: string, name: string): string | undefined {
  return new RegExp(`(?:^| )${name}=(\\S+)`).exec(line)?.[1];
}

// Managed services may hide the list of clients.
function refuseAllButPermission(error: unknown): undefined {
  if (readRefusal(error).decision === 'do-without') return undefined;
  throw error;
}
