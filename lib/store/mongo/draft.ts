// What a declaration changes in the registry, step by step: pure, from entries to entries.

import { type Index, sameIndex } from '../index/kinds.ts';
import type { IndexEntry, KindEntry } from './registry.ts';

/** A declaration that has been checked. */
export interface Wanted {
  readonly name: string;
  readonly indexes: readonly Index[];
}

/** Milliseconds that a retired index is still written: far longer than any instance goes without reading the registry. */
const RETIRED_MS = 3_600_000;

/** Whether all of it is declared already. */
export function isSatisfied(kinds: readonly KindEntry[], wanted: readonly Wanted[]): boolean {
  const ready = withoutBuilding(kinds);
  return wanted.every(({ name, indexes }) => {
    const kind = ready.find((one) => one.name === name);
    return kind !== undefined && missing(kind, indexes).length === 0;
  });
}

/** What is there, without what a declaration that failed or was killed had begun. */
export function withoutBuilding(kinds: readonly KindEntry[]): KindEntry[] {
  return kinds
    .filter(({ declared }) => declared)
    .map((kind) => ({ ...kind, indexes: kind.indexes.filter(({ state }) => state !== 'building') }));
}

/** With everything that is missing as being built, each kind with something new in a new epoch. */
export function announced(kinds: readonly KindEntry[], wanted: readonly Wanted[]): KindEntry[] {
  const drafts = new Map(withoutBuilding(kinds).map((kind) => [kind.name, kind]));
  for (const { name, indexes } of wanted) {
    const kind = drafts.get(name) ?? { name, declared: false, epoch: 0, last: 0, indexes: [] };
    const added = missing(kind, indexes).map(({ name, fields, unique }, at): IndexEntry => {
      return { name, fields, unique, field: `${name}_${kind.last + 1 + at}`, state: 'building' };
    });
    // A kind that is named twice: the later declaration of an index counts.
    const kept = kind.indexes.filter(
      ({ state, name }) => state !== 'building' || !added.some((one) => one.name === name),
    );
    if (added.length || !kind.declared) {
      const epoch = kinds.find((one) => one.name === name)?.epoch ?? 0;
      drafts.set(name, { ...kind, epoch: epoch + 1, last: kind.last + added.length, indexes: [...kept, ...added] });
    }
  }
  return [...drafts.values()];
}

/** With everything that was being built ready, and what it replaces retired. */
export function published(kinds: readonly KindEntry[], now: number): KindEntry[] {
  return kinds.map((kind) => {
    const built = new Set(kind.indexes.filter(({ state }) => state === 'building').map(({ name }) => name));
    const kept = kind.indexes.filter(({ since = now }) => now - since < RETIRED_MS);
    const indexes = kept.map((index): IndexEntry => {
      if (index.state === 'building') return { ...index, state: 'ready' };
      return index.state === 'ready' && built.has(index.name) ? { ...index, state: 'retired', since: now } : index;
    });
    return { ...kind, declared: true, indexes };
  });
}

function missing({ indexes: known }: KindEntry, wanted: readonly Index[]): Index[] {
  return wanted.filter((index) => {
    const now = known.findLast(({ name, state }) => name === index.name && state !== 'retired');
    return !now || !sameIndex(now, index);
  });
}
