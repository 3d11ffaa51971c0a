// The transcript: the messages of a session in order, paged, each written once however often its run is resumed.
//
// A message's place is twice its turn number for the question, plus one for the answer. A process that has lost its run
// may still write an answer; the fence lets the rightful owner replace it.

import { createHash } from 'node:crypto';
import { inTurns, timeSlice } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import { checkLimit } from '../../given.ts';
import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore, Query, StoredDocument } from '../../store/store.ts';
import { update } from '../../store/update.ts';
import { MESSAGE, MESSAGE_PIECE } from '../kinds.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { Run } from '../run/run.ts';
import { splitText, wellFormedText } from '../well-formed.ts';

/** A tool call within a message. */
export type MessageToolCall = {
  readonly name: string;
  readonly id: string;
  readonly args: JsonObject;
  readonly status?: 'isRunning' | 'done';
  /** A JSON string. */
  readonly output?: string;
};

/** A message as shown to clients. */
export type Message = {
  /** SHA-256 in hex: identical for every attempt to write it. */
  readonly id: string;
  readonly type: 'ai' | 'human';
  readonly content: string;
  readonly toolCalls?: readonly MessageToolCall[];
  readonly reasoning?: string;
  readonly isComplete: true;
  readonly isReasoning: false;
  readonly attachment?: JsonObject;
  readonly attachments?: readonly JsonObject[];
};

export type StoredMessage = JsonObject & {
  readonly session: string;
  readonly place: number;
  readonly fence: number;
} & StoredText;

/** A page of messages. */
export interface MessagePage {
  /** Oldest first. */
  readonly messages: Message[];
  /** For `before`: older messages. */
  readonly prevCursor: string | null;
  /** For `after`: newer messages. */
  readonly nextCursor: string | null;
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
}

export interface MessagePlace {
  readonly session: string;
  readonly turn: number;
  readonly fence: number;
}

export interface Transcript {
  /** Writes a message of a turn, unless a higher fence has. */
  write(message: Message, place: MessagePlace): Promise<void>;
  /**
   * The newest messages when there is no cursor. `limit` 1 to COMMON_LIMITS.pageSizeMax, default 20; fewer messages, but at
   * least one, when they exceed AGENT_LIMITS.transcriptBytes. Throws ERR_INPUT for an invalid cursor.
   */
  page(session: string, options?: { limit?: number; before?: string; after?: string }): Promise<MessagePage>;
  /** Oldest first; the newest AGENT_LIMITS.transcriptMessages, within AGENT_LIMITS.transcriptBytes. */
  all(session: string): Promise<Message[]>;
  /** Messages of earlier turns, oldest first; up to AGENT_LIMITS.historyMessages and AGENT_LIMITS.historyBytes. */
  before(session: string, turn: number): Promise<Message[]>;
  get(id: string): Promise<Message | undefined>;
  /** Removes every message of a session. */
  clear(session: string): Promise<void>;
}

/** The id of a run's question or answer. */
export function messageId(run: string, type: Message['type']): string {
  return createHash('sha256').update(`${run}/${type}`).digest('hex');
}

export function openTranscript(documents: DocumentStore): Transcript {
  const read = ({ id, body }: StoredDocument<StoredMessage>) => readMessage(documents, id, body);
  const find = async (query: Query) =>
    (await documents.find<StoredMessage>(MESSAGE, { index: 'session', ...query })).items;

  /** The newest messages before a place, within both bounds; oldest first. */
  async function newest(session: string, place: number, max: { messages: number; bytes: number }): Promise<Message[]> {
    const messages: Message[] = [];
    const pause = timeSlice();
    let bytes = 0;
    for (let before = place; messages.length < max.messages; ) {
      const limit = Math.min(100, max.messages - messages.length);
      const items = await find({ where: { session, place: { lt: before } }, descending: true, limit });
      for (const item of items) {
        bytes += item.body.bytes;
        if (bytes > max.bytes) return messages.reverse();
        messages.push(await read(item));
        await pause();
      }
      if (items.length < limit) break;
      before = items.at(-1)!.body.place;
    }
    return messages.reverse();
  }

  const exists = async (session: string, place: { lt: number } | { gte: number }) =>
    (await find({ where: { session, place }, limit: 1 })).length > 0;

  return {
    async write(message, { session, turn, fence }) {
      const place = turn * 2 + (message.type === 'ai' ? 1 : 0);
      const content = await storeMessage(documents, message, session, fence);
      const body: StoredMessage = { session, place, fence, ...content };
      // Replace what a lower fence wrote; keep what this or a higher fence wrote.
      await update<StoredMessage>(documents, MESSAGE, message.id, (old) =>
        old && old.fence >= fence ? undefined : body,
      );
    },

    async page(session, { limit = 20, before, after } = {}) {
      checkLimit(limit, COMMON_LIMITS.pageSizeMax);
      if (before !== undefined && after !== undefined)
        throw new TwinlineError('ERR_INPUT', 'Use either `before` or `after`, not both.');
      const place =
        after !== undefined ? { gt: readCursor(after) } : { lt: before === undefined ? LAST : readCursor(before) };
      const page = await find({ where: { session, place }, descending: after === undefined, limit: limit + 1 });
      const items = fitting(page.slice(0, limit));
      if (after === undefined) items.reverse();
      const [first, last] = [items[0]?.body.place, items.at(-1)?.body.place];
      const more = page.length > items.length;
      const messages: Message[] = [];
      await inTurns(items, read, (message) => messages.push(message));
      return {
        messages,
        prevCursor: first === undefined ? null : String(first),
        nextCursor: last === undefined ? (after ?? null) : String(last),
        hasOlder: after === undefined ? more : await exists(session, { lt: first ?? readCursor(after) + 1 }),
        hasNewer:
          after !== undefined ? more : before !== undefined && (await exists(session, { gte: readCursor(before) })),
      };
    },
    all: (session) =>
      newest(session, LAST, { messages: AGENT_LIMITS.transcriptMessages, bytes: AGENT_LIMITS.transcriptBytes }),
    before: (session, turn) =>
      newest(session, turn * 2, { messages: AGENT_LIMITS.historyMessages, bytes: AGENT_LIMITS.historyBytes }),
    async get(id) {
      const document = await documents.get<StoredMessage>(MESSAGE, id);
      return document && read(document);
    },
    async clear(session) {
      for (const kind of [MESSAGE, MESSAGE_PIECE])
        for (let more = true; more; ) {
          const { items } = await documents.find(kind, { index: 'session', where: { session }, limit: 100 });
          await Promise.all(items.map(({ id }) => documents.remove(kind, id)));
          more = items.length === 100;
        }
    },
  };
}

// The first message, and those after it while the total stays within AGENT_LIMITS.transcriptBytes.
function fitting(items: readonly StoredDocument<StoredMessage>[]): StoredDocument<StoredMessage>[] {
  let bytes = 0;
  return items.filter(({ body }, at) => {
    bytes += body.bytes;
    return at === 0 || bytes <= AGENT_LIMITS.transcriptBytes;
  });
}

const LAST = Number.MAX_SAFE_INTEGER;

function readCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new TwinlineError('ERR_INPUT', 'The cursor is invalid. Use `prevCursor` or `nextCursor` unchanged.');
}

/** A message's text as stored in its document. */
type StoredText = {
  /** Size of the whole message as JSON. */
  readonly bytes: number;
  /** Null when stored in pieces. */
  readonly message: Message | null;
  readonly pieces: number;
};

// At most three bytes of UTF-8 per UTF-16 unit: JSON escapes lone surrogates, so only whole pairs remain.
const PIECE_CHARS = Math.floor(AGENT_LIMITS.messagePieceBytes / 3);

type Piece = JsonObject & { readonly session: string; readonly text: string };

/** Writes the pieces, if any; they are complete before the message refers to them. */
async function storeMessage(
  documents: DocumentStore,
  message: Message,
  session: string,
  fence: number,
): Promise<StoredText> {
  const text = JSON.stringify(message);
  const bytes = Buffer.byteLength(text);
  if (bytes <= AGENT_LIMITS.messagePieceBytes) return { bytes, message: JSON.parse(text) as Message, pieces: 0 };
  const pieces = splitText(text, PIECE_CHARS);
  for (const [at, piece] of pieces.entries())
    await insertPiece(documents, pieceId(message.id, fence, at), { session, text: piece });
  return { bytes, message: null, pieces: pieces.length };
}

async function readMessage(
  documents: DocumentStore,
  id: string,
  { message, pieces, fence }: StoredText & { readonly fence: number },
): Promise<Message> {
  if (message) return message;
  const texts: string[] = [];
  for (let at = 0; at < pieces; at++)
    texts.push((await documents.get<Piece>(MESSAGE_PIECE, pieceId(id, fence, at)))?.body.text ?? '');
  try {
    return JSON.parse(texts.join('')) as Message;
  } catch (cause) {
    throw new TwinlineError('ERR_RECORD', `Message ${id} cannot be read: some of its ${pieces} pieces are missing.`, {
      cause,
    });
  }
}

// Each fence has its own pieces, so that a late writer cannot change its successor's.
const pieceId = (id: string, fence: number, at: number) => `${id}/${fence}/${at}`;

async function insertPiece(documents: DocumentStore, id: string, body: Piece): Promise<void> {
  if ((await documents.insert(MESSAGE_PIECE, id, body)).kind === 'inserted') return;
  const old = await documents.get<Piece>(MESSAGE_PIECE, id);
  if (old && old.body.text !== body.text) await documents.replace(MESSAGE_PIECE, id, old.revision, body);
}

const COMPLETE = { isComplete: true, isReasoning: false } as const;

export function makeQuestion({ id, body: { request } }: Pick<Run, 'id' | 'body'>): Message {
  const attachments = (request.attachments ?? []) as readonly JsonObject[];
  return {
    id: messageId(id, 'human'),
    type: 'human',
    content: request.message,
    ...COMPLETE,
    ...(attachments[0] && { attachment: attachments[0], attachments }),
  };
}

/** Undefined when there is no reply. */
export function makeAnswer(
  { id }: Pick<Run, 'id'>,
  { text, reasoning, toolCalls }: { text: string; reasoning: string; toolCalls: readonly MessageToolCall[] },
): Message | undefined {
  if (text === '' && !toolCalls.length) return undefined;
  return {
    id: messageId(id, 'ai'),
    type: 'ai',
    content: wellFormedText(text),
    ...(toolCalls.length && { toolCalls }),
    ...(reasoning !== '' && { reasoning }),
    ...COMPLETE,
  };
}
