// Whether the stores answer, known at any moment: a request for the server's health never waits for a store that hangs.

import { type Clock, systemClock } from '../../lib/clock.ts';
import { gauge } from '../telemetry/metrics.ts';

/** A store as health sees it. */
export interface Watched {
  /** What it keeps. */
  readonly keeps: 'sessions' | 'documents';
  /** What it is, such as `lmdb` or `redis`. */
  readonly kind: string;
  ping(): Promise<void>;
  /** Rejects while it refuses writes. @default it is not asked */
  takesWrites?(): Promise<void>;
  /** When it last failed somebody, by `clock.monotonic`. @default it is not known to fail */
  failedAt?(): number | undefined;
}

/**
 * Why a store counts as away: it refused the connection, cut it, did not answer in time, answered with an error, refuses writes
 * while it answers questions, as on a full disk, or its files are damaged, which only a start on sound ones ends.
 */
export const AWAY_REASONS = ['refused', 'cut', 'no-answer', 'error', 'refuses-writes', 'damaged'] as const;
export type AwayReason = (typeof AWAY_REASONS)[number];

export interface StoreHealth {
  readonly keeps: Watched['keeps'];
  readonly kind: string;
  /** Missing while the store answers. */
  readonly away?: AwayReason;
}

export interface Health {
  /**
   * Every store as it answers at this moment; resolves within {@link PATIENCE_MS} of an event loop that is not late, never rejects.
   * An answer that is late once makes it away, so this is for people.
   */
  stores(): Promise<readonly StoreHealth[]>;
  /**
   * The same, for what acts on it: a store is away when it has failed somebody a moment ago and still fails, or when it has
   * not answered well for {@link FAILING_MS}. Damage and refused writes count at once.
   */
  judgeStores(): Promise<readonly StoreHealth[]>;
  /** Whether the server is about to stop; set by the code that stops it. */
  draining: boolean;
}

export interface HealthOptions {
  readonly clock?: Clock;
  /** Called when {@link Health.judgeStores} finds that a store went away, and that it is back. */
  readonly onChange?: (store: StoreHealth) => void;
}

export const PATIENCE_MS = 60;
/** Stores are shared: all instances that call one away at once leave their callers to the pages of a balancer. */
export const FAILING_MS = 2_000;
/** What failed so long ago still tells that a store which does not answer now is away. */
const FAILED_MS = 10_000;
// A timer of a late loop fires before the answers that came meanwhile are read: between parts they are.
const PATIENCE_PARTS = 5;
const FRESH_MS = 250;
const ABANDON_MS = 1_000;
/** How many times as long as a late answer took the next one may take. */
const PATIENCE_TIMES = 4;

/**
 * Probes when asked. An answer counts for a moment, so that many who ask cost one ping. While it is late the store counts as away,
 * unless it was as late before and did answer: one that is far away is slow, not away. The lateness of this process's own event
 * loop is not counted: an overloaded server does not call its stores away.
 */
export function watchHealth(stores: readonly Watched[], { clock = systemClock, onChange }: HealthOptions = {}): Health {
  const probes = stores.map((store) => {
    const { keeps, kind } = store;
    const { probe, failingSince } = prober(store, clock);
    const describe = (away: AwayReason | undefined): StoreHealth => ({ keeps, kind, ...(away && { away }) });
    let before: AwayReason | undefined;

    function isSure(away: AwayReason): boolean {
      if (away === 'damaged' || away === 'refuses-writes') return true;
      const now = clock.monotonic();
      const failedAt = store.failedAt?.();
      return now - failingSince() >= FAILING_MS || (failedAt !== undefined && now - failedAt < FAILED_MS);
    }

    return {
      sample: async () => describe(await probe()),
      async judge() {
        const answer = await probe();
        const away = answer && isSure(answer) ? answer : undefined;
        const now = describe(away);
        if ((away === undefined) !== (before === undefined)) onChange?.(now);
        before = away;
        return now;
      },
    };
  });
  return {
    stores: () => Promise.all(probes.map(({ sample }) => sample())),
    judgeStores: () => Promise.all(probes.map(({ judge }) => judge())),
    draining: false,
  };
}

interface Probe {
  /** By `clock.monotonic`. */
  readonly at: number;
  readonly done: Promise<AwayReason | undefined>;
  ended: boolean;
  /** Somebody has waited for it in vain. */
  isLate: boolean;
}

/** How a late probe ended, and after how many milliseconds. */
interface LateAnswer {
  readonly away: AwayReason | undefined;
  readonly tookMs: number;
}

interface Prober {
  /** How the store fails now; undefined while it does not. */
  probe(): Promise<AwayReason | undefined>;
  /** When the first probe began of those that have failed, or have no answer yet, since the last good answer. */
  failingSince(): number;
}

function prober(store: Watched, clock: Clock): Prober {
  let last: Probe | undefined;
  /** Undefined behind a good answer. */
  let failing: number | undefined;
  /** Of the probe before, if that was late and got one. */
  let heard: LateAnswer | undefined;

  const start = (): Probe => {
    const probe: Probe = { at: clock.monotonic(), done: askStore(store), ended: false, isLate: false };
    failing ??= probe.at;
    void probe.done.then((away) => {
      probe.ended = true;
      if (away === undefined && clock.monotonic() - probe.at < ABANDON_MS) failing = undefined;
      if (probe === last) heard = probe.isLate ? { away, tookMs: clock.monotonic() - probe.at } : undefined;
    });
    return probe;
  };

  // A store whose last answer was late may be late again: else it would be away and there by turns.
  const judgeLate = (probe: Probe): AwayReason | undefined => {
    probe.isLate = true;
    const patienceMs = heard ? Math.min(heard.tookMs * PATIENCE_TIMES, ABANDON_MS) : 0;
    return clock.monotonic() - probe.at < patienceMs ? heard!.away : 'no-answer';
  };

  const probe = async () => {
    const age = last ? clock.monotonic() - last.at : Number.POSITIVE_INFINITY;
    if (!last || age >= (last.ended ? FRESH_MS : ABANDON_MS)) {
      if (last && !last.ended) heard = undefined;
      last = start();
    }
    const current = last;
    if (current.ended) return current.done;
    const stop = new AbortController();
    const isLate = await Promise.race([
      current.done.then(() => false),
      waitInParts(clock, stop.signal).then(() => true),
    ]);
    stop.abort();
    return isLate ? judgeLate(current) : current.done;
  };
  return { probe, failingSince: () => failing ?? clock.monotonic() };
}

/** However late the loop is, each part lasts one turn of it at least, in which answers are read. */
async function waitInParts(clock: Clock, signal: AbortSignal): Promise<void> {
  for (let part = 0; part < PATIENCE_PARTS && !signal.aborted; part++)
    await clock.wait(PATIENCE_MS / PATIENCE_PARTS, signal);
}

async function askStore(store: Watched): Promise<AwayReason | undefined> {
  try {
    await store.ping();
  } catch (error) {
    return findReason(error);
  }
  return store.takesWrites?.().then(
    () => undefined,
    () => 'refuses-writes',
  );
}

/** Lines of the metrics of stores. */
export function storeMetrics(stores: readonly StoreHealth[]): string[] {
  const samples = (read: (store: StoreHealth) => boolean) =>
    new Map(stores.map((store) => [`store="${store.keeps}",kind="${store.kind}"`, read(store) ? 1 : 0]));
  return [
    ...gauge(
      'twinline_store_up',
      '1 while a store is available, 0 while it is away.',
      samples(({ away }) => !away),
    ),
    ...gauge(
      'twinline_store_damaged',
      '1 after damage was found in the files of a store, until a start on sound files.',
      samples(({ away }) => away === 'damaged'),
    ),
  ];
}

const REASONS: Readonly<Record<string, AwayReason>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'refused',
  EHOSTUNREACH: 'refused',
  ECONNRESET: 'cut',
  EPIPE: 'cut',
  ETIMEDOUT: 'no-answer',
  ERR_TIMEOUT: 'no-answer',
};

const DEPTH_MAX = 8;

/** The class of what a store threw, from the codes of its causes; never its words, which may hold an address. */
export function findReason(thrown: unknown): AwayReason {
  let error = thrown as { code?: unknown; message?: unknown; cause?: unknown; reason?: unknown } | undefined;
  for (let depth = 0; error && typeof error === 'object' && depth < DEPTH_MAX; depth++) {
    const { code, message, reason } = error;
    if (reason === 'damaged') return reason;
    if (typeof code === 'string' && Object.hasOwn(REASONS, code)) return REASONS[code]!;
    // Drivers wrap the system's error in one of their own that only quotes it.
    const quoted = typeof message === 'string' ? /\bE[A-Z]{4,}\b/.exec(message)?.[0] : undefined;
    if (quoted !== undefined && Object.hasOwn(REASONS, quoted)) return REASONS[quoted]!;
    if (typeof message === 'string') {
      if (/timed? ?out/i.test(message)) return 'no-answer';
      if (/not connected|connection/i.test(message)) return 'cut';
    }
    error = error.cause as typeof error;
  }
  return 'error';
}
