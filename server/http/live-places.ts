// What stays open for long, streams of events and sockets: how much of it one client may have at a time.

import type { ServerResponse } from 'node:http';
import { SERVER_LIMITS } from '../config/limits.ts';
import { Refusal } from './errors.ts';
import { Answer, type LivePlaces } from './guard.ts';
import { type Client, type ReadClient, UNCOUNTED } from './middleware/client.ts';

export interface LivePlacesOptions {
  readonly readClient: ReadClient;
  /** Of one address (IPv6 by /64); a /48 has SERVER_LIMITS.networkShare times as many. */
  readonly perClient: number;
  /** Called with the address for each refusal. */
  readonly onRefused?: (address: string) => void;
}

/** Counts by the address that the rate limiter counts by. Exempt clients, known proxies and uncounted ones have no bound. */
export function livePlaces({ readClient, perClient, onRefused }: LivePlacesOptions): LivePlaces {
  const counts = new Map<string, number>();
  let open = 0;

  function give(names: readonly string[]): () => void {
    open++;
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      open--;
      for (const name of names) {
        const left = counts.get(name)! - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
      }
    };
  }

  return {
    get open() {
      return open;
    },
    take(req) {
      const client = readClient(req);
      const bounds = boundsOn(client, perClient);
      const isFull = bounds.some(([name, most]) => (counts.get(name) ?? 0) >= most);
      if (!isFull) return give(bounds.map(([name]) => name));
      onRefused?.(client.bucket);
      return undefined;
    },
    words: `This address has ${perClient} open streams and sockets, and may have no more. Close one, or try again later.`,
  };
}

function boundsOn({ bucket, network, exempt, proxy }: Client, perClient: number): readonly [string, number][] {
  if (exempt || proxy || bucket === UNCOUNTED) return [];
  const own: [string, number] = [bucket, perClient];
  return network === undefined ? [own] : [own, [network, perClient * SERVER_LIMITS.networkShare]];
}

const RETRY_SECONDS = '5';

/**
 * Takes a place for the request of an answer where places are counted, else none; gives what frees it. Throws a refusal with
 * status 429 when its client has as many as it may, before anything was sent.
 */
export function takeLivePlace(res: ServerResponse): () => void {
  if (!(res instanceof Answer) || !res.live) return free;
  const leave = res.live.take(res.req);
  if (leave) return leave;
  res.setHeader('Retry-After', RETRY_SECONDS);
  throw new Refusal('too-many-requests', res.live.words);
}

const free = () => {};
