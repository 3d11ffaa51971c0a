// The log: JSON lines with only what may be in them. Whatever callers type, and who they are, never gets here.

import { type DestinationStream, type Logger, pino } from 'pino';
import { TwinlineError } from '../lib/errors.ts';
import type { Config } from './config.ts';

export type Log = Logger;

/** A log on standard output, or on `destination`. */
export function createLog({ logLevel }: Pick<Config, 'logLevel'>, destination?: DestinationStream): Log {
  const options = { level: logLevel, base: null, serializers: { err: describeError } };
  return destination ? pino(options, destination) : pino(options);
}

/** An error as it may be logged. */
export interface LoggedError {
  readonly name: string;
  readonly code?: string;
  readonly message?: string;
  readonly at?: readonly string[];
  readonly cause?: LoggedError;
}

const FRAMES = 8;

/**
 * Our own errors and those of the operating system with their words; of all others only name, code and place, for their
 * words may quote what somebody typed.
 */
export function describeError(thrown: unknown): LoggedError {
  if (!(thrown instanceof Error)) return { name: `not an Error but ${typeof thrown}` };
  const { name, message, cause, stack } = thrown;
  const { code, syscall } = thrown as NodeJS.ErrnoException;
  const ours = thrown instanceof TwinlineError;
  return {
    name: word(name) ?? 'Error',
    ...(typeof code === 'string' && { code: word(code) ?? '?' }),
    ...((ours || typeof syscall === 'string') && { message }),
    ...(!ours && { at: frames(stack) }),
    ...(cause !== undefined && { cause: describeError(cause) }),
  };
}

// A stack begins with the message, and that may look like frames; V8's own frames come last.
function frames(stack: string | undefined): string[] {
  const lines = (stack ?? '').split('\n');
  const first = lines.findLastIndex((line) => !/^ {4}at /.test(line)) + 1;
  return lines.slice(first, first + FRAMES).map((line) => line.trim().replace(/^at /, ''));
}

const word = (text: unknown) => (typeof text === 'string' && /^\w{1,64}$/.test(text) ? text : undefined);
