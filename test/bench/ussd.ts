// A whole USSD turn of the built server on the embedded store, against raw node:http and Koa answering the same POST.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from '../support/redis-server.ts';
import { cpuUs, drive, type Load, start, stop, type Target } from './load.ts';
import { median, type Row, us } from './measure.ts';

// Benchmarks run as they are published, built: tsx would name every closure of the hot path anew at every call.
const ROOT = process.cwd();
const FLOOR = join(ROOT, 'test/bench/floor.mjs');
const ROUNDS = 7;
// A server in service is warm: V8 takes some 50,000 turns to compile all that a turn passes through.
const WARM_UP = 3;

const dialogue = ['', '1', '1*1', '1*1*1', '1*1*1*2', '1*1*1*2*0', '1*1*1*2*0*0', '1*1*1*2*0*0**'];
const LOAD: Load = { connections: 64, ms: 2_000, texts: dialogue, expect: /^(CON|END) / };

export async function ussdRows(): Promise<Row[]> {
  const data = mkdtempSync(join(tmpdir(), 'twinline-bench-'));
  const quiet = { PORT: '0', RATE_LIMIT_MAX: '1000000000', LOG_LEVEL: 'warn', MENUS_DIR: join(ROOT, 'menus') };
  const main = join(ROOT, 'dist/server/main.js');
  const redis = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec'] });
  const targets = [
    await start([FLOOR, 'raw']),
    await start([FLOOR, 'koa']),
    await start([main], { ...quiet, DATA_DIR: data }),
    await start([main], { ...quiet, DATA_DIR: ':memory:' }),
    await start([main], { ...quiet, DATA_DIR: join(data, 'redis'), REDIS_URL: redis.url }),
  ];
  try {
    const [raw, koa, durable, memory, shared] = await cpuPerRequest(targets);
    const row = (what: string, own: number, floor: number, atLeast?: number): Row => ({
      what,
      measured: `${us(own)} · ${us(floor)}`,
      ratio: floor / own,
      target: atLeast === undefined ? undefined : { atLeast },
    });
    return [
      row('USSD turn, embedded store, durable, against raw node:http POST', durable!, raw!, 0.36),
      row('USSD turn, embedded store, durable, against Koa + router + body parser', durable!, koa!),
      row('USSD turn, memory store, against raw node:http POST', memory!, raw!),
      row('USSD turn, Redis (append-only, every second), against raw node:http POST', shared!, raw!, 0.26),
      row('Koa + router + body parser against raw node:http POST', koa!, raw!),
    ];
  } finally {
    await Promise.all(targets.map(stop));
    await redis.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

async function cpuPerRequest(targets: readonly Target[]): Promise<number[]> {
  const samples = targets.map((): number[] => []);
  for (let round = 0; round < WARM_UP + ROUNDS; round++)
    for (const [at, target] of targets.entries()) {
      const before = cpuUs(target);
      const answered = await drive(target.port, LOAD);
      if (round >= WARM_UP) samples[at]!.push((cpuUs(target) - before) / answered);
    }
  return samples.map(median);
}
