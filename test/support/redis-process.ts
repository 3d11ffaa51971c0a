// One redis-server process of a test: on a free port of 127.0.0.1, in a folder of its own, gone when the test process is.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onPath } from './on-path.ts';
import { skipped } from './skip.ts';

export interface RedisProcess {
  readonly port: number;
  /** Where it keeps its files. */
  readonly folder: string;
  /** All that it has printed. */
  printed(): string;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it on the same port and files; ends it first, in good order, when it runs. */
  restart(): Promise<void>;
  /** SIGSTOP: it keeps its connections and answers nothing. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** Ends it and removes its folder. Again: harmless. */
  stop(): Promise<void>;
}

const PROGRAM = 'redis-server';
// Below the ports that outgoing connections take; a cluster's bus is 10,000 higher, and below them too.
const FIRST_PORT = 11_000;
const LAST_PORT = 21_999;
const BUS = 10_000;
const TRIES = 20;

// Runs a command and prints its pid. When standard input ends, whoever held its other end is gone, however it died:
// then the command is killed and its folder removed. `wait` keeps the pid from being given to another process.
const GUARD = `
exec 3<&0
"$@" </dev/null 2>&1 3<&- &
server=$!
echo "pid $server"
{ read -r _ <&3; : >"$GUARDED/orphan"; kill -9 $server; } >/dev/null 2>&1 &
guard=$!
exec 3<&-
wait $server
code=$?
kill $guard
[ ! -e "$GUARDED/orphan" ] || rm -rf "$GUARDED"
exit $code`;

let version: string | undefined;

export interface RedisProcessOptions {
  /** For redis-server; `{port}` and `{folder}` stand for its own. */
  readonly args: readonly string[];
  /** Puts files into the folder before the start. */
  readonly prepare?: (folder: string) => void;
}

/** Starts `redis-server`. Skips the test when there is none. */
export async function startRedisProcess({ args, prepare }: RedisProcessOptions): Promise<RedisProcess> {
  if (!onPath(PROGRAM)) skipped(`${PROGRAM} is not on PATH; install redis-server`);
  const folder = mkdtempSync(join(tmpdir(), 'twinline-redis-'));
  prepare?.(folder);
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    const filled = args.map((arg) => arg.replaceAll('{port}', String(port)).replaceAll('{folder}', folder));
    try {
      return redisProcess({ port, folder, args: filled, running: await launch(filled, folder) });
    } catch (error) {
      // Another process may have taken the port since.
      const taken = /address already in use|failed listening|could not create server/i.test(String(error));
      if (taken && tries < TRIES) continue;
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }
}

interface Parts {
  readonly port: number;
  readonly folder: string;
  readonly args: readonly string[];
  readonly running: Running;
}

function redisProcess({ port, folder, args, running: first }: Parts): RedisProcess {
  let running = first;
  let earlier = '';
  const end = async (signal: NodeJS.Signals) => {
    if (running.isOver()) return;
    process.kill(running.pid, signal);
    await running.over;
  };
  return {
    port,
    folder,
    printed: () => earlier + running.printed(),
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      earlier += running.printed();
      running = await launch(args, folder);
    },
    freeze: () => void process.kill(running.pid, 'SIGSTOP'),
    thaw: () => void process.kill(running.pid, 'SIGCONT'),
    async stop() {
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Running {
  /** Of redis-server itself. */
  readonly pid: number;
  readonly over: Promise<void>;
  isOver(): boolean;
  printed(): string;
}

// Resolves when the server says that it is ready.
function launch(args: readonly string[], folder: string): Promise<Running> {
  const child: ChildProcess = spawn('sh', ['-c', GUARD, 'sh', PROGRAM, ...args], {
    env: { ...process.env, GUARDED: folder },
    stdio: ['pipe', 'pipe', 'ignore'],
    // A signal to our group must not take the guard before the server.
    detached: true,
  });
  let printed = '';
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    child.once('close', () => {
      isOver = true;
      resolve();
    });
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.stdout!.on('data', (chunk) => {
      printed += chunk;
      const pid = /^pid (\d+)/.exec(printed)?.[1];
      if (!pid || !/Ready to accept connections|Sentinel ID is/.test(printed)) return;
      tellVersion(printed);
      resolve({ pid: Number(pid), over, isOver: () => isOver, printed: () => printed });
    });
    void over.then(() => reject(new Error(`redis-server ${args.join(' ')} ended:\n${printed}`)));
  });
}

function tellVersion(printed: string): void {
  const found = /version=([\w.]+)/.exec(printed)?.[1];
  if (found && !version) console.log(`redis-server ${found}`);
  version ??= found;
}

async function freePort(): Promise<number> {
  for (let tries = 0; tries < 1_000; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if ((await isFree(port)) && (await isFree(port + BUS))) return port;
  }
  throw new Error(`no free port from ${FIRST_PORT} to ${LAST_PORT}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
