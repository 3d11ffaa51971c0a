// A message of a team chat on its way to its reply, as it is stored: a crash at any point leaves it to be carried on.

import { createHash } from 'node:crypto';
import { TwinlineError } from '../../../lib/errors.ts';
import type { JsonObject, Kind, StoredDocument } from '../../../lib/store/store.ts';
import { update } from '../../../lib/store/update.ts';
import type { PluginHost } from '../plugin.ts';
import type { Said } from './event.ts';

/** What its document holds; its id is made of the event's. Times are milliseconds since 1970. */
export type StoredTurn = JsonObject & {
  /** The message itself: two events about it are one turn. */
  readonly message: string;
  readonly team: string;
  readonly channel: string;
  readonly thread: string;
  /** Emptied once it is answered. */
  readonly text: string;
  readonly state: 'open' | 'done' | 'failed';
  readonly tries: number;
  /** Milliseconds since 1970 when the sweep looks at it next; the process that works on it moves this ahead. */
  readonly dueAt: number;
};

export type Turn = StoredDocument<StoredTurn>;

export const TURN: Kind = {
  name: 'plugin-team-chat-turn',
  indexes: { due: { fields: ['dueAt'] }, message: { fields: ['message'], unique: true } },
};
export const THREAD: Kind = { name: 'plugin-team-chat-thread', indexes: {} };

/** Milliseconds for which a turn is left to the process that carries it on. */
export const LEASE_MS = 120_000;
/** Milliseconds that answered turns are kept: the chat may deliver their events once more. */
export const KEEP_MS = 86_400_000;

type Deps = Pick<PluginHost, 'documents' | 'clock'>;

/** The turn of this message, held by this process; undefined when it has been taken in before. */
export async function takeIn({ documents, clock }: Deps, said: Said): Promise<Turn | undefined> {
  const { eventId, team, channel, ts, thread, text } = said;
  const message = hashOf(team, channel, ts);
  const dueAt = clock.now() + LEASE_MS;
  const body: StoredTurn = { message, team, channel, thread, text, state: 'open', tries: 0, dueAt };
  const inserted = await documents.insert(TURN, hashOf(team, eventId), body);
  return inserted.kind === 'inserted' ? inserted : undefined;
}

/** The next revision of a turn that this process holds; undefined when another one has it. */
export async function changeTurn(
  { documents }: Deps,
  { id, revision, body }: Turn,
  change: Partial<StoredTurn>,
): Promise<Turn | undefined> {
  const next = { ...body, ...change } as StoredTurn;
  const replaced = await documents.replace(TURN, id, revision, next);
  return replaced.kind === 'replaced' ? { id, revision: replaced.revision, body: next } : undefined;
}

/** The owner of the sessions of a team: no DID, so that no token is ever taken for it. */
export function ownerOf({ team }: Pick<StoredTurn, 'team'>): string {
  return `urn:team-chat:${/^[\w-]{1,64}$/.test(team) ? team : hashOf(team)}`;
}

/** The id of the run that answers a turn. */
export function runOf({ id }: Turn): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

/** The session of a thread, made when there is none. */
export async function sessionOf(
  { documents, agent }: Pick<PluginHost, 'documents' | 'agent'>,
  turn: StoredTurn,
): Promise<string> {
  const owner = ownerOf(turn);
  const id = hashOf(turn.team, turn.channel, turn.thread);
  const thread = await update<{ session: string }>(documents, THREAD, id, async (known) => {
    if (known && (await agent.sessions.owns(owner, known.session))) return known;
    return { session: (await agent.sessions.create(owner)).sessionId };
  });
  if (thread.kind === 'updated') return thread.document.body.session;
  throw new TwinlineError('ERR_CONFLICT', 'The session of a thread was changed by others. Try again.');
}

function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
