// A map with a bound, which forgets what nobody has asked for.

/** Of all that was put in, the `max` entries that were asked for last. A Map, for koa-ratelimit insists on one. */
export class LastSeenMap<V> extends Map<string, V> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  /** Looks without asking for it. */
  peek(key: string): V | undefined {
    return super.get(key);
  }

  override get(key: string): V | undefined {
    const value = super.get(key);
    if (value === undefined) return undefined;
    super.delete(key);
    super.set(key, value);
    return value;
  }

  override set(key: string, value: V): this {
    if (this.size >= this.#max && !this.has(key)) super.delete(super.keys().next().value!);
    return super.set(key, value);
  }
}
