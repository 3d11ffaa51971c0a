// What the promises of a LogStore are shown with: a store, a clock that stands still, and short words.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import type { AppendOptions, Claim, FollowOptions, Frame, LogStore } from '../../lib/store/log-store.ts';
import type { Where } from './snapshot-bench.ts';

export { refuses } from './snapshot-bench.ts';

/** Opens the store under test, again and again: the same folder means the same data. */
export type OpenLogs = (where: Where) => LogStore | Promise<LogStore>;

/** A new store for one promise. */
export interface LogBench {
  readonly store: LogStore;
  readonly clock: SimulatedClock;
  /** Another store on the same data; the same one when it keeps things in memory. */
  again(): Promise<LogStore>;
}

/** Sentence → what shows that it is kept. */
export type LogPromises = { readonly [sentence: string]: (bench: LogBench) => Promise<void> };

export const MINUTE = 60_000;

/** Opens a store in a new folder and cleans up behind `keep`, whatever it did. */
export async function withLogs(open: OpenLogs, keep: (bench: LogBench) => Promise<void>): Promise<void> {
  const where = { folder: mkdtempSync(join(tmpdir(), 'twinline-logs-')), clock: new SimulatedClock() };
  const opened: LogStore[] = [];
  const again = async () => {
    if (opened[0]?.durability === 'memory' && opened[0].name === 'memory') return opened[0];
    opened.push(await open(where));
    return opened.at(-1)!;
  };
  try {
    await keep({ store: await again(), clock: where.clock, again });
  } finally {
    for (const store of opened) await store.close();
    rmSync(where.folder, { recursive: true, force: true });
  }
}

/** A claim that lasts a minute. */
export function claim(clock: { now(): number }, fence = 1): Claim {
  return { fence, expiresAt: clock.now() + MINUTE };
}

/** Options of an append behind frame `expected`. */
export function behind(expected: number, clock: { now(): number }, more: Partial<AppendOptions> = {}): AppendOptions {
  return { ...claim(clock), expected, ...more };
}

/** A log with these frames, each in an append of its own, by fence 1. */
export async function filled(
  store: LogStore,
  log: string,
  { clock, texts }: { clock: { now(): number }; texts: readonly string[] },
) {
  assert.is((await store.open(log, claim(clock))).kind, 'opened');
  for (const [at, text] of texts.entries())
    assert.equal(await store.append(log, [text], behind(at, clock)), { kind: 'appended', last: at + 1 });
}

export function numbered(texts: readonly string[], from = 1): Frame[] {
  return texts.map((text, at) => ({ n: from + at, text }));
}

/** All frames of a log, read page by page. */
export async function readAll(store: LogStore, log: string, limit = 100): Promise<Frame[]> {
  const frames: Frame[] = [];
  for (;;) {
    const page = await store.read(log, { after: frames.at(-1)?.n ?? 0, limit });
    if (!page?.frames.length) return frames;
    frames.push(...page.frames);
  }
}

/** Follows until the log ends, or `enough` frames were seen. */
export async function followAll(
  store: LogStore,
  log: string,
  options: FollowOptions & { enough?: number } = {},
): Promise<Frame[]> {
  const { enough = Number.POSITIVE_INFINITY, ...how } = options;
  const frames: Frame[] = [];
  for await (const some of store.follow(log, how)) {
    frames.push(...some);
    if (frames.length >= enough) break;
  }
  return frames;
}
