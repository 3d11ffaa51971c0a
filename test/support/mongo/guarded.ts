// Server processes that never outlive this one: also when it is killed with -9, they end and their folder goes.

import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beside } from './chroot.ts';

export interface Guarded {
  /** A folder for the server's data, removed when it has ended. */
  readonly folder: string;
  /** kill -9, and started again on the same folder; resolves when it is ready. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface GuardedOptions {
  readonly command: (folder: string) => readonly string[];
  /** What the server prints when it takes connections. */
  readonly ready: RegExp;
  readonly timeoutMs: number;
}

/** Starts a server under the guard and resolves when it has printed that it is ready. */
export async function startGuarded({ command, ready, timeoutMs }: GuardedOptions): Promise<Guarded> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-mongo-'));
  const guard = spawn('sh', [beside('guard.sh'), folder, ...command(folder)], { stdio: 'pipe' });
  const ended = new Promise<void>((resolve) => guard.on('close', () => resolve()));
  // The guard lives until its input closes, which it does at the latest when this process is gone.
  const stop = () => {
    guard.stdin.end();
    return ended;
  };
  guard.stdin.on('error', () => {});
  let printed = '';
  let onPrinted = () => {};
  const listen = (chunk: Buffer) => {
    printed = (printed + chunk).slice(-4_000);
    onPrinted();
  };
  guard.stdout.on('data', listen);
  guard.stderr.on('data', listen);
  const isReady = () =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not ready after ${timeoutMs} ms`)), timeoutMs);
      onPrinted = () => {
        if (!ready.test(printed)) return;
        clearTimeout(timer);
        onPrinted = () => {};
        resolve();
      };
      onPrinted();
    });
  const begin = async (tell: () => void) => {
    printed = '';
    tell();
    try {
      await isReady();
    } catch (error) {
      await stop();
      throw new Error(`${command(folder)[0]}: ${(error as Error).message}; it printed:\n${printed}`);
    }
  };
  await begin(() => {});
  return { folder, stop, restart: () => begin(() => guard.stdin.write('again\n')) };
}
