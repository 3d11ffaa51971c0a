// Maps positions of a sent text to the current text through the edits since.

import { invertedEffects } from '@codemirror/commands';
import { type ChangeDesc, type ChangeSet, StateEffect, type Text } from '@codemirror/state';
import type { TextEdit } from '../../../../lib/flow/format/problem.ts';

/** A text at the time it was sent. */
export interface SentText {
  readonly text: string;
  /** Whether the current text derives from it by edits. False once another text was loaded. */
  isCurrent(): boolean;
  /** Maps an offset to the current text; undefined if not current. */
  findOffset(offset: number): number | undefined;
  /** Maps an offset of the current text back. */
  findSent(offset: number): number;
  /** Maps a line and column, both 1-based. */
  findPlace(line: number, column: number): number | undefined;
  /** Maps an edit; undefined if the text that it replaces has changed. */
  findEdit(edit: TextEdit): TextEdit | undefined;
}

export interface FollowedText {
  /** Records an edit. */
  note(changes: ChangeSet): void;
  /** Records that another text was loaded. */
  restart(): void;
  send(doc: Text): SentText;
}

/** A state of a text, with the edit that follows it. */
interface Moment {
  next?: { readonly changes: ChangeDesc; readonly moment: Moment };
}

export function followText(): FollowedText {
  // A sent text references its state, and so keeps exactly the edits after it alive.
  let now: Moment = {};
  return {
    note(changes) {
      const moment: Moment = {};
      now.next = { changes: changes.desc, moment };
      now = moment;
    },
    restart() {
      now = {};
    },
    send: (doc) => sendText(doc, { sent: now, readNow: () => now }),
  };
}

function sendText(doc: Text, { sent, readNow }: { readonly sent: Moment; readonly readNow: () => Moment }): SentText {
  const listChanges = (): readonly ChangeDesc[] | undefined => {
    const changes: ChangeDesc[] = [];
    let moment = sent;
    for (let { next } = sent; next; { next } = moment) {
      changes.push(next.changes);
      ({ moment } = next);
    }
    return moment === readNow() ? changes : undefined;
  };
  const findOffset = (offset: number) =>
    listChanges()?.reduce((at, changes) => changes.mapPos(at, 1), Math.min(offset, doc.length));
  return {
    text: doc.toString(),
    isCurrent: () => listChanges() !== undefined,
    findOffset,
    findPlace: (line, column) => findOffset(offsetAt(doc, line, column)),
    findSent: (offset) =>
      [...(listChanges() ?? [])].reverse().reduce((at, changes) => changes.invertedDesc.mapPos(at), offset),
    findEdit({ from, to, insert }) {
      const later = listChanges();
      if (!later || to > doc.length) return undefined;
      let place = { from, to };
      for (const changes of later) {
        if (changes.touchesRange(place.from, place.to)) return undefined;
        place = { from: changes.mapPos(place.from), to: changes.mapPos(place.to) };
      }
      return { ...place, insert };
    },
  };
}

function offsetAt(doc: Text, line: number, column: number): number {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(found.from + column - 1, found.to);
}

// --- edits of two texts that are one ---

export interface SentEdits {
  readonly edits: readonly TextEdit[];
  readonly sent: SentText;
}

/** The edits in the present text; undefined if one of their places has changed. */
export function findEdits({ edits, sent }: SentEdits): TextEdit[] | undefined {
  const found = edits.map((edit) => sent.findEdit(edit));
  return found.every((edit) => edit !== undefined) ? found : undefined;
}

/** What an edit of the flow changes in the tests, and what takes that back. */
export const BESIDE = StateEffect.define<{ readonly changes: ChangeSet; readonly inverse: ChangeSet }>();
export const besideUndo = invertedEffects.of(({ effects }) =>
  effects
    .filter((effect) => effect.is(BESIDE))
    .map(({ value: { changes, inverse } }) => BESIDE.of({ changes: inverse, inverse: changes })),
);
