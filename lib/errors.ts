// The one error class, its closed list of codes, and helpers that bound what a message may quote.

import { COMMON_LIMITS } from './common-limits.ts';

/** Every code Twinline throws, its meaning, and whether a retry may succeed. */
export const ERROR_CODES = {
  ERR_CONFIG: { retry: false, means: 'a setting or option is missing, malformed or contradictory' },
  ERR_FLOW_INVALID: { retry: false, means: 'a flow file breaks the format or fails lint' },
  ERR_FLOW_UNKNOWN: { retry: false, means: 'no loaded flow has this name and version' },
  ERR_EXPRESSION: { retry: false, means: 'an expression cannot be parsed or evaluated' },
  ERR_TEMPLATE: { retry: false, means: 'a text template cannot be parsed' },
  ERR_INPUT: { retry: false, means: 'a request is malformed or breaks a limit' },
  ERR_RECORD: { retry: false, means: 'a stored session record is foreign, future, tampered with or unreadable' },
  ERR_MACHINE: { retry: false, means: 'a state machine failed while handling an event' },
  ERR_TURN_LIMIT: { retry: false, means: 'a turn exceeded a limit: of steps, timers, or characters of its record' },
  ERR_CONFLICT: { retry: true, means: 'another writer came first; reload and try again' },
  ERR_EXISTS: { retry: false, means: 'a document with this id or unique key already exists' },
  ERR_NOT_FOUND: { retry: false, means: 'nothing is stored under this key' },
  ERR_STORE: { retry: true, means: 'a store refused, failed or was unavailable' },
  ERR_TIMEOUT: { retry: true, means: 'a deadline passed before the work was done' },
  ERR_QUOTA: { retry: false, means: 'a user has reached a quota' },
  ERR_BUSY: { retry: true, means: 'a bounded queue is full' },
  ERR_SERVICE: { retry: true, means: 'a service call failed' },
  ERR_SERVICE_UNKNOWN: { retry: false, means: 'no service is registered under this name' },
  ERR_REFUSED: { retry: false, means: 'a domain rule forbids it; `reason` names the rule' },
  ERR_PIN: { retry: false, means: 'a PIN cannot be set: malformed, weak, or corrupted in the store' },
} as const satisfies Record<string, { retry: boolean; means: string }>;

/** A code of `TwinlineError`; the list is closed. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** What is wrong with one field of an input. */
export interface Detail {
  /** A JSON pointer or the name of a parameter. */
  readonly field: string;
  readonly error: string;
}

export interface ErrorParts {
  readonly cause?: unknown;
  readonly reason?: string;
  readonly details?: readonly Detail[];
}

/**
 * Thrown by every part of Twinline. `code` is stable and documented in {@link ERROR_CODES}; `message` says what was
 * tried, with which value, why it failed and what to do. Messages never contain secrets.
 * @example
 * const error = new TwinlineError('ERR_STORE', 'The store of tickets is away.');
 * error.code; // → 'ERR_STORE'
 * error instanceof Error; // → true
 */
export class TwinlineError extends Error {
  override readonly name = 'TwinlineError' as const;
  readonly code: ErrorCode;
  /** With ERR_REFUSED: the rule, such as `already-voted`; with ERR_STORE: `closed` or `damaged`, where applicable. */
  readonly reason: string | undefined;
  /** Problems by field; empty when unknown or not applicable. */
  readonly details: readonly Detail[];

  constructor(code: ErrorCode, message: string, options: ErrorParts = {}) {
    super(message, options);
    this.code = code;
    this.reason = options.reason;
    this.details = options.details ?? [];
  }

  /** Whether the same attempt may succeed later. */
  get retry(): boolean {
    return ERROR_CODES[this.code].retry;
  }
}

/** Truncates the text to so many characters, followed by `…`. */
export function cutText(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Truncates a list of problems to the number and bytes that a response may carry. */
export function cutList<T>(items: readonly T[], toText: (item: T) => string): T[] {
  const listed = items.slice(0, COMMON_LIMITS.problemDetails);
  let bytes = 0;
  const end = listed.findIndex((item) => {
    bytes += Buffer.byteLength(toText(item));
    return bytes > COMMON_LIMITS.problemBytes;
  });
  return end < 0 ? listed : listed.slice(0, end);
}

/** Loads an optional dependency. Throws ERR_CONFIG, naming the `packages` to install, when it is missing. */
export async function optionalPackage<T>(
  load: () => Promise<T>,
  { purpose, packages }: { readonly purpose: string; readonly packages: string },
): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    const words = `Cannot ${purpose}: an optional package is not installed. Install it with: npm install ${packages}`;
    throw new TwinlineError('ERR_CONFIG', words, { cause });
  }
}
