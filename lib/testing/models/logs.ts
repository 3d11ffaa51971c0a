// Random calls on a LogStore, compared with plain arrays that obey the same rules.

import fc from 'fast-check';
import type { SimulatedClock } from '../../clock.ts';
import type { AppendResult, LogStore } from '../../store/log-store.ts';
import * as assert from '../assert.ts';
import { numbered } from '../logs/bench.ts';
import { type RandomOptions, replay } from '../random.ts';

/** A log as its rules say it must be. */
interface Model {
  /** All texts that were ever appended. */
  texts: string[];
  trimmed: number;
  fence: number;
  ended: boolean;
  expiresAt: number;
}

interface Calls {
  open: { readonly log: string; readonly fence: number; readonly ttl: number };
  append: {
    readonly log: string;
    readonly texts: readonly string[];
    /** What stands at that place already, if anything, in the place of `texts`. */
    readonly again: boolean;
    readonly off: number;
    readonly fence: number;
    readonly end: boolean;
    readonly ttl: number;
  };
  read: { readonly log: string; readonly after: number; readonly limit: number };
  trim: { readonly log: string; readonly through: number };
  remove: { readonly log: string };
  expireAt: { readonly log: string; readonly ttl: number };
  advance: { readonly ms: number };
  sweep: { readonly limit: number };
}

type Call = { [Name in keyof Calls]: { readonly name: Name; readonly input: Calls[Name] } }[keyof Calls];

interface Pair {
  readonly store: LogStore;
  readonly clock: SimulatedClock;
  readonly logs: Map<string, Model>;
}

const log = fc.constantFrom('a', 'b', '}😀');
// From the one that the log has; as with places, mostly that one.
const fence = fc.constantFrom(0, 0, 0, 0, 0, 1, -1, 2 ** 40);
const ttl = fc.integer({ min: 1, max: 90 });
const text = fc.oneof(fc.constantFrom('x', 'y'), fc.string({ unit: 'binary', maxLength: 8 }));
const arbitraries: { [Name in keyof Calls]: [weight: number, input: fc.Arbitrary<Calls[Name]>] } = {
  open: [3, fc.record({ log, fence, ttl })],
  append: [
    9,
    fc.record({
      log,
      // None at all ends the log.
      texts: fc.array(text, { maxLength: 3 }),
      again: fc.boolean(),
      // Mostly the right place; repeats of what was written are as likely as conflicts.
      off: fc.constantFrom(0, 0, 0, 0, -1, -2, -3, 1),
      fence,
      end: fc.constantFrom(false, false, false, true),
      ttl,
    }),
  ],
  read: [3, fc.record({ log, after: fc.nat(8), limit: fc.integer({ min: 1, max: 4 }) })],
  trim: [1, fc.record({ log, through: fc.nat(8) })],
  remove: [1, fc.record({ log })],
  expireAt: [1, fc.record({ log, ttl })],
  advance: [2, fc.record({ ms: fc.integer({ min: 1, max: 40 }) })],
  sweep: [1, fc.record({ limit: fc.integer({ min: 1, max: 3 }) })],
};
const call = fc.oneof(
  ...Object.entries(arbitraries).map(([name, [weight, input]]) => {
    return { weight, arbitrary: (input as fc.Arbitrary<unknown>).map((made) => ({ name, input: made }) as Call) };
  }),
);

/** Runs random sequences of calls, each on a new store that `run` opens. */
export function logModel(
  run: (keep: (store: LogStore, clock: SimulatedClock) => Promise<void>) => Promise<void>,
  options: RandomOptions,
): Promise<void> {
  const sequences = fc.asyncProperty(fc.array(call, { minLength: 5, maxLength: 60 }), (calls) =>
    run(async (store, clock) => {
      const pair: Pair = { store, clock, logs: new Map() };
      for (const { name, input } of calls) await checks[name](input as never, pair);
      for (const name of ['a', 'b', '}😀']) await checks.read({ log: name, after: 0, limit: 1_000 }, pair);
    }),
  );
  return fc.assert(sequences, { numRuns: 40, ...replay(options) });
}

const checks: { [Name in keyof Calls]: (input: Calls[Name], pair: Pair) => Promise<void> } = {
  async open({ log, fence: off, ttl }, pair) {
    const expiresAt = pair.clock.now() + ttl;
    const old = living(pair, log);
    const fence = readFence(old, off);
    const result = await pair.store.open(log, { fence, expiresAt });
    if (old && fence < old.fence) return assert.equal(result, { kind: 'fenced', fence: old.fence });
    const model = { ...(old ?? { texts: [], trimmed: 0, ended: false }), fence, expiresAt };
    pair.logs.set(log, model);
    assert.equal(result, { kind: 'opened', last: model.texts.length, ended: model.ended });
  },
  async append(input, pair) {
    const model = living(pair, input.log);
    const expected = Math.max(0, (model?.texts.length ?? 0) + input.off);
    const fence = readFence(model, input.fence);
    const there = input.again ? (model?.texts.slice(expected, expected + input.texts.length) ?? []) : [];
    const texts = there.length ? there : input.texts;
    const end = input.end || texts.length === 0;
    const expiresAt = pair.clock.now() + input.ttl;
    const result = await pair.store.append(input.log, texts, { expected, fence, end, expiresAt });
    const answer = judged(model, { ...input, texts, expected, end, fence });
    if (answer === 'write') {
      model!.texts.push(...texts);
      Object.assign(model!, { fence, ended: end, expiresAt });
    }
    assert.equal(result, answer === 'write' ? { kind: 'appended', last: model!.texts.length } : answer);
    // What was refused has changed nothing.
    await checks.read({ log: input.log, after: 0, limit: 1_000 }, pair);
  },
  async read({ log, after, limit }, pair) {
    const model = living(pair, log);
    const page = await pair.store.read(log, { after, limit });
    if (!model) return assert.equal([page, await pair.store.state(log)], [undefined, undefined]);
    const { texts, trimmed, ended, expiresAt, fence } = model;
    const from = Math.max(after, trimmed);
    const frames = numbered(texts.slice(from, from + limit), from + 1);
    assert.equal(page, { frames, last: texts.length, ended, expiresAt });
    const state = { first: trimmed + 1, last: texts.length, ended, fence, expiresAt };
    assert.equal(await pair.store.state(log), state);
  },
  async trim({ log, through }, pair) {
    const model = living(pair, log);
    const upTo = model ? Math.max(model.trimmed, Math.min(through, model.texts.length)) : 0;
    assert.is(await pair.store.trim(log, through), model ? upTo - model.trimmed : 0);
    if (model) model.trimmed = upTo;
  },
  async remove({ log }, pair) {
    assert.is(await pair.store.remove(log), living(pair, log) !== undefined);
    pair.logs.delete(log);
  },
  async expireAt({ log, ttl }, pair) {
    const model = living(pair, log);
    const expiresAt = pair.clock.now() + ttl;
    assert.is(await pair.store.expireAt(log, expiresAt), model !== undefined);
    if (model) model.expiresAt = expiresAt;
  },
  async advance({ ms }, pair) {
    await pair.clock.advance(ms);
  },
  async sweep({ limit }, pair) {
    const expired = [...pair.logs.keys()].filter((log) => !living(pair, log));
    const swept = await pair.store.sweep(pair.clock.now(), limit);
    assert.ok(swept <= Math.min(limit, expired.length), `${swept} swept of ${expired.length}`);
    if (expired.length > swept) await pair.store.sweep(pair.clock.now(), expired.length);
    for (const log of expired) pair.logs.delete(log);
  },
};

function judged(model: Model | undefined, input: Calls['append'] & { expected: number }): AppendResult | 'write' {
  if (!model) return { kind: 'missing' };
  const { texts, expected, fence, end } = input;
  const last = model.texts.length;
  if (fence < model.fence) return { kind: 'fenced', fence: model.fence };
  const upTo = expected + texts.length;
  const there = model.texts.slice(expected, upTo);
  const same =
    expected >= model.trimmed && there.length === texts.length && texts.every((one, at) => one === there[at]);
  if (same && (!end || (model.ended && upTo === last))) return { kind: 'appended', last: upTo };
  if (model.ended) return { kind: 'ended', last };
  return expected === last ? 'write' : { kind: 'conflict', last };
}

function readFence(model: Model | undefined, off: number): number {
  return Math.max(1, (model?.fence ?? 1) + off);
}

function living({ clock, logs }: Pair, log: string): Model | undefined {
  const model = logs.get(log);
  return model && model.expiresAt > clock.now() ? model : undefined;
}
