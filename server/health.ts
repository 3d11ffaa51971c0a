// Whether the stores answer, known at any moment: nobody who asks for the server's health waits for a store that hangs.

import { type Clock, systemClock } from '../lib/clock.ts';

/** What can be asked whether it is there. */
export interface Pingable {
  ping(): Promise<void>;
}

export interface Health {
  /** Whether every store answers; resolves within {@link PATIENCE_MS}, never rejects. */
  connected(): Promise<boolean>;
  /** Whether the server is about to stop; set by whoever stops it. */
  draining: boolean;
}

export const PATIENCE_MS = 60;
const FRESH_MS = 250;
const ABANDON_MS = 1_000;

interface Probe {
  readonly at: number;
  readonly done: Promise<boolean>;
  result?: boolean;
}

/** Probes when asked. An answer counts for a moment, so that many who ask cost one ping; a late one counts as no. */
export function healthOf(stores: readonly Pingable[], clock: Clock = systemClock): Health {
  let last: Probe | undefined;

  const start = (): Probe => {
    const done = Promise.all(stores.map(async (store) => store.ping())).then(
      () => true,
      () => false,
    );
    const probe: Probe = { at: clock.now(), done };
    void done.then((result) => {
      probe.result = result;
    });
    return probe;
  };

  const connected = async (): Promise<boolean> => {
    const age = last ? clock.now() - last.at : Number.POSITIVE_INFINITY;
    const keep = last?.result === undefined ? ABANDON_MS : FRESH_MS;
    if (!last || age < 0 || age >= keep) last = start();
    if (last.result !== undefined) return last.result;
    const stop = new AbortController();
    const answer = await Promise.race([last.done, clock.wait(PATIENCE_MS, stop.signal).then(() => false)]);
    stop.abort();
    return answer;
  };
  return { connected, draining: false };
}
