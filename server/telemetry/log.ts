// The log: JSON lines, or lines for people in a terminal. What callers type, and who they are, never gets here; every line, also those of
// plugins, passes the redactor of the configuration.

import pc from 'picocolors';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { isTracing, spanFields } from '../../lib/http/tracing.ts';
import type { Json } from '../../lib/json/json.ts';
import { findRedactor, type Redactor, redactor } from '../../lib/redact.ts';
import { type LogOutput, standardOutput } from './log-output.ts';

export type Log = Logger;

/** The part of the configuration that the log reads. */
export interface LogSettings {
  readonly logLevel: string;
  /** @default masks nothing */
  readonly redact?: Redactor;
  /** @default true */
  readonly production?: boolean;
}

/** A log on `destination`, or on standard output: there in lines for people, where a person looks on in development. */
export function createLog(
  { logLevel, redact = redactor([]), production = true }: LogSettings,
  destination?: DestinationStream,
): Log {
  const hooks = { streamWrite: redact.text };
  const mixin = isTracing() ? { mixin: spanFields } : {};
  const options = { level: logLevel, base: null, serializers: { err: describeError }, hooks, ...mixin };
  if (destination) return pino(options, destination);
  if (production || !process.stdout.isTTY) return pino(options, joinLines(standardOutput()));
  return pino(options, { write: (line) => standardOutput().write(readableLine(line)) });
}

const WARN = pino.levels.values.warn!;
/** Characters of lines that are kept, at most. */
const KEPT_CHARS = 16_384;

/** What writes the lines that are kept, of every log of this process: a process that exits in the middle of a turn writes them too. */
const waiting = new Set<() => void>();
let isWatchingExit = false;

// One listener, however many servers a process starts.
function watchExit(): void {
  if (isWatchingExit) return;
  isWatchingExit = true;
  process.once('exit', () => {
    for (const write of waiting) write();
    standardOutput().end();
  });
}

/**
 * Writes the lines of one turn of the event loop together: under load that saves a third of what a line costs
 * (measured). What may explain how a process died is written at once.
 */
function joinLines(output: LogOutput): DestinationStream {
  let kept = '';
  const flush = () => {
    waiting.delete(flush);
    if (kept === '') return;
    const text = kept;
    kept = '';
    output.write(text);
  };
  watchExit();
  // Where this symbol is set, pino tells the stream the level of each line.
  const lines = {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      kept += line;
      if (lines.lastLevel >= WARN || kept.length > KEPT_CHARS) return flush();
      if (waiting.has(flush)) return;
      waiting.add(flush);
      setImmediate(flush);
    },
  };
  return lines;
}

/** An error as it may be logged. */
export interface LoggedError {
  readonly name: string;
  readonly code?: string;
  readonly message?: string;
  readonly at?: readonly string[];
  readonly cause?: LoggedError;
}

/** What code from outside threw: none of its words is logged, of any class. */
export class Foreign {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/**
 * For lines about a plugin: errors have their messages in development, where its author reads along. In production the words of
 * others may hold what users typed.
 */
export function pluginLog(log: Log, plugin: string, { production }: Pick<LogSettings, 'production'>): Log {
  return log.child({ plugin }, production ? {} : { serializers: { err: describeWithMessage } });
}

function describeWithMessage(thrown: unknown): LoggedError {
  const described = describeError(thrown);
  if (!(thrown instanceof Error)) return described;
  return { ...described, message: findRedactor(thrown)?.text(thrown.message) ?? thrown.message };
}

const FRAMES = 8;

/**
 * Our own errors and those of the operating system with their words; of all others only name, code and place, for their
 * words may quote what was typed.
 */
export function describeError(thrown: unknown): LoggedError {
  const described = describeWhole(thrown);
  const redact = findRedactor(thrown);
  return redact ? (redact.json(described as unknown as Json) as unknown as LoggedError) : described;
}

function describeWhole(thrown: unknown): LoggedError {
  if (thrown instanceof Foreign) return withoutMessages(describeError(thrown.error));
  if (!(thrown instanceof Error)) return { name: `not an Error but ${typeof thrown}` };
  const { name, message, cause, stack } = thrown;
  const { code, syscall } = thrown as NodeJS.ErrnoException;
  const ours = thrown instanceof TwinlineError;
  return {
    name: word(name) ?? 'Error',
    ...(typeof code === 'string' && { code: word(code) ?? '?' }),
    ...((ours || typeof syscall === 'string') && { message: ours ? message : message.replace(QUOTED, "'…'") }),
    ...(!ours && { at: frames(stack, message) }),
    ...(cause !== undefined && { cause: describeError(cause) }),
  };
}

// A stack begins with name and message, and a message may look like frames; where it ends is not always clear.
function frames(stack = '', message: string): string[] {
  const end = message === '' ? stack.search(/^\w*Error\n/) : stack.lastIndexOf(message);
  if (end < 0) return [];
  const [, ...lines] = stack.slice(end + message.length).split('\n', FRAMES + 1);
  return lines.map((line) => line.trim().replace(/^at /, ''));
}

// The system quotes paths, and a file may be named by what a caller typed.
const QUOTED = /'[^']*'/g;

function withoutMessages({ message: _, cause, ...error }: LoggedError): LoggedError {
  return { ...error, ...(cause && { cause: withoutMessages(cause) }) };
}

// Names of errors and codes hold no long numbers; PINs are such.
const word = (text: unknown) =>
  typeof text === 'string' && /^\w{1,64}$/.test(text) && !/\d{4}/.test(text) ? text : undefined;

const RARELY_MS = 60_000;

/** Calls `tell` with the first event, and then at most once a minute; `times`: how many there were since. */
export function callRarely<T>(
  tell: (event: T, times: number) => void,
  clock: Pick<Clock, 'monotonic'>,
): (event: T) => void {
  let toldAt: number | undefined;
  let times = 0;
  return (event) => {
    times++;
    const now = clock.monotonic();
    if (toldAt !== undefined && now - toldAt < RARELY_MS) return;
    tell(event, times);
    toldAt = now;
    times = 0;
  };
}

type Paint = (text: string) => string;

/** By pino's numbers; the highest that is not above the line's. */
const LEVELS: readonly { readonly least: number; readonly sign: string; readonly paint: Paint }[] = [
  { least: 50, sign: '✘', paint: pc.red },
  { least: 40, sign: '!', paint: pc.yellow },
  { least: 30, sign: '·', paint: (text) => text },
  { least: 0, sign: ' ', paint: pc.dim },
];

type LogFields = { readonly [field: string]: unknown };

export interface LogLine {
  readonly level: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

/** Whether a line tells of a turn of a phone, or of something that went wrong. */
export const isTold = ({ level, turn, outcome }: LogLine): boolean =>
  level >= WARN || turn !== undefined || outcome !== undefined;

/** A JSON line of the log as lines for people, with the end of a line; what is no JSON as it is. */
export function readableLine(json: string): string {
  let line: LogLine;
  try {
    line = JSON.parse(json) as LogLine;
  } catch {
    return json;
  }
  const { level, time, msg, ...fields } = line;
  const { sign, paint } = LEVELS.find(({ least }) => level >= least)!;
  const at = pc.dim(new Date(time).toTimeString().slice(0, 8));
  const [first = '', ...rest] = (msg ?? describeRequest(fields) ?? '').split('\n');
  const shown = msg === undefined && describeRequest(fields) !== undefined ? {} : fields;
  const details = Object.entries(shown).map(([name, value]) => pc.dim(`${name}=${formatValue(value)}`));
  const head = [at, paint(sign), paint(first), ...details].join(' ');
  return `${[head, ...rest.map(paintDifference)].join('\n')}\n`;
}

// Of a request that was answered, or of a turn of a phone.
function describeRequest({ method, route, status, ms, turn, from, to, outcome }: LogFields): string | undefined {
  if (turn !== undefined) return `${turn} ${from ?? 'dial'} → ${to}${outcome === 'end' ? ', end' : ''} ${ms} ms`;
  return method === undefined || status === undefined ? undefined : `${method} ${route} ${status} ${ms} ms`;
}

function formatValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { name, code, message } = value as { name?: unknown; code?: unknown; message?: unknown };
  if (name === undefined) return JSON.stringify(value);
  return [name, code, message].filter((part) => part !== undefined).join(' ');
}

// Tests that differ: what was expected, and what came.
function paintDifference(line: string): string {
  if (/^\s*\+ /.test(line)) return pc.green(line);
  return /^\s*- /.test(line) ? pc.red(line) : line;
}
