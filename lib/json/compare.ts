// JSON values compared: the canonical form (RFC 8785), equality in linear time, and differences as JSON Patch operations
// (RFC 6902) within a budget: never more work than bytes allow.

import { createHash } from 'node:crypto';
import { isObject } from '../given.ts';
import type { Json, JsonObject } from './json.ts';
import { escapeStep } from './reader.ts';

/** Members sorted by UTF-16 code units, no white space, numbers and strings as ECMAScript writes them. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const object = value as { readonly [name: string]: Json | undefined };
  const members = Object.keys(object)
    .filter((name) => object[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name]!)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 of the canonical form, in lower-case hexadecimal digits. */
export function canonicalHash(value: Json): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** Numbers for values: equal values get the same one. Each list and object is walked once; the order of members does not count. */
export class Identities {
  readonly #texts = new Map<string, number>();
  readonly #scalars = new Map<Json, number>();
  readonly #containers = new WeakMap<object, number>();
  #next = 0;
  #steps = 0;

  identify(value: Json): number {
    this.#steps++;
    if (typeof value !== 'object' || value === null) return this.#idIn(this.#scalars, value);
    const known = this.#containers.get(value);
    if (known !== undefined) return known;
    const id = this.#idIn(
      this.#texts,
      Array.isArray(value) ? this.#listText(value) : this.#objectText(value as JsonObject),
    );
    this.#containers.set(value, id);
    return id;
  }

  /** Values looked at since the last time. */
  takeSteps(): number {
    const steps = this.#steps;
    this.#steps = 0;
    return steps;
  }

  #listText(list: readonly Json[]): string {
    return `[${list.map((item) => this.identify(item)).join()}`;
  }

  #objectText(object: JsonObject): string {
    const members = Object.entries(object).map(
      ([name, value]) => `${this.#idIn(this.#scalars, name)}:${this.identify(value)}`,
    );
    return `{${members.sort().join()}`;
  }

  #idIn<Key>(ids: Map<Key, number>, key: Key): number {
    const known = ids.get(key);
    if (known !== undefined) return known;
    ids.set(key, ++this.#next);
    return this.#next;
  }
}

export interface DiffBudget {
  /** Pairs of items of one list that are compared to find the shortest way; a larger list is replaced as a whole. */
  readonly cellsPerList: number;
  /** The same for all lists together. */
  readonly cells: number;
  /** Characters of all paths; where they would be more, a value is replaced as a whole. */
  readonly pathChars: number;
}

export interface Difference {
  readonly operations: readonly (Operation & JsonObject)[];
  /** Values that were looked at and pairs that were compared, for tests. */
  readonly steps: number;
}

type Operation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/** Operations that make `after` of `before`: the fewest for lists within the budget. Both values are plain JSON. */
export function diffJson(before: Json, after: Json, budget: DiffBudget): Difference {
  const diff = new Diff(budget);
  diff.compare(before, after, '');
  return { operations: diff.operations as readonly (Operation & JsonObject)[], steps: diff.steps };
}

class Diff {
  readonly operations: Operation[] = [];
  steps = 0;
  readonly #identities = new Identities();
  readonly #cellsPerList: number;
  #cellsLeft: number;
  #charsLeft: number;

  constructor({ cellsPerList, cells, pathChars }: DiffBudget) {
    this.#cellsPerList = cellsPerList;
    this.#cellsLeft = cells;
    this.#charsLeft = pathChars;
  }

  compare(before: Json, after: Json, path: string): void {
    this.steps++;
    if (before === after) return;
    if (Array.isArray(before) && Array.isArray(after)) this.#compareLists(before, after, path);
    else if (isObject(before) && isObject(after)) this.#compareObjects(before, after, path);
    else this.#push({ op: 'replace', path, value: after });
  }

  #compareObjects(before: JsonObject, after: JsonObject, path: string): void {
    const [old, present] = [Object.keys(before), Object.keys(after)];
    if (path.length * (old.length + present.length) > this.#charsLeft) {
      this.#replaceWhole(before, after, path);
      return;
    }
    const at = (name: string) => `${path}/${escapeStep(name)}`;
    for (const name of old) if (!Object.hasOwn(after, name)) this.#push({ op: 'remove', path: at(name) });
    for (const name of present)
      if (!Object.hasOwn(before, name)) this.#push({ op: 'add', path: at(name), value: after[name]! });
    for (const name of old) if (Object.hasOwn(after, name)) this.compare(before[name]!, after[name]!, at(name));
  }

  #compareLists(before: readonly Json[], after: readonly Json[], path: string): void {
    const [old, present] = [this.#identify(before), this.#identify(after)];
    let [n, m] = [old.length, present.length];
    while (n > 0 && m > 0 && old[n - 1] === present[m - 1]) {
      n--;
      m--;
    }
    let from = 0;
    // The shortest way from the beginning is preferred where it can be afforded; it may differ among equally short ones.
    if (n * m > this.#cellsPerList) while (from < n && from < m && old[from] === present[from]) from++;
    const cells = (n - from) * (m - from);
    if (cells > this.#cellsPerList || cells > this.#cellsLeft || path.length * (n + m - 2 * from) > this.#charsLeft) {
      this.#push({ op: 'replace', path, value: after as Json });
      return;
    }
    this.#cellsLeft -= cells;
    this.steps += cells;
    const edits = findEdits(old.slice(from, n), present.slice(from, m));
    this.#applyEdits(edits, { path, from, before, after });
  }

  #applyEdits(
    edits: readonly ListEdit[],
    { path, from, before, after }: { path: string; from: number; before: readonly Json[]; after: readonly Json[] },
  ): void {
    let shift = from;
    for (const { kind, old, present } of edits) {
      const index = old + shift;
      if (kind === 'remove') {
        this.#push({ op: 'remove', path: `${path}/${index}` });
        shift--;
      } else if (kind === 'add') {
        const isEnd = index + 1 >= before.length + shift - from;
        this.#push({ op: 'add', path: `${path}/${isEnd ? '-' : index + 1}`, value: after[from + present]! });
        shift++;
      } else this.compare(before[from + old]!, after[from + present]!, `${path}/${index}`);
    }
  }

  #replaceWhole(before: Json, after: Json, path: string): void {
    const [old, present] = this.#identify([before, after]);
    if (old !== present) this.#push({ op: 'replace', path, value: after });
  }

  #identify(values: readonly Json[]): number[] {
    const ids = values.map((value) => this.#identities.identify(value));
    this.steps += this.#identities.takeSteps();
    return ids;
  }

  #push(operation: Operation): void {
    this.#charsLeft -= operation.path.length;
    this.operations.push(operation);
  }
}

/** One step from one list to the other; `old` and `present` are the places before it, -1 before the first item. */
interface ListEdit {
  readonly kind: 'remove' | 'add' | 'replace';
  readonly old: number;
  readonly present: number;
}

// Levenshtein's distance; of equally short ways the one that removes first, then the one that adds.
function findEdits(old: readonly number[], present: readonly number[]): ListEdit[] {
  const width = present.length + 1;
  const costs = new Uint32Array((old.length + 1) * width);
  for (let i = 0; i <= old.length; i++)
    for (let j = 0; j < width; j++) {
      const at = i * width + j;
      if (i === 0 || j === 0) costs[at] = i + j;
      else if (old[i - 1] === present[j - 1]) costs[at] = costs[at - width - 1]!;
      else costs[at] = 1 + Math.min(costs[at - width]!, costs[at - 1]!, costs[at - width - 1]!);
    }
  const edits: ListEdit[] = [];
  for (let [i, j] = [old.length, present.length]; i > 0 || j > 0; ) {
    const at = i * width + j;
    const least = costs[at]! - 1;
    if (i > 0 && j > 0 && old[i - 1] === present[j - 1]) {
      i--;
      j--;
    } else if (i > 0 && costs[at - width] === least) {
      edits.push({ kind: 'remove', old: i - 1, present: j - 1 });
      i--;
    } else if (j > 0 && costs[at - 1] === least) {
      edits.push({ kind: 'add', old: i - 1, present: j - 1 });
      j--;
    } else {
      edits.push({ kind: 'replace', old: i - 1, present: j - 1 });
      i--;
      j--;
    }
  }
  return edits.reverse();
}
