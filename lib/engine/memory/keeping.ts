// The memory of a caller during a turn: read when a session begins, and written before each commit of a turn that has changed it. A turn
// that begins anew writes the same again, so a turn that was acknowledged is remembered.

import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../json/json.ts';
import type { Conversation } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import type { MemoryOwner } from './memory.ts';

/** The memory of the caller of one turn. */
export interface TurnMemory {
  readonly owner: MemoryOwner;
  /** The kept variables as they were last written or read; a name that is missing is written anew. */
  values: JsonObject;
  /** Names of those that this turn has written. */
  readonly written: string[];
  /** The key of a session that is to be noted as the last one of the caller. */
  session?: string | undefined;
}

/** Whose memory a session of this conversation has; undefined when nothing is kept of it. */
export function findOwner(
  { memory }: Engine,
  { id, keeping }: Conversation,
  { phoneNumber, simulated }: JsonObject,
): MemoryOwner | undefined {
  if (!memory || !keeping || typeof phoneNumber !== 'string' || phoneNumber === '') return undefined;
  return { phoneNumber, conversation: id, ...(simulated === true && { simulated }) };
}

/**
 * What a session begins with: what is kept of its caller, where that fits, under what its door gives; and the session that the caller began
 * last. Rejects with ERR_STORE.
 */
export async function recallInput(
  engine: Engine,
  key: string,
  {
    conversation,
    owner,
    input = {},
  }: { conversation: Conversation; owner: MemoryOwner; input?: JsonObject | undefined },
): Promise<{ readonly input: JsonObject; readonly session: string | undefined }> {
  const { values, session } = await engine.memory!.recall(owner);
  const { fits } = conversation.keeping!;
  const names = Object.keys(values);
  const misfits = names.filter((name) => !fits(name, values[name]!));
  if (misfits.length) engine.onProblem?.({ key, reason: 'memory', variables: misfits });
  const fitting = names.filter((name) => !misfits.includes(name)).map((name) => [name, values[name]!] as const);
  return { input: { ...Object.fromEntries(fitting), ...input }, session };
}

/** The memory of a turn, of which `values` are what is kept. Those that were `rewritten` by a try in vain are written again. */
export function turnMemory(owner: MemoryOwner, values: JsonObject, rewritten: readonly string[] = []): TurnMemory {
  const others = Object.entries(values).filter(([name]) => !rewritten.includes(name));
  return { owner, values: Object.fromEntries(others), written: [] };
}

interface MemoryWrite {
  readonly conversation: Conversation;
  readonly memory: TurnMemory;
  readonly context: JsonObject;
}

/** Writes the kept variables that have changed. Rejects with ERR_STORE and ERR_TURN_LIMIT. */
export async function keepChanges(engine: Engine, { conversation, memory, context }: MemoryWrite): Promise<void> {
  const { read, lifetime } = conversation.keeping!;
  const values = read(context);
  const names = Object.keys(values).filter((name) => !isDeepStrictEqual(values[name], memory.values[name]));
  const { session } = memory;
  if (!names.length && session === undefined) return;
  const changes = names.map((name) => [name, { value: values[name]!, ms: lifetime(name) }] as const);
  await engine.memory!.remember(memory.owner, { values: Object.fromEntries(changes), session });
  memory.session = undefined;
  memory.written.push(...names);
  memory.values = values;
}
