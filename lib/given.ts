// Checks of arguments, keys and limits. Errors name the argument and what it should be.

import { COMMON_LIMITS } from './common-limits.ts';
import { TwinlineError } from './errors.ts';

const hasMembers =
  (...names: readonly string[]) =>
  (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => (value as Readonly<Record<string, unknown>>)[name] !== undefined);

/** Kinds of arguments: a description, and a test (for objects, usually the presence of a characteristic member). */
const KINDS = {
  text: { words: 'a string', fits: (value: unknown): boolean => typeof value === 'string' },
  function: { words: 'a function', fits: (value: unknown): boolean => typeof value === 'function' },
  bytes: { words: 'bytes (a Buffer or Uint8Array)', fits: (value: unknown): boolean => value instanceof Uint8Array },
  object: { words: 'an object', fits: hasMembers() },
  sessions: { words: 'a store of sessions, such as memorySnapshots()', fits: hasMembers('commit') },
  documents: {
    words: 'a store of documents, such as memoryDocuments()',
    fits: hasMembers('insert'),
  },
  logs: { words: 'a store of logs, such as memoryLogs()', fits: hasMembers('append') },
  messages: { words: 'a channel between instances, such as memoryChannel()', fits: hasMembers('publish') },
  clock: { words: 'a clock, such as systemClock', fits: hasMembers('now') },
  keyring: { words: 'a keyring, such as parseKeyring(text)', fits: hasMembers('subkey') },
  engine: { words: 'an engine from createEngine', fits: hasMembers('inOrder') },
  flow: { words: 'a flow, such as await loadFlow(file)', fits: hasMembers('screens') },
  compiled: { words: 'a compiled flow, such as compileFlow(flow)', fits: hasMembers('flow', 'screens') },
  machine: { words: 'a compiled machine, such as compileMachine(createMachine(…))', fits: hasMembers('source') },
  ownMachine: {
    words: 'a machine, such as createMachine(…)',
    fits: (value: unknown): boolean => hasMembers('source')(value) || hasMembers('config', 'implementations')(value),
  },
  statechart: { words: 'an XState machine, such as createMachine(…)', fits: hasMembers('config', 'implementations') },
  conversations: {
    words: 'a list of conversations, such as [compileFlow(flow)]',
    fits: (value: unknown): boolean => Array.isArray(value) && value.every(hasMembers('machine')),
  },
  names: {
    words: "a set of names, such as new Set(['bills.find'])",
    fits: (value: unknown): boolean => value instanceof Set,
  },
  flows: {
    words: 'a map of flows by name, such as (await loadFlows(folder)).flows',
    fits: (value: unknown): boolean => value instanceof Map,
  },
  responder: { words: 'a responder, such as flowResponder(…)', fits: hasMembers('respond') },
  channel: { words: 'a channel to a node, such as http2Channel({ upstream })', fits: hasMembers('unary') },
  descriptors: { words: 'descriptors, such as readDescriptorSet(bytes)', fits: hasMembers('registry') },
  types: { words: 'a registry of types, such as readDescriptorSet(bytes).registry', fits: hasMembers('getMessage') },
  guard: { words: 'a token guard from tokenGuard', fits: hasMembers('checkDelegation') },
  key: { words: 'a key, such as parseOracleKey(text)', fits: hasMembers('sign') },
  environment: { words: 'environment variables by name, as Node has them', fits: hasMembers() },
  config: {
    words: 'a configuration from requireConfig or readConfig',
    fits: hasMembers('dataDir'),
  },
} as const;

type Kind = keyof typeof KINDS;

/**
 * Throws ERR_CONFIG when an argument is not of its kind; a kind with `?` is optional. `to` names the operation: `make
 * an engine`. The message gives only the type of the argument, which may be a secret.
 */
export function requireGiven(to: string, args: object, kinds: Readonly<Record<string, Kind | `${Kind}?`>>): void {
  if (typeof args !== 'object' || args === null) {
    const names = Object.keys(kinds).filter((name) => !kinds[name]!.endsWith('?'));
    const such = names.length ? `, such as { ${names.join(', ')} }` : '';
    throw new TwinlineError('ERR_CONFIG', `Cannot ${to}: its options must be an object${such}, not ${describe(args)}.`);
  }
  for (const [name, kind] of Object.entries(kinds)) {
    const value = (args as Readonly<Record<string, unknown>>)[name];
    if (kind.endsWith('?') && value === undefined) continue;
    const { words, fits } = KINDS[kind.replace('?', '') as Kind];
    if (!fits(value))
      throw new TwinlineError('ERR_CONFIG', `Cannot ${to}: ${name} must be ${words}, not ${describe(value)}.`);
  }
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Promise) return 'a promise: await it';
  return typeof value === 'string' ? 'a string' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

/** The latest time a Date can represent, in milliseconds. */
export const LAST_MOMENT = 8.64e15;

// ES2024: every supported Node has it, but the compiler's lib does not yet.
type Es2024String = string & { isWellFormed(): boolean };

/** Whether `text` has no lone surrogates, so that UTF-8 can encode it without loss. */
export function isWellFormed(text: string): boolean {
  return (text as Es2024String).isWellFormed();
}

/**
 * Throws ERR_INPUT unless `key` is 1 to COMMON_LIMITS.keyChars characters of well-formed text.
 * @example
 * checkKey('order-1');
 * checkKey(''); // throws ERR_INPUT
 */
export function checkKey(key: string, what = 'session key'): void {
  const isText = typeof key === 'string';
  if (isText && key.length > 0 && key.length <= COMMON_LIMITS.keyChars && isWellFormed(key)) return;
  const fault = !isText
    ? `the type ${typeof key}`
    : isWellFormed(key)
      ? `${key.length} characters`
      : 'a lone surrogate';
  throw new TwinlineError(
    'ERR_INPUT',
    `A ${what} must be 1 to ${COMMON_LIMITS.keyChars} characters of well-formed text; this one has ${fault}. Shorten or hash it.`,
  );
}

/**
 * Throws ERR_INPUT unless `limit` is a whole number from 1 to `max` (default: Number.MAX_SAFE_INTEGER). `find` of
 * documents and `read` of logs accept at most LIMITS.pageSizeMax.
 * @example
 * checkLimit(100);
 * checkLimit(0); // throws ERR_INPUT
 */
export function checkLimit(limit: number, max: number = Number.MAX_SAFE_INTEGER): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= max) return;
  throw new TwinlineError('ERR_INPUT', `A limit must be a whole number from 1 to ${max}; it was ${limit}.`);
}

/**
 * The error thrown by every call on a store after `close`.
 * @example
 * closedError('tickets').code; // → 'ERR_STORE'
 */
export function closedError(store: string): TwinlineError {
  return new TwinlineError('ERR_STORE', `The ${store} store is closed. Open it again before use.`, {
    reason: 'closed',
  });
}

export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether this is an exact whole number of at least 0. */
export const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

export const isText = (value: unknown): boolean => typeof value === 'string';

/** Whether this is a list whose items are all sound. */
export const isListWhere = (value: unknown, isSound: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isSound);

/** Returns the request unchanged. Throws ERR_CONFIG when it or the engine is something else. */
export function checkTurn<R extends { readonly key: string; readonly decide: unknown }>(
  engine: { readonly inOrder: unknown },
  request: R,
): R {
  // Runs on every turn: the descriptive check happens only when something is wrong.
  if (typeof engine?.inOrder !== 'function' || typeof request?.key !== 'string' || typeof request.decide !== 'function')
    requireGiven('take a turn', { engine, request, ...request }, TURN);
  return request;
}

const TURN = { engine: 'engine', request: 'object', key: 'text', decide: 'function' } as const;
