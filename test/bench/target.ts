// Processes that are measured: begun, ended, and the CPU time that each has taken so far.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface Target {
  readonly process: ChildProcess;
  readonly port: number;
}

/** Starts a server and waits for the first URL that it prints. */
export function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Target> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    let printed = '';
    child.on('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}: ${printed}`)));
    child.stdout!.on('data', (chunk) => {
      printed += chunk;
      const url = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed);
      if (url) resolve({ process: child, port: Number(url[1]) });
    });
  });
}

export function stop({ process: child }: Target): Promise<void> {
  child.removeAllListeners('exit');
  return new Promise((resolve) => {
    child.on('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

const TICKS_PER_SECOND = 100;

/** CPU microseconds (user + system, all threads) of a process so far; Linux only. */
export function cpuUs(target: Target): number {
  const stat = readFileSync(`/proc/${target.process.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / TICKS_PER_SECOND;
}
