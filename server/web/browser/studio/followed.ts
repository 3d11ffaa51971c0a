// Places of a text that was sent away, followed through what is typed until the answer comes, and after it.

import type { ChangeDesc, ChangeSet, Text } from '@codemirror/state';
import type { TextEdit } from '../../../../lib/flow/format/problem.ts';

/** A text as it was when it was sent. */
export interface SentText {
  readonly text: string;
  /** Whether it has become the text of now by edits; not once another text was loaded. */
  isCurrent(): boolean;
  /** Where a place of it is now, as an offset; undefined when it is not current. */
  findOffset(offset: number): number | undefined;
  /** Where a place of now was in it. */
  findSent(offset: number): number;
  /** The same of a line and a column, both 1-based. */
  findPlace(line: number, column: number): number | undefined;
  /** A change of it as it has to be made now; undefined when what it replaces was edited meanwhile. */
  findEdit(edit: TextEdit): TextEdit | undefined;
}

export interface FollowedText {
  /** The text has changed. */
  note(changes: ChangeSet): void;
  /** Another text takes its place: nothing of the one before can be found. */
  restart(): void;
  send(doc: Text): SentText;
}

/** A point in time of a text, with what was changed next. */
interface Moment {
  next?: { readonly changes: ChangeDesc; readonly moment: Moment };
}

export function followText(): FollowedText {
  // A text that was sent holds the moment of its sending, and so exactly the changes that came after it.
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
