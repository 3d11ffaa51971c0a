// Seeds a session at a given state, for tools that show a screen: stores an ordinary record, read back like any other.

import type { StateValue } from 'xstate';
import { TwinlineError } from '../errors.ts';
import type { JsonObject } from '../store/store.ts';
import { currentConversation, type Engine } from './engine.ts';
import { openStored } from './session/open.ts';
import { encodeRecord } from './session/record.ts';

export interface Seed {
  readonly conversation: string;
  readonly state: StateValue;
  /** Of the conversation itself; its `migrate` fills what is missing. Secrets are not kept. */
  readonly context: JsonObject;
  readonly door: JsonObject;
}

// No edition has this hash, so the session is migrated like one of an earlier edition: missing variables are filled in,
// and the calls of its state are made although the state was not entered by an event.
const NO_EDITION = '';

/**
 * Stores a session that rests there, under a key that has none; the next turn shows it. Throws ERR_FLOW_UNKNOWN, or
 * ERR_INPUT when the conversation has no such state or the key has a session.
 */
export async function seedSession(engine: Engine, key: string, placement: Seed): Promise<void> {
  const { state, context, door } = placement;
  const { id, version, shelve } = currentConversation(engine, placement.conversation);
  const now = engine.clock.now();
  const record = encodeRecord(
    key,
    {
      conversation: id,
      version,
      hash: NO_EDITION,
      rest: { state, context: shelve(context, (secret) => engine.prove(key, secret)) },
      turn: 1,
      startedAt: now,
      door,
      timers: [],
      calls: [],
    },
    engine.seals[0],
  );
  const stored = { record, turnKey: '', reply: '', ended: false, expiresAt: now + engine.ttlMs, dueAt: null };
  if (openStored(engine, key, { ...stored, revision: 0 }).kind !== 'live') throw refused(id, state);
  const { kind } = await engine.store.commit(key, 0, stored);
  if (kind === 'conflict') throw new TwinlineError('ERR_INPUT', 'Cannot place a session where there is one already.');
}

function refused(id: string, state: StateValue): TwinlineError {
  return new TwinlineError('ERR_INPUT', `Cannot begin "${id}" at ${JSON.stringify(state)}: it has no such state.`);
}
