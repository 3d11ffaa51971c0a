// What the promises of a LogStore are shown with: a store, a clock that stands still, and short words.

import type { AppendOptions, Claim, FollowOptions, Frame, LogStore } from '../../store/log-store.ts';
import * as assert from '../assert.ts';
import { type Bench, type Open, type Promises, withBench } from '../bench.ts';

export { refuses } from '../calls.ts';

export type OpenLogs = Open<LogStore>;
export type LogPromises = Promises<LogStore>;

export const MINUTE = 60_000;

/** What is kept in memory is opened once. */
export function withLogs(open: OpenLogs, keep: (bench: Bench<LogStore>) => Promise<void>): Promise<void> {
  return withBench(open, ({ store, clock, again }) =>
    keep({ store, clock, again: store.name === 'memory' ? async () => store : again }),
  );
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
