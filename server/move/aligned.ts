// Two lists in one order, side by side: what has to be done to make the second like the first, and whether they are alike. Memory
// holds a page of each.

import { createHash } from 'node:crypto';

/** One list in two stores. */
export interface Lists<T> {
  source(): AsyncIterable<T>;
  target(): AsyncIterable<T>;
  /** The order of both. */
  compare(a: T, b: T): number;
  /** All of an item: two with the same text are alike. */
  text(item: T): string;
  /** In the target. */
  insert(items: readonly T[]): Promise<void>;
  remove(items: readonly T[]): Promise<void>;
}

/** How many there are, and the hash of all of them. */
export interface Summary {
  readonly count: number;
  /** 16 hex digits. */
  readonly hash: string;
}

/** What the comparison of one kind says. */
export interface Compared {
  readonly source: Summary;
  readonly target: Summary;
}

const BATCH = 64;
const BATCH_CHARS = 1_048_576;

/**
 * Makes the target like the source. What differs or is too much goes first, so that a unique value is free for the document that has
 * it now. Killed anywhere in it, the next call goes on.
 */
export async function align<T>(lists: Lists<T>, onItem: () => void): Promise<void> {
  for await (const batch of batches(excess(lists), lists)) await lists.remove(batch);
  for await (const batch of batches(missing(lists, onItem), lists)) await lists.insert(batch);
}

async function* excess<T>(lists: Lists<T>): AsyncGenerator<T> {
  // At the first time there is nothing there: then the source is not read for it.
  for await (const _ of lists.target()) {
    for await (const { source, target } of sideBySide(lists))
      if (target !== undefined && !areAlike(lists, source, target)) yield target;
    return;
  }
}

async function* missing<T>(lists: Lists<T>, onItem: () => void): AsyncGenerator<T> {
  for await (const { source, target } of sideBySide(lists)) {
    if (source === undefined) continue;
    onItem();
    if (target === undefined) yield source;
  }
}

function areAlike<T>({ text }: Lists<T>, a: T | undefined, b: T | undefined): boolean {
  return a !== undefined && b !== undefined && text(a) === text(b);
}

/** Reads both lists to their ends. */
export async function compareLists<T>(lists: Lists<T>, onItem: () => void): Promise<Compared> {
  const [source, target] = [summarize(), summarize()];
  for await (const pair of sideBySide(lists)) {
    onItem();
    if (pair.source !== undefined) source.add(lists.text(pair.source));
    if (pair.target !== undefined) target.add(lists.text(pair.target));
  }
  return { source: source.read(), target: target.read() };
}

/** Counts texts in their order. */
export function summarize() {
  const hash = createHash('sha256');
  let count = 0;
  return {
    add(text: string): void {
      hash.update(text).update('\n');
      count++;
    },
    read: (): Summary => ({ count, hash: hash.copy().digest('hex').slice(0, 16) }),
  };
}

interface Pair<T> {
  readonly source: T | undefined;
  readonly target: T | undefined;
}

/** Each item with the one in the same place of the other list, if there is one. */
async function* sideBySide<T>({ source, target, compare }: Lists<T>): AsyncGenerator<Pair<T>> {
  const [ours, theirs] = [source()[Symbol.asyncIterator](), target()[Symbol.asyncIterator]()];
  let [a, b] = [await ours.next(), await theirs.next()];
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : compare(a.value, b.value);
    yield { source: order <= 0 ? a.value : undefined, target: order >= 0 ? b.value : undefined };
    if (order <= 0) a = await ours.next();
    if (order >= 0) b = await theirs.next();
  }
}

async function* batches<T>(items: AsyncIterable<T>, { text }: Lists<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  let chars = 0;
  for await (const item of items) {
    batch.push(item);
    chars += text(item).length;
    if (batch.length < BATCH && chars < BATCH_CHARS) continue;
    yield batch;
    [batch, chars] = [[], 0];
  }
  if (batch.length) yield batch;
}
