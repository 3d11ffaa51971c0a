// The bounded memory of koa-ratelimit: it insists on a Map, and this one forgets what was asked for longest ago.

import { LRUCache } from 'lru-cache';

/**
 * Of all that was put in, the `max` entries that were asked for last. Every call takes the same time, however many
 * entries there are: a plain Map that is put in order by `delete` and `set` must skip the holes that these leave.
 */
export class LastSeenMap<V extends object> extends Map<string, V> {
  readonly #entries: LRUCache<string, V>;

  constructor(max: number) {
    super();
    this.#entries = new LRUCache({ max });
  }

  override get size(): number {
    return this.#entries.size;
  }

  override get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  override has(key: string): boolean {
    return this.#entries.has(key);
  }

  override set(key: string, value: V): this {
    this.#entries.set(key, value);
    return this;
  }

  override delete(key: string): boolean {
    return this.#entries.delete(key);
  }

  override clear(): void {
    this.#entries.clear();
  }

  override keys(): MapIterator<string> {
    return this.#entries.keys() as MapIterator<string>;
  }

  override values(): MapIterator<V> {
    return this.#entries.values() as MapIterator<V>;
  }

  override entries(): MapIterator<[string, V]> {
    return this.#entries.entries() as MapIterator<[string, V]>;
  }

  override [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }

  override forEach(look: (value: V, key: string, map: Map<string, V>) => void): void {
    for (const [key, value] of this.entries()) look(value, key, this);
  }
}
