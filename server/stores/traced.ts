// A span for each call of a store, so that a slow store can be told from slow code.

import { isTracing, markFailed, openSpan, type SpanOptions } from '../../lib/http/tracing.ts';
import type { Stores } from './stores.ts';

/** Probes of health are no work of callers. */
const UNTRACED = new Set(['ping']);

/** The same stores; where an SDK takes spans, every call is one, named `commit` or `insert domains`. */
export function tracedStores({ snapshots, documents }: Stores): Stores {
  if (!isTracing()) return { snapshots, documents };
  return { snapshots: tracedStore(snapshots), documents: tracedStore(documents) };
}

function tracedStore<S extends { readonly name: string }>(store: S): S {
  const wrapped = new Map<PropertyKey, unknown>();
  return new Proxy(store, {
    get(target, key) {
      const value = Reflect.get(target, key) as unknown;
      if (typeof value !== 'function' || typeof key !== 'string' || UNTRACED.has(key)) return value;
      if (!wrapped.has(key)) wrapped.set(key, traceCalls(target, key, value as Call));
      return wrapped.get(key);
    },
  });
}

type Call = (...args: unknown[]) => unknown;

function traceCalls(store: { readonly name: string }, operation: string, call: Call): Call {
  return (...args) => {
    const collection = (args[0] as { readonly name?: unknown } | null | undefined)?.name;
    const named = typeof collection === 'string' ? { 'db.collection.name': collection } : {};
    const attributes = { 'db.system.name': store.name, 'db.operation.name': operation, ...named };
    const options: SpanOptions = { way: 'out', attributes };
    return openSpan(typeof collection === 'string' ? `${operation} ${collection}` : operation, options, (span) => {
      const answer = call.apply(store, args);
      if (!(answer instanceof Promise)) {
        span.end();
        return answer;
      }
      const end = (error?: unknown) => {
        if (error !== undefined) markFailed(span, error);
        span.end();
      };
      answer.then(() => end(), end);
      return answer;
    });
  };
}
