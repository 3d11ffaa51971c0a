// Equality of JSON values in linear time: each value gets a number, and equal values get the same one.

import type { Json, JsonObject } from '../store/store.ts';

/** Numbers for values. Each list and object is walked once; the order of members does not count. */
export class Identities {
  readonly #texts = new Map<string, number>();
  readonly #scalars = new Map<Json, number>();
  readonly #containers = new WeakMap<object, number>();
  #next = 0;
  #steps = 0;

  of(value: Json): number {
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
    return `[${list.map((item) => this.of(item)).join()}`;
  }

  #objectText(object: JsonObject): string {
    const members = Object.entries(object).map(
      ([name, value]) => `${this.#idIn(this.#scalars, name)}:${this.of(value)}`,
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
