// The session that can go on from a stored record, or why none can. Of sessions that hold private values, the variables, the
// inputs of calls and the last reply are sealed before they are stored. What tells nothing about the caller, such as the state
// and the timers, stays readable. Without a keyring nothing can be sealed; then their records are as all others.

import type { AnyMachineSnapshot } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import { isListWhere, isObject, isText } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { undefinedNames, withUndefined } from '../../json/lossless.ts';
import { openText, type Seal, sealText } from '../../sealing.ts';
import type { StoredSession } from '../../store/store.ts';
import type { Conversation } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import { isRest } from '../machine/step.ts';
import {
  decodeRecord,
  isCall,
  isTask,
  type RecordProblem,
  type SessionCall,
  type SessionRecord,
  type SessionTask,
} from './record.ts';

export type OpenedSession<C extends Conversation = Conversation> =
  | { readonly kind: 'none' }
  | { readonly kind: 'ended'; readonly stored: StoredSession; readonly record: SessionRecord }
  | {
      readonly kind: 'live';
      readonly stored: StoredSession;
      readonly record: SessionRecord;
      readonly conversation: C;
      /** The record is of an older version and has been put in terms of this one. */
      readonly isMigrated: boolean;
      /** The machine, put back where the record says. */
      readonly live: AnyMachineSnapshot;
    }
  | { readonly kind: 'unreadable'; readonly stored: StoredSession; readonly reason: RecordProblem };

export type Live = OpenedSession & { readonly kind: 'live' };

/** Reads a stored session. A record that cannot go on is a result of its own, never a new beginning. */
export function openStored<C extends Conversation>(
  engine: Engine<C>,
  key: string,
  stored: StoredSession | undefined,
): OpenedSession<C> {
  if (!stored) return { kind: 'none' };
  const record = readRecord(engine, key, stored);
  if (typeof record === 'string') return { kind: 'unreadable', stored, reason: record };
  if (stored.ended) return { kind: 'ended', stored, record };
  const exact = engine.library.exact(record.conversation, record.version, record.hash);
  const fit = exact ? { conversation: exact, record, isMigrated: false } : migrated(engine, record);
  if (typeof fit === 'string') return { kind: 'unreadable', stored, reason: fit };
  const live = resumeMachine(fit);
  if (!live) return { kind: 'unreadable', stored, reason: 'unknown-state' };
  const { conversation, isMigrated } = fit;
  return { kind: 'live', stored, record: fit.record, conversation, isMigrated, live };
}

/** What is stored of a session, in terms of the version that wrote it. */
export function readRecord(
  engine: Engine,
  key: string,
  { record }: Pick<StoredSession, 'record'>,
): SessionRecord | RecordProblem {
  const reading = decodeRecord(key, record, engine.seals);
  return typeof reading === 'string' ? reading : openRecord(engine, key, reading);
}

interface Fit<C> {
  readonly conversation: C;
  readonly record: SessionRecord;
  readonly isMigrated: boolean;
}

function migrated<C extends Conversation>(engine: Engine<C>, record: SessionRecord): Fit<C> | RecordProblem {
  const conversation = engine.library.current(record.conversation);
  if (!conversation) return 'foreign';
  if (record.version > conversation.version) return 'future';
  const rest = conversation.migrate?.(record.rest, { version: record.version, hash: record.hash });
  return rest ? { conversation, record: { ...record, rest }, isMigrated: true } : 'outdated';
}

// Undefined when the machine has no such state.
function resumeMachine({ conversation, record: { rest, calls } }: Fit<Conversation>): AnyMachineSnapshot | undefined {
  try {
    return conversation.machine.resume(calls.length ? { ...rest, calling: calls.map(({ id }) => id) } : rest);
  } catch (error) {
    if (error instanceof TwinlineError && error.code === 'ERR_RECORD') return undefined;
    throw error;
  }
}

const seal = (key: string, what: 'record' | 'reply'): Seal => ({ purpose: 'session-private/v1', label: [key, what] });

/** The record with its variables, calls and tasks in `sealed`; as it is without a keyring. */
export function sealRecord({ keyring }: Engine, key: string, record: SessionRecord): SessionRecord {
  if (!keyring) return record;
  const { rest, calls, tasks } = record;
  const { output, ...others } = rest;
  const content = JSON.stringify({ c: rest.context, u: undefinedNames(rest.context), k: calls, o: output, j: tasks });
  const sealed = sealText(keyring, seal(key, 'record'), content);
  return { ...record, rest: { ...others, context: {} }, calls: [], tasks: undefined, sealed };
}

interface SealedContent {
  readonly c: JsonObject;
  readonly u?: string[];
  readonly k: SessionCall[];
  readonly o?: Json;
  readonly j?: SessionTask[];
}

/** The record as it was before it was sealed; one that never was is given back. */
function openRecord(
  { keyring }: Pick<Engine, 'keyring'>,
  key: string,
  record: SessionRecord,
): SessionRecord | RecordProblem {
  const { sealed, ...open } = record;
  if (sealed === undefined) return record;
  const text = keyring && openText(keyring, seal(key, 'record'), sealed);
  if (text === undefined) return 'other-key';
  const { c, u, k, o, j } = JSON.parse(text) as SealedContent;
  const isSound = isObject(c) && (u === undefined || isListWhere(u, isText)) && isListWhere(k, isCall);
  if (!isSound || (j !== undefined && !isListWhere(j, isTask)) || !isRest({ ...record.rest, context: c }))
    return 'malformed';
  const rest = { ...record.rest, context: u ? withUndefined(c, u) : c, ...(o !== undefined && { output: o }) };
  return { ...open, rest, calls: k, ...(j && { tasks: j }), isPrivate: true };
}

/** What is stored of a reply that may show private values. */
export function sealReply({ keyring }: Engine, key: string, text: string): string {
  return keyring ? sealText(keyring, seal(key, 'reply'), text) : text;
}

// How every sealed text begins. A reply of a menu may begin so, too: its record tells them apart.
const SEALED = 'v1$';

/** The reply of a stored session as the caller read it. */
export function openReply(
  { keyring, seals }: Engine,
  key: string,
  { reply, record }: Pick<StoredSession, 'reply' | 'record'>,
): { readonly text: string } | RecordProblem {
  if (!keyring || !reply.startsWith(SEALED)) return { text: reply };
  const sessionRecord = decodeRecord(key, record, seals);
  if (typeof sessionRecord === 'string') return sessionRecord;
  if (sessionRecord.sealed === undefined) return { text: reply };
  const text = openText(keyring, seal(key, 'reply'), reply);
  return text === undefined ? 'other-key' : { text };
}
