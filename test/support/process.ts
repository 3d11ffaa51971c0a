// Real processes for tests, servers above all: started, killed with -9, started again on the same data.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings } from '../../server/config/read.ts';
import { builtFile } from './build.ts';
import { refuseLeaks } from './canaries.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface RunningServer {
  readonly url: string;
  readonly pid: number;
  /** All that it has printed. */
  printed(): string;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
  /** Sends a signal and waits for the exit code. */
  signal(name: NodeJS.Signals): Promise<number | null>;
}

/** Starts `server/main.ts`, or another source and its arguments, as it is built, on a free port; resolves when it has printed its URL. */
export async function startProcess(
  env: Readonly<Record<string, string>>,
  [source, ...args]: readonly [string, ...string[]] = ['server/main.ts'],
): Promise<RunningServer> {
  const child = spawn(process.execPath, [await builtFile(source), ...args], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      RATE_LIMIT_MAX: '1000000',
      USSD_GATEWAYS: '*',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const exited = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)));
  return new Promise((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      printed += chunk;
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
      if (url) resolve(runningServer(child, { url, env, printed: () => printed, exited }));
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    void exited.then((code) => reject(new Error(`the server ended with ${code} before it listened:\n${printed}`)));
  });
}

interface Known extends Pick<RunningServer, 'url' | 'printed'> {
  readonly env: NodeJS.ProcessEnv;
  readonly exited: Promise<number | null>;
}

function runningServer(child: ChildProcess, { url, env, printed, exited }: Known): RunningServer {
  const signal = async (name: NodeJS.Signals) => {
    child.kill(name);
    const code = await exited;
    refuseLeaks({ ...readSettings(env), env, url }, printed());
    return code;
  };
  return { url, pid: child.pid!, printed, signal, kill: async () => void (await signal('SIGKILL')) };
}

/** kill -9 to a child that may be gone already; resolves when it is. */
export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** A folder that is removed afterwards. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-test-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
