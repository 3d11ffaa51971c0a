// Looking at a session without touching it: for operators and inspectors.

import type { JsonObject } from '../store/store.ts';
import type { Engine } from './engine.ts';
import type { AtRest } from './machine/transition.ts';
import { openStored } from './session/open.ts';

export interface SessionView {
  readonly conversation: string;
  readonly version: number;
  readonly turn: number;
  /** Milliseconds since 1970 when this dial began. */
  readonly startedAt: number;
  readonly rest: AtRest;
  readonly door: JsonObject;
  /** What was answered last. */
  readonly reply: string;
}

/** A living session as it is stored, so without secrets; undefined when there is none, or it cannot be read. */
export async function viewSession(engine: Engine, key: string): Promise<SessionView | undefined> {
  const opened = openStored(engine, key, await engine.store.load(key));
  if (opened.kind !== 'live') return undefined;
  const { conversation, version, turn, startedAt, rest, door } = opened.record;
  return { conversation, version, turn, startedAt, rest, door, reply: opened.stored.reply };
}

/** Keys of living sessions that begin with `prefix`, in key order, at most `limit`. */
export async function sessionKeys(
  engine: Engine,
  { prefix, limit }: { prefix: string; limit: number },
): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.store.list(cursor === undefined ? {} : { cursor });
    found.push(...page.keys.filter((key) => key.startsWith(prefix)));
    cursor = page.next;
  } while (cursor !== undefined && found.length < limit);
  return found.slice(0, limit);
}
