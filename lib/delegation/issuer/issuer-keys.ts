// The keys of issuers that are no did:key: found by method, kept for a while, in bounded time, number and space.

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock.ts';
import { DELEGATION_LIMITS } from '../limits.ts';
import type { IssuerKeys } from '../proof/claim.ts';
import { didMethod } from '../proof/principal.ts';

/**
 * Finds the keys that a DID may sign with, each as did:key. Rejects when it cannot; `signal` aborts when the time is over.
 * It must refuse private addresses itself: the host of a did:web is the sender's choice.
 */
export type ResolveKeys = (did: string, signal: AbortSignal) => Promise<readonly string[]>;

interface Known {
  readonly keys: Promise<readonly string[] | undefined>;
  /** Milliseconds since 1970 until which it counts; Infinity while they are looked for. */
  until: number;
}

/** Asks once however many ask at the same time; remembers failures for half a minute, so that no host is flooded. */
export function issuerKeys(methods: { readonly [method: string]: ResolveKeys }, clock: Clock): IssuerKeys {
  const known = new LRUCache<string, Known>({ max: DELEGATION_LIMITS.issuerKeysKept });
  let running = 0;

  const look = async (resolve: ResolveKeys, did: string): Promise<readonly string[] | undefined> => {
    const over = new AbortController();
    const late = clock.wait(DELEGATION_LIMITS.issuerKeysMs, over.signal).then(() => undefined);
    try {
      return (await Promise.race([resolve(did, over.signal), late]))?.slice(0, DELEGATION_LIMITS.keysPerIssuer);
    } catch {
      return undefined;
    } finally {
      over.abort();
    }
  };

  return async (did) => {
    const resolve = Object.hasOwn(methods, didMethod(did)) ? methods[didMethod(did)] : undefined;
    const before = known.get(did);
    if (before && before.until > clock.now()) return before.keys;
    if (!resolve || running >= DELEGATION_LIMITS.issuersAtOnce) return undefined;
    running++;
    const entry: Known = { keys: look(resolve, did), until: Infinity };
    known.set(did, entry);
    const keys = await entry.keys;
    running--;
    entry.until = clock.now() + (keys ? DELEGATION_LIMITS.issuerKeysFreshMs : DELEGATION_LIMITS.issuerKeysFailedMs);
    return keys;
  };
}
