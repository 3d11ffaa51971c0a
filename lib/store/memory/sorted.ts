// A sorted list in chunks: adding to 200,000 items moves a few hundred, not all.

const CHUNK_MAX = 512;

/** Ordered items without duplicates. Do not change the list while iterating over it. */
export interface SortedList<T> {
  add(item: T): void;
  /** No effect when there is no equal item. */
  delete(item: T): void;
  /** Items in ascending order, starting at `from` (default: all). */
  ascend(from?: T): Iterable<T>;
  /** Items below `below`, in descending order. */
  descend(below: T): Iterable<T>;
}

/** An empty list, ordered by `compare`. */
export function sortedList<T>(compare: (a: T, b: T) => number): SortedList<T> {
  const chunks: T[][] = [];

  // Where `item` is or belongs: the first chunk that does not end below it, and the index inside.
  function locate(item: T): { at: number; chunk: T[]; place: number } {
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const chunk = chunks[middle]!;
      if (compare(chunk[chunk.length - 1]!, item) < 0) low = middle + 1;
      else high = middle;
    }
    const chunk = chunks[low] ?? [];
    return { at: low, chunk, place: lowerBound(chunk, item, compare) };
  }

  return {
    add(item) {
      const { at, place } = locate(item);
      const last = chunks.at(-1);
      if (at < chunks.length) insert(chunks, at, place, item);
      else if (last) insert(chunks, chunks.length - 1, last.length, item);
      else chunks.push([item]);
    },
    delete(item) {
      const { at, chunk, place } = locate(item);
      if (place >= chunk.length || compare(chunk[place]!, item) !== 0) return;
      chunk.splice(place, 1);
      if (chunk.length === 0) chunks.splice(at, 1);
    },
    *ascend(from) {
      const start = from === undefined ? { at: 0, place: 0 } : locate(from);
      for (let at = start.at, place = start.place; at < chunks.length; at++, place = 0)
        for (const chunk = chunks[at]!; place < chunk.length; place++) yield chunk[place]!;
    },
    *descend(below) {
      const start = locate(below);
      for (let at = start.at, place = start.place - 1; at >= 0; at--, place = (chunks[at]?.length ?? 0) - 1)
        for (const chunk = chunks[at] ?? []; place >= 0; place--) yield chunk[place]!;
    },
  };
}

function lowerBound<T>(chunk: readonly T[], item: T, compare: (a: T, b: T) => number): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(chunk[middle]!, item) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insert<T>(chunks: T[][], at: number, place: number, item: T): void {
  const chunk = chunks[at]!;
  chunk.splice(place, 0, item);
  if (chunk.length > CHUNK_MAX) chunks.splice(at + 1, 0, chunk.splice(CHUNK_MAX / 2));
}

/** Compares strings by code point, as their UTF-8 bytes compare, and not by UTF-16 unit as `<` does. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** An entry ordered by time, then by key. */
export interface Timed {
  readonly at: number;
  readonly key: string;
}

export function byTime(a: Timed, b: Timed): number {
  return a.at - b.at || compareText(a.key, b.key);
}

// Surrogates encode code points above all others, although higher code units exist.
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
