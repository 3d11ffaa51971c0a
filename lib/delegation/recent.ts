// A map that keeps the entries used last.

export interface Recent<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  readonly size: number;
}

/** At most `limit` entries; the one that was not used for the longest time makes room. */
export function recent<V>(limit: number): Recent<V> {
  const entries = new Map<string, V>();
  const set = (key: string, value: V): void => {
    entries.delete(key);
    entries.set(key, value);
    if (entries.size > limit) entries.delete(entries.keys().next().value!);
  };
  const get = (key: string): V | undefined => {
    const value = entries.get(key);
    if (value !== undefined) set(key, value);
    return value;
  };
  return {
    get,
    set,
    delete: (key) => void entries.delete(key),
    get size() {
      return entries.size;
    },
  };
}
