// Where the lines of the log go. A log that cannot be written (a full disk, a pipe whose reader has gone or stands still) loses
// lines, and nothing else: they are counted, and the log says so once it can be written again.

import { constants, fstatSync, openSync, writeSync } from 'node:fs';

export interface LogOutput {
  /** Takes whole lines. Never throws, and never waits. */
  write(lines: string): void;
  /** Tries once more to write what waits; for the end of a process. */
  end(): void;
}

export interface LogOutputOptions {
  /** Writes some of these bytes and says how many, or throws what the system says. */
  readonly write: (bytes: Uint8Array) => number;
  /** The line that says how many lines were lost, and by which error of the system. */
  readonly lossLine: (lines: number, code: string) => string;
  /** Told how many lines are lost. */
  readonly onLost: (lines: number) => void;
}

/** Bytes that wait for a reader who stands still, at most. */
const WAITING_BYTES = 1_048_576;
const RETRY_MS = 10;
/** How often a process that ends tries to get rid of what waits, `RETRY_MS` apart. */
const LAST_TRIES = 20;

const NEWLINE = 10;

export function logOutput({ write, lossLine, onLost }: LogOutputOptions): LogOutput {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let retrying: NodeJS.Timeout | undefined;
  /** Lines that were lost since the log last said so, and the last reason. */
  let lost = 0;
  let code = '';
  /** Whether the last line that was written lacks its end. */
  let isTorn = false;

  /** What a reader who stands still has not taken waits. Returns what the system refuses. */
  function send(bytes: Buffer): Buffer {
    let at = 0;
    try {
      while (at < bytes.length) at += write(bytes.subarray(at)) || standStill();
      return NOTHING;
    } catch (error) {
      const rest = bytes.subarray(at);
      code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      if (code !== 'EAGAIN') return rest;
      waiting.unshift(rest);
      waitingBytes += rest.length;
      retrying ??= setTimeout(retry, RETRY_MS).unref();
      return NOTHING;
    } finally {
      if (at > 0) isTorn = bytes[at - 1] !== NEWLINE;
    }
  }

  function retry(): void {
    retrying = undefined;
    while (waiting.length && retrying === undefined) {
      const bytes = waiting.shift()!;
      waitingBytes -= bytes.length;
      lose(send(bytes));
    }
  }

  function lose(bytes: Buffer): void {
    const lines = bytes.reduce((count, byte) => count + (byte === NEWLINE ? 1 : 0), 0);
    lost += lines;
    if (lines > 0) onLost(lines);
  }

  /** Says that lines were lost, behind the end of a torn one; false when that is refused too. */
  function tellLoss(): boolean {
    const isTold = send(Buffer.from((isTorn ? '\n' : '') + lossLine(lost, code))).length === 0;
    if (isTold) lost = 0;
    return isTold;
  }

  return {
    write(lines) {
      const bytes = Buffer.from(lines);
      const mustTell = lost > 0 && !waiting.length;
      if (mustTell && !tellLoss()) lose(bytes);
      else if (!waiting.length) lose(send(bytes));
      else if (lost > 0 || waitingBytes + bytes.length > WAITING_BYTES) lose(bytes);
      else {
        waiting.push(bytes);
        waitingBytes += bytes.length;
      }
    },
    end() {
      for (let tries = 0; waiting.length && tries < LAST_TRIES; tries++) {
        if (tries > 0) Atomics.wait(SLEEPER, 0, 0, RETRY_MS);
        clearTimeout(retrying);
        retry();
      }
    },
  };
}

const NOTHING = Buffer.alloc(0);
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

function standStill(): never {
  throw Object.assign(new Error('nothing was written'), { code: 'EAGAIN' });
}

let linesLost = 0;

/** Lines of the log of this process that could not be written. */
export const countLinesLost = (): number => linesLost;

let standard: LogOutput | undefined;

/** Standard output; the same one for every log of this process. */
export function standardOutput(): LogOutput {
  if (standard) return standard;
  const fd = ownDescriptor(1);
  standard = logOutput({
    write: (bytes) => writeSync(fd, bytes),
    lossLine: (lost, code) => `${JSON.stringify({ level: 40, time: Date.now(), lost, code, msg: LOSS })}\n`,
    onLost: (lines) => {
      linesLost += lines;
    },
  });
  return standard;
}

const LOSS = 'lines of the log were lost: it could not be written';

// A pipe whose reader stands still would stop this process with it. Opened once more it can be told not to wait, without a change
// for others who have it. Where that is not allowed, writing waits. With `bigint`, because in Node 20 a look at a pipe without it makes
// the next `import()` leave links in paths as they are (realpathSync reads the last result of stat).
function ownDescriptor(fd: number): number {
  try {
    if (fstatSync(fd, { bigint: true }).isFIFO())
      return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // No Linux, or the pipe of another user.
  }
  return fd;
}
