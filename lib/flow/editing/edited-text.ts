// A text and what has become of it: edits of the present text are kept as edits of the first one.

import type { TextEdit } from '../format/problem.ts';

/** A kept part of the first text, or an inserted one. */
type Piece = { readonly from: number; readonly to: number } | { readonly insert: string };

export class EditedText {
  #text: string;
  #pieces: readonly Piece[];
  readonly #length: number;

  constructor(text: string) {
    this.#text = text;
    this.#length = text.length;
    this.#pieces = [{ from: 0, to: text.length }];
  }

  /** The text with all edits so far. */
  get text(): string {
    return this.#text;
  }

  /** All edits so far, of the first text: in its order, and apart from each other. */
  edits(): TextEdit[] {
    const edits: TextEdit[] = [];
    let at = 0;
    let insert = '';
    const take = (to: number) => {
      if (insert !== '' || to > at) edits.push({ from: at, to, insert });
      insert = '';
    };
    for (const piece of this.#pieces) {
      if ('insert' in piece) insert += piece.insert;
      else {
        take(piece.from);
        at = piece.to;
      }
    }
    take(this.#length);
    return edits;
  }

  /** Applies an edit of the present text. */
  replace({ from, to, insert }: TextEdit): void {
    const head: Piece[] = [];
    const tail: Piece[] = [];
    let at = 0;
    for (const piece of this.#pieces) {
      const length = 'insert' in piece ? piece.insert.length : piece.to - piece.from;
      const kept = Math.min(length, from - at);
      const again = Math.max(0, to - at);
      if (kept > 0) head.push(cutPiece(piece, 0, kept));
      if (again < length) tail.push(cutPiece(piece, again, length));
      at += length;
    }
    this.#pieces = [...head, ...(insert === '' ? [] : [{ insert }]), ...tail];
    this.#text = this.#text.slice(0, from) + insert + this.#text.slice(to);
  }
}

function cutPiece(piece: Piece, from: number, to: number): Piece {
  if ('insert' in piece) return { insert: piece.insert.slice(from, to) };
  return { from: piece.from + from, to: piece.from + to };
}

/** Applies edits of a text, in its order and apart from each other. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduceRight((now, { from, to, insert }) => now.slice(0, from) + insert + now.slice(to), text);
}
