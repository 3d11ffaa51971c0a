// The changes that wait in documents, found in the order in which they happened.

import type { MongoKind, Row, Waiting } from './rows.ts';

/** A change that waits, and where. */
export interface Found {
  readonly kind: MongoKind;
  readonly id: string;
  readonly change: Waiting;
  /** The row's stamp, if the row is nothing more than its removal, and this its last change. */
  readonly lastOf: number | undefined;
  /** Its place among all: never below that of an earlier change of the same document. */
  readonly place: number;
}

/** Changes of all kinds in order: complete up to the place of the last one, though there may be more behind. */
export interface Batch {
  readonly found: readonly Found[];
  readonly more: boolean;
}

interface Look {
  readonly found: readonly Found[];
  /** Below and at this place nothing was left out. */
  readonly until: number;
}

/** Documents of one kind in one look. */
const ROWS = 500;

/**
 * The next changes to relay. One look at several collections may miss a write and see one that came after it; so it
 * looks until a look finds nothing new up to the last place of the first. Then whatever came before anything that was
 * found has been found too, since it was there before the look that found it no more than again.
 */
export async function nextBatch(kinds: readonly MongoKind[]): Promise<Batch> {
  const first = await lookAtAll(kinds);
  let until = Math.min(first.until, Math.max(...first.found.map(({ place }) => place)));
  let seen = upTo(until, first.found);
  while (seen.length) {
    const again = await lookAtAll(kinds);
    until = Math.min(until, again.until);
    const known = new Set(seen.map(({ change }) => change.x));
    seen = upTo(until, again.found);
    if (seen.every(({ change }) => known.has(change.x))) break;
  }
  return { found: seen.sort((a, b) => a.place - b.place), more: Number.isFinite(first.until) };
}

function upTo(until: number, found: readonly Found[]): Found[] {
  return found.filter(({ place }) => place <= until);
}

async function lookAtAll(kinds: readonly MongoKind[]): Promise<Look> {
  const looks = await Promise.all(kinds.map(lookAt));
  return { found: looks.flatMap(({ found }) => found), until: Math.min(...looks.map(({ until }) => until)) };
}

async function lookAt(kind: MongoKind): Promise<Look> {
  const options = { projection: { v: 1, t: 1, out: 1 }, sort: { 'out.t': 1 }, limit: ROWS } as const;
  const rows = await kind.rows.find({ 'out.t': { $gt: 0 } }, options).toArray();
  const last = rows.length === ROWS ? rows.at(-1)!.out! : undefined;
  const until = last ? Math.min(...last.map(({ t }) => t)) : Number.POSITIVE_INFINITY;
  return { found: rows.flatMap((row) => inRow(kind, row)), until };
}

function inRow(kind: MongoKind, { _id, v, t, out = [] }: Row): Found[] {
  let place = 0;
  return out.map((change, at) => {
    place = Math.max(place, change.t);
    const lastOf = v === 0 && at === out.length - 1 ? t : undefined;
    return { kind, id: String(_id), change, lastOf, place };
  });
}
