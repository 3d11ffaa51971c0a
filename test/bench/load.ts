// A load of phones on loopback: raw sockets, kept alive, each dialling one dialogue after the other.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

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

export interface Load {
  readonly connections: number;
  readonly ms: number;
  /** The texts of one dialogue, cumulative; after the last one a new session begins. */
  readonly texts: readonly string[];
  /** Every answer must begin with this. */
  readonly expect: RegExp;
}

/** Sends one request after the other on every connection; how many were answered. */
export async function drive(port: number, load: Load): Promise<number> {
  const until = Date.now() + load.ms;
  const answered = await Promise.all(
    Array.from({ length: load.connections }, (_, at) => phone(port, { ...load, at, until })),
  );
  return answered.reduce((sum, count) => sum + count, 0);
}

let dialled = 0;

function phone(port: number, load: Load & { at: number; until: number }): Promise<number> {
  const { texts, until, expect } = load;
  const phoneNumber = `+2607${String(10_000_000 + load.at)}`;
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let sessionId = '';
    let step = 0;
    let count = 0;
    let buffer = '';
    const send = () => {
      if (step === 0) sessionId = `bench-${process.pid}-${dialled++}`;
      const body = JSON.stringify({ sessionId, serviceCode: '*2233#', phoneNumber, text: texts[step] });
      step = (step + 1) % texts.length;
      socket.write(
        `POST /api/ussd HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    };
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      buffer += chunk;
      const end = buffer.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(buffer);
      if (end < 0 || !length || buffer.length < end + 4 + Number(length[1])) return;
      const body = buffer.slice(end + 4, end + 4 + Number(length[1]));
      if (!expect.test(body)) return reject(new Error(`unexpected answer: ${buffer.slice(0, 300)}`));
      buffer = '';
      count++;
      if (Date.now() < until) return send();
      socket.end();
      resolve(count);
    });
  });
}
