// One seed, one world: callers, processes, a store, faults until they stop, and then what must be true.

import { decodeRecord } from '../../lib/engine/session/record.ts';
import type { SnapshotStore, StoredSession } from '../../lib/store/store.ts';
import { type Caller, startCaller } from './caller.ts';
import { type CallerAtEnd, type Violation, watchWith } from './checker.ts';
import { allCheckers } from './checkers.ts';
import { type Instance, KEYRING, keyOf, startInstance } from './instance.ts';
import { createLedger } from './ledger.ts';
import { CALM, expand, type Faults, type Options } from './options.ts';
import { randomFrom } from './random.ts';
import { type Backend, plainStore } from './store.ts';
import { newTally, type Tally } from './tally.ts';
import { createWorld, type TraceLine } from './world.ts';

export interface Setup {
  /** Options that are not left to the seed. */
  readonly changes?: Partial<Options>;
  /** @default plainStore */
  readonly backend?: Backend;
  /** @default true */
  readonly isSealed?: boolean;
  readonly keepsTrace?: boolean;
}

export interface Outcome {
  readonly seed: number;
  readonly options: Options;
  /** Of everything that happened, in order. */
  readonly hash: string;
  readonly violations: readonly Violation[];
  readonly tally: Tally;
  readonly trace: readonly TraceLine[];
}

export interface Simulation {
  /** Lets one thing happen; the outcome once there is one. Whoever calls lets all promises run before the next. */
  step(): Outcome | undefined;
}

/** Virtual milliseconds after which no more faults happen. */
const FAULTS_MS = 25_000;
/** Steps within which everything must have come to rest; the calmest need a hundred. */
const STEPS_MAX = 5_000;
const SWEEP_MS = 1_500;
const JUMP_MS = 30_000;
const PAUSE_MS = 8_000;
const RESTART_MS = 1_500;

export function createSimulation(seed: number, setup: Setup = {}): Simulation {
  const options = expand(seed, setup.changes);
  const random = randomFrom(seed);
  const world = createWorld(random, { keepsTrace: setup.keepsTrace ?? false });
  const tally = newTally();
  const watch = watchWith(allCheckers(), () => world.trace.length);
  const store = (setup.backend ?? plainStore)(world.now);
  const start = world.now();
  let isCalm = false;
  const faults = (): Faults => (isCalm ? CALM : options);
  const isSealed = setup.isSealed ?? true;
  const shared = { world, tally, watch, faults, store, ledger: createLedger(), isSealed };
  const slots: (Instance | undefined)[] = [];
  let started = 0;

  const boot = (slot: number) => {
    slots[slot] = startInstance(`process ${++started}`, shared);
  };
  for (let slot = 0; slot < options.instances; slot++) boot(slot);
  const anyInstance = () => slots[random.below(slots.length)];
  const callers = Array.from({ length: options.sessions }, (_, at) =>
    startCaller(`s${at + 1}`, { ...shared, options, anyInstance }),
  );

  const crash = (slot: number) => {
    const instance = slots[slot];
    if (!instance) return;
    tally.crashes++;
    world.note('', `${instance.name} crashes`);
    instance.crash();
    slots[slot] = undefined;
    world.after(random.below(RESTART_MS), () => boot(slot));
  };

  const disturb = () => {
    const slot = random.below(slots.length);
    const instance = slots[slot];
    if (!instance) return;
    if (random.chance(options.crash)) crash(slot);
    if (random.chance(options.pause)) {
      tally.pauses++;
      instance.pausedUntil = world.now() + random.below(PAUSE_MS);
      world.note('', `${instance.name} stands still until ${instance.pausedUntil - start} ms`);
    }
    if (random.chance(options.jump)) {
      tally.jumps++;
      instance.skew = random.below(2 * JUMP_MS) - JUMP_MS;
      world.note('', `the clock of ${instance.name} is wrong by ${instance.skew} ms`);
    }
  };

  const calmDown = () => {
    isCalm = true;
    world.note('', 'no more faults');
    for (const instance of slots)
      if (instance) {
        instance.skew = 0;
        instance.pausedUntil = 0;
      }
  };

  let isOver = false;
  const sweep = () => {
    if (callers.every(({ isDone }) => isDone)) {
      if (!isCalm) calmDown();
      else isOver = callers.every(({ session }) => stored(store, session)?.dueAt == null);
    }
    if (isOver) return;
    anyInstance()
      ?.sweep()
      .catch(() => {});
    world.after(isCalm ? 2 * SWEEP_MS : random.below(2 * SWEEP_MS), sweep);
  };
  world.after(random.below(SWEEP_MS), sweep);

  const end = (): Outcome => {
    const found = callers.map((caller) => atEnd(store, { caller, isSealed }));
    watch.ended(found);
    tally.timers = found.reduce((sum, { record }) => sum + ticksOf(record), 0);
    tally.seeds = 1;
    tally.steps = world.steps;
    tally.violations = watch.violations.length;
    return { seed, options, hash: world.hash(), violations: watch.violations, tally, trace: world.trace };
  };

  return {
    step: () => {
      if (!isCalm) {
        if (world.now() - start > FAULTS_MS) calmDown();
        else disturb();
      }
      return !isOver && world.steps < STEPS_MAX && world.step() ? undefined : end();
    },
  };
}

function stored(store: SnapshotStore, session: string): StoredSession | undefined {
  const found = store.load(keyOf(session));
  if (found instanceof Promise)
    throw new Error(`The store "${store.name}" answers later; here it must answer at once.`);
  return found;
}

function atEnd(store: SnapshotStore, { caller, isSealed }: { caller: Caller; isSealed: boolean }): CallerAtEnd {
  const { session, inputs, lastText, isDone } = caller;
  const found = stored(store, session);
  const seals = isSealed ? [{ kid: KEYRING.active, key: KEYRING.subkey('record-seal/v1')! }] : [];
  const record = found ? decodeRecord(keyOf(session), found.record, seals) : 'missing';
  return { session, inputs, lastText, isDone, record, dueAt: found?.dueAt ?? null };
}

function ticksOf(record: CallerAtEnd['record']): number {
  return typeof record === 'string' ? 0 : ((record.rest.context.ticks ?? []) as readonly string[]).length;
}
