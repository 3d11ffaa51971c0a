// Thoughts that a model writes into its text, `<think>…</think>` at the beginning, as servers without a parser for them pass
// them on. Tags may be split over pieces, and where the template of a model opens the tag, only the closing one comes.

import type { ResponderPart } from '../responder.ts';

type ReplyPart = Extract<ResponderPart, { type: 'text' | 'reasoning' }>;

/**
 * How the texts of a model begin: in a thought; with what has no thoughts in it; or it is not known, and what is said is
 * held back until it is, as no piece can be taken back.
 */
export type Opening = 'thought' | 'text' | 'unknown';

const OPEN = '<think>';
const CLOSE = '</think>';

export interface ThoughtReader {
  /** What is said by a piece of text. */
  read(text: string): ReplyPart[];
  /** What was held back, at the end. */
  end(): ReplyPart[];
  /** What was learnt for further texts of the model; undefined: nothing. */
  opening(): Opening | undefined;
}

/** Reads one text of a model. */
export function thoughtReader(opening: Opening): ThoughtReader {
  let state: 'start' | 'thought' | 'after' | 'text' = 'start';
  let buffer = '';
  let isOpened = false;
  let thought = '';
  let nextOpening: Opening | undefined;

  function read(piece: string): ReplyPart[] {
    buffer += piece;
    const parts: ReplyPart[] = [];
    if (state === 'start') begin();
    if (state === 'thought') think(parts);
    if (state === 'after') {
      buffer = buffer.trimStart();
      if (buffer) state = 'text';
    }
    if (state === 'text') say(parts);
    return parts;
  }

  function begin(): void {
    const start = buffer.trimStart();
    if (start.startsWith(OPEN)) {
      [state, isOpened, buffer] = ['thought', true, start.slice(OPEN.length)];
      nextOpening = 'text';
    } else if (!OPEN.startsWith(start)) state = opening === 'text' ? 'text' : 'thought';
  }

  function think(parts: ReplyPart[]): void {
    const close = buffer.indexOf(CLOSE);
    if (close < 0) {
      // Thoughts of a model that may have none are held back whole.
      const isSure = isOpened || opening === 'thought';
      const size = isSure ? buffer.length - overlap(buffer, CLOSE) : 0;
      add(parts, 'reasoning', buffer.slice(0, size));
      buffer = buffer.slice(size);
      return;
    }
    add(parts, 'reasoning', buffer.slice(0, close));
    buffer = buffer.slice(close + CLOSE.length);
    state = 'after';
    if (!isOpened) nextOpening = 'thought';
  }

  function say(parts: ReplyPart[]): void {
    // A closing tag alone is of a model that opens its thoughts in its template: what was said of this one cannot be taken back.
    const close = buffer.indexOf(CLOSE);
    if (buffer.includes(OPEN)) nextOpening ??= 'text';
    else if (close >= 0 && nextOpening === undefined) {
      nextOpening = 'thought';
      buffer = buffer.slice(0, close) + buffer.slice(close + CLOSE.length);
    }
    const size =
      buffer.length - (nextOpening === undefined ? Math.max(overlap(buffer, OPEN), overlap(buffer, CLOSE)) : 0);
    add(parts, 'text', buffer.slice(0, size));
    buffer = buffer.slice(size);
  }

  function add(parts: ReplyPart[], type: ReplyPart['type'], text: string): void {
    if (!text) return;
    if (type === 'reasoning') thought += text;
    parts.push({ type, text });
  }

  function end(): ReplyPart[] {
    const parts: ReplyPart[] = [];
    const isThought = state === 'thought' && isOpened;
    // What was taken for a thought and is not closed was the text.
    const text = state === 'thought' && !isOpened ? thought + buffer : buffer;
    if (state === 'thought' && !isOpened) [state, nextOpening] = ['text', 'text'];
    add(parts, isThought ? 'reasoning' : 'text', text);
    [buffer, thought] = ['', ''];
    return parts;
  }

  return { read, end, opening: () => nextOpening };
}

/** Families of models whose templates begin in a thought. */
const THINKERS = /\br1\b|qwq|think|reason/i;

/** How the texts of a model begin of which nothing is known but its name. */
export const guessOpening = (modelId: string): Opening => (THINKERS.test(modelId) ? 'unknown' : 'text');

/** How many of the last characters of a text may begin a word. */
function overlap(text: string, word: string): number {
  for (let size = Math.min(word.length - 1, text.length); size > 0; size--)
    if (word.startsWith(text.slice(-size))) return size;
  return 0;
}
