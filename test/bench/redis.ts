// A turn's two commands in Redis, load and compare-and-set, against reading and overwriting without a look.

import type { Redis } from 'ioredis';
import { connectRedis, type RedisConnection, redisSnapshots } from '../../lib/store/redis/index.ts';
import type { SessionCommit } from '../../lib/store/store.ts';
import { startRedis } from '../support/redis-server.ts';
import { atOnce, type Case, measure, type Row, us } from './measure.ts';

const SESSIONS = 10_000;
const HOUR_MS = 3_600_000;
// 1,024 characters in all, of no pattern that a layout could profit from.
const RECORD_CHARS = 900;

export async function redisRows(): Promise<Row[]> {
  const server = await startRedis();
  const connection = connectRedis({ url: server.url });
  try {
    const cases = [compareAndSet(connection), blind(connection)];
    const [ours, floor] = await measure(cases, { count: 20_000, rounds: 9, alsoUs: () => redisCpuUs(connection) });
    return [
      {
        what: 'session turn in Redis (load, compare-and-set with indexes) against blind GET and SET, CPU of both sides',
        measured: `${us(ours!.cpuUs)} · ${us(floor!.cpuUs)}`,
        ratio: ours!.cpuUs / floor!.cpuUs,
        target: { atMost: 1.25 },
      },
    ];
  } finally {
    await connection.close();
    await server.stop();
  }
}

function compareAndSet(connection: RedisConnection): Case {
  const store = redisSnapshots({ connection });
  const turn = async (at: number) => {
    const key = `ussd:+26097${at}:session-${at}`;
    const seen = await store.load(key);
    await store.commit(key, seen?.revision ?? 0, session());
  };
  return { name: 'compare-and-set', run: (count) => turns(count, turn) };
}

// The floor: the same texts in one string, its time to live renewed, and nobody looks at what was there.
function blind(connection: RedisConnection): Case {
  const client = connection.client as Redis;
  const turn = async (at: number) => {
    const key = `blind:ussd:+26097${at}:session-${at}`;
    await client.get(key);
    const { turnKey, reply, record } = session();
    await client.set(key, turnKey + reply + record, 'PX', HOUR_MS);
  };
  return { name: 'blind', run: (count) => turns(count, turn) };
}

function turns(count: number, turn: (at: number) => Promise<void>): Promise<void> {
  return atOnce(count, (at) => turn((at * 7_919) % SESSIONS));
}

const filler = Array.from({ length: 64 }, () => randomText(RECORD_CHARS));
let number = 0;

function session(): SessionCommit {
  const expiresAt = Date.now() + HOUR_MS;
  const record = filler[number++ % filler.length]!;
  return { record, turnKey: `turn-${number}`.padEnd(44, '-'), reply: REPLY, ended: false, expiresAt, dueAt: null };
}

const REPLY = 'CON Main menu\n1. Balance\n2. Send money\n3. Airtime\n4. Bills\n0. Exit'.padEnd(80);

function randomText(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(97 + Math.floor(Math.random() * 26))).join('');
}

async function redisCpuUs(connection: RedisConnection): Promise<number> {
  const info = await connection.client.info('cpu');
  const seconds = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1]);
  return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1_000_000;
}
