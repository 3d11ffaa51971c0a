// What callers give to public functions, looked at before it is used: a wrong argument is told by its name, and what it should be.

import { TwinlineError } from './errors.ts';

const hasMembers =
  (...names: readonly string[]) =>
  (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => (value as Readonly<Record<string, unknown>>)[name] !== undefined);

/** What may be given: what it is called, and the member by which it is known. */
const KINDS = {
  text: { words: 'a text', fits: (value: unknown) => typeof value === 'string' },
  function: { words: 'a function', fits: (value: unknown) => typeof value === 'function' },
  bytes: { words: 'bytes (a Buffer or Uint8Array)', fits: (value: unknown) => value instanceof Uint8Array },
  object: { words: 'an object', fits: hasMembers() },
  sessions: { words: 'a store of sessions, such as memorySnapshots()', fits: hasMembers('commit') },
  documents: {
    words: 'a store of documents, such as memoryDocuments()',
    fits: hasMembers('insert'),
  },
  logs: { words: 'a store of logs, such as memoryLogs()', fits: hasMembers('append') },
  messages: { words: 'a channel between instances, such as memoryChannel()', fits: hasMembers('publish') },
  clock: { words: 'a clock, such as systemClock', fits: hasMembers('now') },
  keyring: { words: 'keys, such as parseKeyring(text)', fits: hasMembers('subkey') },
  engine: { words: 'an engine, made by createEngine', fits: hasMembers('inOrder') },
  flow: { words: 'a flow, such as await loadFlow(file)', fits: hasMembers('screens') },
  machine: { words: 'a compiled machine, such as compileMachine(createMachine(…))', fits: hasMembers('source') },
  statechart: { words: 'a machine of XState, such as createMachine(…)', fits: hasMembers('config', 'implementations') },
  conversations: {
    words: 'a list of conversations, such as [compileFlow(flow)]',
    fits: (value: unknown) => Array.isArray(value) && value.every(hasMembers('machine')),
  },
  names: { words: "a set of names, such as new Set(['bills.find'])", fits: (value: unknown) => value instanceof Set },
  flows: {
    words: 'a map of flows by name, such as (await loadFlows(folder)).flows',
    fits: (value: unknown) => value instanceof Map,
  },
  responder: { words: 'a responder, such as flowResponder(…)', fits: hasMembers('respond') },
  channel: { words: 'a channel to a node, such as http2Channel({ upstream })', fits: hasMembers('unary') },
  descriptors: { words: 'descriptors, such as readDescriptorSet(bytes)', fits: hasMembers('registry') },
  types: { words: 'a registry of types, such as readDescriptorSet(bytes).registry', fits: hasMembers('getMessage') },
  guard: { words: 'a guard of tokens, made by tokenGuard', fits: hasMembers('checkDelegation') },
  key: { words: 'a key, such as parseOracleKey(text)', fits: hasMembers('sign') },
  environment: { words: 'variables by name, such as those of the process', fits: hasMembers() },
  config: {
    words: 'a configuration, made by requireConfig or in the answer of readConfig',
    fits: hasMembers('dataDir'),
  },
} as const;

type Kind = keyof typeof KINDS;

/**
 * Throws ERR_CONFIG where something given is not of its kind; a kind with `?` may be left out. `to` says what is being done:
 * `make an engine`. What was given is named by its type alone, for it may be a secret.
 */
export function requireGiven(to: string, given: object, kinds: Readonly<Record<string, Kind | `${Kind}?`>>): void {
  for (const [name, kind] of Object.entries(kinds)) {
    const value = (given as Readonly<Record<string, unknown>>)[name];
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
  return typeof value === 'string' ? 'a text' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}
