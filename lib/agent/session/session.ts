// Chat sessions: created, listed and deleted by their owners; a session of another owner is treated as non-existent.

import { randomBytes } from 'node:crypto';
import { type Clock, timeSlice } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import { checkLimit } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { DocumentStore, StoredDocument } from '../../store/store.ts';
import { insertNew, update } from '../../store/update.ts';
import { SESSION } from '../kinds.ts';
import { AGENT_LIMITS } from '../limits.ts';

/** A session's document. Times are milliseconds since 1970. */
export type StoredSession = JsonObject & {
  /** The DID of the user; null once deleted. */
  readonly owner: string | null;
  readonly title: string | null;
  readonly created: number;
  readonly updated: number;
  /** Turns assigned so far; each is the place of one message and its answer. */
  readonly turns: number;
  /** Responder state, by responder name. */
  readonly state: JsonObject;
  readonly deletedAt: number | null;
};

export type Session = StoredDocument<StoredSession>;

/** The oracle's identity, as shown to clients. */
export interface Oracle {
  readonly name: string;
  readonly did: string;
  readonly entityDid: string;
}

/** A session as shown to clients. Times are RFC 3339. */
export type ChatSession = {
  readonly sessionId: string;
  /** Absent until there are two messages. */
  readonly title?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly oracleName: string;
  readonly oracleDid: string;
  readonly oracleEntityDid: string;
};

/** Functions with an `owner` treat a session of another owner as non-existent and return undefined. */
export interface Sessions {
  create(owner: string): Promise<ChatSession>;
  /**
   * Most recently used first. `limit` 1 to COMMON_LIMITS.pageSizeMax, default 20; `offset` up to
   * AGENT_LIMITS.sessionOffsetMax, default 0.
   */
  list(owner: string, page?: { limit?: number; offset?: number }): Promise<{ sessions: ChatSession[]; total: number }>;
  get(owner: string, id: string): Promise<ChatSession | undefined>;
  /** Whether the owner has this session. */
  owns(owner: string, id: string): Promise<boolean>;
  /** A session of any owner, unless it is deleted. */
  read(id: string): Promise<Session | undefined>;
  /** The document of their session. */
  readOwned(owner: string, id: string): Promise<Session | undefined>;
  /** Assigns the next turn number, from 1, of a session that was just read, and marks it as used. Undefined when it was deleted since. */
  nextTurn(session: Session): Promise<number | undefined>;
  /** Changes fields of a session; false when it is gone. */
  change(id: string, change: (body: StoredSession) => Partial<StoredSession>): Promise<boolean>;
  readState(id: string, responder: string): Promise<Json | undefined>;
  /** Throws ERR_INPUT when the value exceeds AGENT_LIMITS.responderStateBytes. */
  keepState(id: string, responder: string, value: Json): Promise<void>;
  /** Marks the session as deleted; false when it does not exist or was used after `unusedSince`. */
  softDelete(owner: string, id: string, unusedSince?: number): Promise<boolean>;
  /** Sessions last used before this time, oldest first. */
  listUnused(before: number, limit: number): Promise<readonly { readonly owner: string; readonly id: string }[]>;
  /** Ids of soft-deleted sessions that are due for removal. */
  tombstones(limit: number): Promise<string[]>;
  forget(id: string): Promise<void>;
}

export interface SessionOptions {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly oracle: Oracle;
}

interface ReplaceOptions {
  /** Whether this body is to be changed. @default it is */
  readonly isMeant?: (body: StoredSession) => boolean;
  /** As it was just read. */
  readonly known?: Session;
}

export function openSessions({ documents, clock, oracle }: SessionOptions): Sessions {
  const read: Sessions['read'] = async (id) => {
    if (!isId(id)) return undefined;
    const session = await documents.get<StoredSession>(SESSION, id);
    return session?.body.deletedAt === null ? session : undefined;
  };
  const readOwned: Sessions['readOwned'] = async (owner, id) => {
    const session = await read(id);
    return session?.body.owner === owner ? session : undefined;
  };

  const replace = sessionChanger(documents);
  const findLastUse = ({ updated }: StoredSession) => Math.max(updated, clock.now());
  const view = (session: Session) => chatSession(session, oracle);

  return {
    read,
    async create(owner) {
      const now = clock.now();
      const body = { owner, title: null, created: now, updated: now, turns: 0, state: {}, deletedAt: null };
      return view(await insertNew<StoredSession>(documents, SESSION, { id: randomBytes(16).toString('hex'), body }));
    },
    async list(owner, { limit = 20, offset = 0 } = {}) {
      checkLimit(limit, COMMON_LIMITS.pageSizeMax);
      if (!Number.isInteger(offset) || offset < 0 || offset > AGENT_LIMITS.sessionOffsetMax)
        throw new TwinlineError(
          'ERR_INPUT',
          `offset=${offset} is not a whole number from 0 to ${AGENT_LIMITS.sessionOffsetMax}.`,
        );
      const where = { owner };
      const total = await documents.count(SESSION, { index: 'owner', where });
      const items = await skipTo(documents, { owner, limit, offset });
      return { sessions: items.map(view), total };
    },
    async get(owner, id) {
      const session = await readOwned(owner, id);
      return session && view(session);
    },
    owns: async (owner, id) => (await readOwned(owner, id)) !== undefined,
    readOwned,
    async nextTurn(session) {
      const take = (body: StoredSession) => ({ turns: body.turns + 1, updated: findLastUse(body) });
      return (await replace(session.id, take, { known: session }))?.turns;
    },
    change: async (id, change) =>
      (await replace(id, (body) => ({ updated: findLastUse(body), ...change(body) }))) !== undefined,
    readState: async (id, responder) => {
      const state = (await read(id))?.body.state;
      return state && Object.hasOwn(state, responder) ? state[responder] : undefined;
    },
    async keepState(id, responder, value) {
      const bytes = Buffer.byteLength(JSON.stringify(value));
      if (bytes > AGENT_LIMITS.responderStateBytes)
        throw new TwinlineError(
          'ERR_INPUT',
          `Responder "${responder}" tried to store ${bytes} bytes in a session; the limit is ${AGENT_LIMITS.responderStateBytes}.`,
        );
      await replace(id, ({ state }) => ({ state: { ...state, [responder]: value } }));
    },
    softDelete: async (owner, id, unusedSince = Number.POSITIVE_INFINITY) =>
      (await replace(id, () => ({ owner: null, title: null, state: {}, deletedAt: clock.now() }), {
        isMeant: (body) => body.owner === owner && body.updated < unusedSince,
      })) !== undefined,
    async listUnused(before, limit) {
      const query = { index: 'idle', where: { updated: { lt: before } }, limit };
      const { items } = await documents.find<StoredSession>(SESSION, query);
      return items.flatMap(({ id, body: { owner } }) => (owner === null ? [] : [{ owner, id }]));
    },
    async tombstones(limit) {
      const where = { deletedAt: { gt: 0, lte: clock.now() - AGENT_LIMITS.sessionRemainsMs } };
      const { items } = await documents.find(SESSION, { index: 'deleted', where, limit });
      return items.map(({ id }) => id);
    },
    forget: async (id) => void (await documents.remove(SESSION, id)),
  };
}

/** Changes sessions: to the changed body; undefined when the session is gone or `isMeant` returns false. */
function sessionChanger(documents: DocumentStore) {
  return async (
    id: string,
    of: (body: StoredSession) => Partial<StoredSession>,
    { isMeant = () => true, known }: ReplaceOptions = {},
  ): Promise<StoredSession | undefined> => {
    if (!isId(id)) return undefined;
    const change = (body: StoredSession | undefined) =>
      body?.deletedAt === null && isMeant(body) ? ({ ...body, ...of(body) } as StoredSession) : undefined;
    const result = await update<StoredSession>(documents, SESSION, id, change, { known });
    return result.kind === 'updated' ? result.document.body : undefined;
  };
}

/** Sessions read at a time: each may hold AGENT_LIMITS.responderStateBytes. */
const SESSIONS_READ = 100;

/** Skips `offset` sessions, reading bounded pages. */
async function skipTo(
  documents: DocumentStore,
  { owner, limit, offset }: { owner: string; limit: number; offset: number },
): Promise<Session[]> {
  const query = { index: 'owner', where: { owner }, descending: true };
  const sessions: Session[] = [];
  let left = offset;
  let cursor: string | undefined;
  const pause = timeSlice();
  do {
    await pause();
    const size = Math.min(left + limit - sessions.length, SESSIONS_READ);
    const from = cursor === undefined ? {} : { cursor };
    const page = await documents.find<StoredSession>(SESSION, { ...query, limit: size, ...from });
    sessions.push(...page.items.slice(left));
    left = Math.max(0, left - page.items.length);
    cursor = page.next;
  } while (cursor !== undefined && sessions.length < limit);
  return sessions;
}

function chatSession({ id, body }: Session, oracle: Oracle): ChatSession {
  return {
    sessionId: id,
    ...(body.title !== null && { title: body.title }),
    createdAt: new Date(body.created).toISOString(),
    lastUpdatedAt: new Date(body.updated).toISOString(),
    oracleName: oracle.name,
    oracleDid: oracle.did,
    oracleEntityDid: oracle.entityDid,
  };
}

const ID = /^[0-9a-f]{32}$/;
const isId = (id: unknown): id is string => typeof id === 'string' && ID.test(id);

/** A title from the first words of a message: at most AGENT_LIMITS.sessionTitleChars characters, cut between words. */
export function makeTitle(message: string): string {
  const words = message
    .slice(0, 2_000)
    .replace(/[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  const characters = [...words];
  if (characters.length <= AGENT_LIMITS.sessionTitleChars) return words;
  const start = characters.slice(0, AGENT_LIMITS.sessionTitleChars - 1).join('');
  const space = start.lastIndexOf(' ');
  return `${(space > start.length / 2 ? start.slice(0, space) : start).trimEnd()}…`;
}
