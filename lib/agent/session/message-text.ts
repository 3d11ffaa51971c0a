// A message as documents can hold it: small ones whole, larger ones as JSON in pieces.

import { TwinlineError } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { DocumentStore, JsonObject } from '../../store/store.ts';
import { MESSAGE_PIECE } from '../kinds.ts';
import { piecesOf } from '../well-formed.ts';
import type { Message } from './message.ts';

/** What the document of a message holds of its text. */
export type Kept = {
  /** Of the whole message as JSON. */
  readonly bytes: number;
  /** Null when it is in pieces. */
  readonly message: Message | null;
  readonly pieces: number;
};

// Three bytes of UTF-8 at most for each UTF-16 unit. JSON escapes half surrogate pairs: what is left are whole ones.
const PIECE_CHARS = Math.floor(LIMITS.messagePieceBytes / 3);

type Piece = JsonObject & { readonly session: string; readonly text: string };

/** Writes the pieces, if any are needed; they are complete before anything points at them. */
export async function keepMessage(
  documents: DocumentStore,
  message: Message,
  session: string,
  fence: number,
): Promise<Kept> {
  const text = JSON.stringify(message);
  const bytes = Buffer.byteLength(text);
  if (bytes <= LIMITS.messagePieceBytes) return { bytes, message: JSON.parse(text) as Message, pieces: 0 };
  const pieces = piecesOf(text, PIECE_CHARS);
  for (const [at, piece] of pieces.entries())
    await keepPiece(documents, pieceId(message.id, fence, at), { session, text: piece });
  return { bytes, message: null, pieces: pieces.length };
}

export async function readMessage(
  documents: DocumentStore,
  id: string,
  { message, pieces, fence }: Kept & { readonly fence: number },
): Promise<Message> {
  if (message) return message;
  const texts: string[] = [];
  for (let at = 0; at < pieces; at++)
    texts.push((await documents.get<Piece>(MESSAGE_PIECE, pieceId(id, fence, at)))?.body.text ?? '');
  try {
    return JSON.parse(texts.join('')) as Message;
  } catch (cause) {
    throw new TwinlineError('ERR_RECORD', `Message ${id} cannot be read: of its ${pieces} pieces some are missing.`, {
      cause,
    });
  }
}

export async function removePieces(documents: DocumentStore, session: string): Promise<void> {
  for (;;) {
    const { items } = await documents.find(MESSAGE_PIECE, { index: 'session', where: { session }, limit: 100 });
    await Promise.all(items.map(({ id }) => documents.remove(MESSAGE_PIECE, id)));
    if (items.length < 100) return;
  }
}

// Each fence has pieces of its own, so that a late writer cannot change those of its successor.
const pieceId = (id: string, fence: number, at: number) => `${id}/${fence}/${at}`;

async function keepPiece(documents: DocumentStore, id: string, body: Piece): Promise<void> {
  if ((await documents.insert(MESSAGE_PIECE, id, body)).kind === 'inserted') return;
  const old = await documents.get<Piece>(MESSAGE_PIECE, id);
  if (old && old.body.text !== body.text) await documents.replace(MESSAGE_PIECE, id, old.revision, body);
}
