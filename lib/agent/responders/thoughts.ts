// Thoughts that a model writes into its text, `<think>…</think>` at the beginning, as servers without a parser for them pass
// them on. Tags may be split over pieces, and where the template of a model opens the tag, only the closing one comes.

import type { ResponderPart } from '../responder.ts';

type Said = Extract<ResponderPart, { type: 'text' | 'reasoning' }>;

/**
 * How the texts of a model begin: in a thought; with what has no thoughts in it; or it is not known, and what is said is
 * held back until it is, as no piece can be taken back.
 */
export type Opening = 'thought' | 'text' | 'unknown';

const OPEN = '<think>';
const CLOSE = '</think>';

export interface ThoughtReader {
  /** What is said by a piece of text. */
  read(text: string): Said[];
  /** What was held back, at the end. */
  end(): Said[];
  /** What was learnt for further texts of the model; undefined: nothing. */
  opening(): Opening | undefined;
}

/** Reads one text of a model. */
export function thoughtReader(opening: Opening): ThoughtReader {
  let state: 'start' | 'thought' | 'after' | 'text' = 'start';
  let held = '';
  let isOpened = false;
  let thought = '';
  let learnt: Opening | undefined;

  function read(piece: string): Said[] {
    held += piece;
    const said: Said[] = [];
    if (state === 'start') begin();
    if (state === 'thought') think(said);
    if (state === 'after') {
      held = held.trimStart();
      if (held) state = 'text';
    }
    if (state === 'text') say(said);
    return said;
  }

  function begin(): void {
    const start = held.trimStart();
    if (start.startsWith(OPEN)) {
      [state, isOpened, held] = ['thought', true, start.slice(OPEN.length)];
      learnt = 'text';
    } else if (!OPEN.startsWith(start)) state = opening === 'text' ? 'text' : 'thought';
  }

  function think(said: Said[]): void {
    const close = held.indexOf(CLOSE);
    if (close < 0) {
      // Thoughts of a model that may have none are held back whole.
      const isSure = isOpened || opening === 'thought';
      const size = isSure ? held.length - overlap(held, CLOSE) : 0;
      add(said, 'reasoning', held.slice(0, size));
      held = held.slice(size);
      return;
    }
    add(said, 'reasoning', held.slice(0, close));
    held = held.slice(close + CLOSE.length);
    state = 'after';
    if (!isOpened) learnt = 'thought';
  }

  function say(said: Said[]): void {
    // A closing tag alone is of a model that opens its thoughts in its template: what was said of this one cannot be taken back.
    const close = held.indexOf(CLOSE);
    if (held.includes(OPEN)) learnt ??= 'text';
    else if (close >= 0 && learnt === undefined) {
      learnt = 'thought';
      held = held.slice(0, close) + held.slice(close + CLOSE.length);
    }
    const size = held.length - (learnt === undefined ? Math.max(overlap(held, OPEN), overlap(held, CLOSE)) : 0);
    add(said, 'text', held.slice(0, size));
    held = held.slice(size);
  }

  function add(said: Said[], type: Said['type'], text: string): void {
    if (!text) return;
    if (type === 'reasoning') thought += text;
    said.push({ type, text });
  }

  function end(): Said[] {
    const said: Said[] = [];
    const isThought = state === 'thought' && isOpened;
    // What was taken for a thought and is not closed was the text.
    const text = state === 'thought' && !isOpened ? thought + held : held;
    if (state === 'thought' && !isOpened) [state, learnt] = ['text', 'text'];
    add(said, isThought ? 'reasoning' : 'text', text);
    [held, thought] = ['', ''];
    return said;
  }

  return { read, end, opening: () => learnt };
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
