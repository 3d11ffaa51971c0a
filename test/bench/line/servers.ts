// The servers under measurement: with production settings, on one core, while the load and Redis have the other.

import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { onPath } from '../../support/on-path.ts';
import type { Target } from '../target.ts';

export const SERVER_CORE = '0';
export const LOAD_CORE = '1';

const MAIN = join(process.cwd(), 'dist/server/main.js');
const FLOOR = join(process.cwd(), 'test/bench/floor.mjs');
const PRODUCTION = {
  ...{ NODE_ENV: 'production', HOST: '127.0.0.1', USSD_GATEWAYS: '*', USSD_SESSION_TTL_SECONDS: '3600' },
  PUBLIC_URL: 'http://127.0.0.1',
  // The gateway is one address, so each phone is counted, one request at a time as by default; no phone calls as often as one of a load.
  ...{ RATE_LIMIT_EXEMPT: '127.0.0.1/32', RATE_LIMIT_MAX: '1999' },
};

/** A server of ours; its log goes into `log`, for who reads a pipe as slowly as a busy load does would hold it up. */
export function startOurs(log: string, env: Readonly<Record<string, string>>): Promise<Target> {
  const keys = { PIN_ENCRYPTION_KEY: randomBytes(32).toString('hex'), ORACLE_KEY: makeOracleKey() };
  return startPinned([MAIN], log, { ...PRODUCTION, ...keys, ...env });
}

/** One of the floors of floor.mjs. */
export function startFloor(name: string, log: string): Promise<Target> {
  return startPinned([FLOOR, name], log, {});
}

/** A program of test/bench/peers. */
export function startPeer(program: string, args: readonly string[], log: string): Promise<Target> {
  return startPinned([join(process.cwd(), 'test/bench/peers', program), ...args], log, {});
}

async function startPinned(
  args: readonly string[],
  log: string,
  env: Readonly<Record<string, string>>,
): Promise<Target> {
  const out = openSync(log, 'w');
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, PORT: '0', ...env },
    stdio: ['ignore', out, out],
  });
  for (let tries = 0; tries < 400 && child.exitCode === null; tries++) {
    const url = /http:\/\/127\.0\.0\.1:(\d+)/.exec(readFileSync(log, 'utf8'));
    if (url) {
      pin(child.pid!, SERVER_CORE);
      return { process: child, port: Number(url[1]) };
    }
    await pause(50);
  }
  child.kill('SIGKILL');
  throw new Error(`${args.join(' ')} does not listen:\n${readFileSync(log, 'utf8')}`);
}

/** All threads of a process on one core; where there is one core, or no taskset, they run as they come. */
export function pin(pid: number, core: string): void {
  if (availableParallelism() > 1 && onPath('taskset')) execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)]);
}
