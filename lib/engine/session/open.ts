// The session that can go on from a stored record, or why none can.

import type { AnyMachineSnapshot } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import type { StoredSession } from '../../store/store.ts';
import type { Conversation } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import { openRecord } from './private.ts';
import { decodeRecord, type RecordProblem, type SessionRecord } from './record.ts';

export type Opened<C extends Conversation = Conversation> =
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

export type Live = Opened & { readonly kind: 'live' };

/** Reads a stored session. A record that cannot go on is a result of its own, never a new beginning. */
export function openStored<C extends Conversation>(
  engine: Engine<C>,
  key: string,
  stored: StoredSession | undefined,
): Opened<C> {
  if (!stored) return { kind: 'none' };
  const decoded = decodeRecord(key, stored.record, engine.seals);
  const record = typeof decoded === 'string' ? decoded : openRecord(engine, key, decoded);
  if (typeof record === 'string') return { kind: 'unreadable', stored, reason: record };
  if (stored.ended) return { kind: 'ended', stored, record };
  const found = engine.library.exact(record.conversation, record.version, record.hash);
  const fit = found ? { conversation: found, record, isMigrated: false } : migrated(engine, record);
  if (typeof fit === 'string') return { kind: 'unreadable', stored, reason: fit };
  const live = resumeMachine(fit);
  if (!live) return { kind: 'unreadable', stored, reason: 'unknown-state' };
  const { conversation, isMigrated } = fit;
  return { kind: 'live', stored, record: fit.record, conversation, isMigrated, live };
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
