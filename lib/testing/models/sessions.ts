// Random calls on a SnapshotStore, compared with a plain map that obeys the same rules.

import fc from 'fast-check';
import type { SimulatedClock } from '../../clock.ts';
import type { SessionCommit, SnapshotStore, StoredSession } from '../../store/store.ts';
import * as assert from '../assert.ts';
import { type RandomOptions, replay } from '../random.ts';

interface Next {
  readonly record: string;
  readonly ended: boolean;
  readonly ttl: number;
  readonly due: number | null;
}

interface Calls {
  commit: { readonly key: string; readonly off: number; readonly next: Next };
  load: { readonly key: string };
  remove: { readonly key: string };
  list: { readonly limit: number };
  due: { readonly limit: number };
  sweep: { readonly limit: number };
  advance: { readonly ms: number };
}

type Call = { [Name in keyof Calls]: { readonly name: Name; readonly input: Calls[Name] } }[keyof Calls];

/** The store and the map that it is compared with. */
interface Pair {
  readonly store: SnapshotStore;
  readonly clock: SimulatedClock;
  /** Everything that was committed and not removed or swept, expired or not. */
  readonly held: Map<string, StoredSession>;
}

const key = fc.constantFrom('a', 'b', 'B', 'é', '😀', '\uffff');
const next = fc.record({
  record: fc.string({ unit: 'binary', maxLength: 20 }),
  ended: fc.boolean(),
  ttl: fc.integer({ min: 1, max: 60 }),
  due: fc.option(fc.oneof(fc.constant(0), fc.integer({ min: -20, max: 60 }))),
});
// Mostly the right revision: conflicts are the rare case.
const off = fc.constantFrom(0, 0, 0, 0, -1, 1);
const limit = fc.integer({ min: 1, max: 4 });
const arbitraries: { [Name in keyof Calls]: [weight: number, input: fc.Arbitrary<Calls[Name]>] } = {
  commit: [6, fc.record({ key, off, next })],
  load: [2, fc.record({ key })],
  remove: [1, fc.record({ key })],
  list: [1, fc.record({ limit })],
  due: [1, fc.record({ limit })],
  sweep: [1, fc.record({ limit })],
  advance: [2, fc.record({ ms: fc.integer({ min: 1, max: 40 }) })],
};
const call = fc.oneof(
  ...Object.entries(arbitraries).map(([name, [weight, input]]) => {
    return { weight, arbitrary: (input as fc.Arbitrary<unknown>).map((made) => ({ name, input: made }) as Call) };
  }),
);

/** Runs random sequences of calls, each on a new store that `run` opens. */
export function snapshotModel(
  run: (keep: (store: SnapshotStore, clock: SimulatedClock) => Promise<void>) => Promise<void>,
  options: RandomOptions,
): Promise<void> {
  const sequences = fc.asyncProperty(fc.array(call, { minLength: 5, maxLength: 60 }), (calls) =>
    run(async (store, clock) => {
      const pair: Pair = { store, clock, held: new Map() };
      for (const { name, input } of calls) {
        await checks[name](input as never, pair);
        // Timers of sessions that are gone, or have another one now, show there.
        await checks.due({ limit: 10 }, pair);
      }
    }),
  );
  return fc.assert(sequences, { numRuns: 40, ...replay(options) });
}

const checks: { [Name in keyof Calls]: (input: Calls[Name], pair: Pair) => Promise<void> } = {
  async commit({ key, off, next }, pair) {
    const { store, clock, held } = pair;
    const revision = living(pair, key)?.revision ?? 0;
    const expected = Math.max(0, revision + off);
    const session = made(next, clock.now());
    const result = await store.commit(key, expected, session);
    if (expected === revision) held.set(key, { ...session, revision: revision + 1 });
    const outcome =
      expected === revision ? { kind: 'committed', revision: revision + 1 } : { kind: 'conflict', revision };
    assert.equal(result, outcome);
    assert.equal(await store.load(key), living(pair, key));
  },
  async load({ key }, pair) {
    assert.equal(await pair.store.load(key), living(pair, key));
  },
  async remove({ key }, pair) {
    assert.is(await pair.store.remove(key), living(pair, key) !== undefined);
    pair.held.delete(key);
  },
  async list({ limit }, pair) {
    const seen: string[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await pair.store.list({ limit, ...(cursor !== undefined && { cursor }) });
      assert.ok(page.keys.length <= limit);
      seen.push(...page.keys);
      cursor = page.next;
    }
    assert.equal(
      seen,
      livingKeys(pair).filter((key) => !living(pair, key)!.ended),
    );
  },
  async due({ limit }, pair) {
    const now = pair.clock.now();
    const due = (await pair.store.due(now, limit)).map((key) => pair.held.get(key)!.dueAt);
    const all = livingKeys(pair).map((key) => pair.held.get(key)!.dueAt);
    // Of timers of one moment any may come first.
    const expected = all.filter((at) => at !== null && at <= now).sort((a, b) => a! - b!);
    assert.equal(due, expected.slice(0, limit));
  },
  async sweep({ limit }, pair) {
    const { store, clock, held } = pair;
    const expired = [...held.keys()].filter((key) => !living(pair, key));
    // A backend with an expiry of its own may have been first; none sweeps more than there is.
    const swept = await store.sweep(clock.now(), limit);
    assert.ok(swept <= Math.min(limit, expired.length), `${swept} swept of ${expired.length}`);
    if (expired.length > swept) await store.sweep(clock.now(), expired.length);
    for (const key of expired) held.delete(key);
  },
  async advance({ ms }, pair) {
    await pair.clock.advance(ms);
  },
};

function living({ clock, held }: Pair, key: string): StoredSession | undefined {
  const session = held.get(key);
  return session && session.expiresAt > clock.now() ? session : undefined;
}

function livingKeys(pair: Pair): string[] {
  const keys = [...pair.held.keys()].filter((key) => living(pair, key));
  return keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function made({ record, ended, ttl, due }: Next, now: number): SessionCommit {
  const dueAt = due === null ? null : now + due;
  return { record, turnKey: `t${record}`, reply: `CON ${record}`, ended, expiresAt: now + ttl, dueAt };
}
