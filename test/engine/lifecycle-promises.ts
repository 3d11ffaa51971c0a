// What a machine that lives in a document promises on every store; run it with a function that opens one.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assign, createMachine, type EventObject } from 'xstate';
import { SimulatedClock } from '../../lib/clock.ts';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { plainWrite, type StepNote, type WriteStep } from '../../lib/engine/lifecycle/changes.ts';
import {
  type Instance,
  type Lifecycle,
  type LifecycleOptions,
  lifecycle,
} from '../../lib/engine/lifecycle/lifecycle.ts';
import { ENGINE_LIMITS } from '../../lib/engine/limits.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import type { Service } from '../../lib/engine/service.ts';
import { type ErrorCode, TwinlineError } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { DocumentStore, Kind, StoredDocument } from '../../lib/store/store.ts';
import type { OpenDocuments } from '../../lib/testing/documents/bench.ts';

const JOB: Kind = { name: 'job', indexes: { due: { fields: ['dueAt'] }, state: { fields: ['status'] } } };

const note = assign({
  log: ({ context, event }) => [...context.log, [event.type, (event as { at?: number }).at ?? null]],
});
const work = {
  id: 'work',
  src: 'work',
  input: ({ context }: { context: Job }) => ({ name: context.name }),
  onDone: { target: 'done', actions: note },
  onError: { target: 'failed', actions: note },
};

type Job = JsonObject & { readonly name: string; readonly log: readonly (readonly [string, number | null])[] };

/** Waits to be told to go, works by a call, and steps on by itself when nobody comes. */
const machine = compileMachine(
  createMachine({
    id: 'job',
    initial: 'waiting',
    context: ({ input }: { input: { name: string } }) => ({ name: input.name, log: [] }),
    states: {
      waiting: {
        entry: { type: 'job.waiting', params: ({ context }: { context: Job }) => ({ name: context.name }) },
        after: { 1000: { target: 'late', actions: note } },
        on: { GO: { target: 'working', actions: note }, NOTE: { actions: [note, { type: 'job.noted' }] } },
      },
      late: { after: { 500: { target: 'later', actions: note } } },
      later: { on: { GO: 'working' } },
      working: { entry: { type: 'job.working' }, invoke: work },
      done: { entry: { type: 'job.done' } },
      failed: { on: { GO: 'working' } },
    },
  } as never),
);

interface Bench {
  readonly documents: DocumentStore;
  readonly clock: SimulatedClock;
  readonly entries: StepNote[];
  readonly jobs: Lifecycle<Job>;
  /** Jobs as a new process would run them. */
  again(options?: Partial<LifecycleOptions>): Lifecycle<Job>;
  stored(id?: string): Promise<StoredDocument>;
  /** Calls of the service that were made, by their idempotency keys. */
  readonly keys: string[];
}

const go = { decide: (): EventObject => ({ type: 'GO' }) };
const jot = { decide: (): EventObject => ({ type: 'NOTE' }) };
const started = { input: { name: 'a' } };
const never: Service = () => new Promise(() => {});
/** For a process that dies: it never notices that a call takes too long. */
const timeless = ({ now, monotonic }: SimulatedClock) => ({ now, monotonic, wait: () => new Promise<void>(() => {}) });

/** A service, and when it was called. */
function watched(inner: Service): { service: Service; called: Promise<void> } {
  let tell = () => {};
  const called = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const service: Service = (...asked) => {
    tell();
    return inner(...asked);
  };
  return { service, called };
}

const PROMISES: { readonly [sentence: string]: (bench: Bench) => Promise<void> } = {
  'a beginning is stored with its fields, its timers and its facts, and a second one finds it': async ({
    jobs,
    again,
    stored,
    entries,
  }) => {
    const { instance, repeated } = await jobs.begin('j', { ...started, body: { owner: 'me' }, by: 'me' });
    assert.equal([instance.state, instance.revision, instance.body.owner, repeated], ['waiting', 1, 'me', false]);
    const { body } = await stored();
    assert.equal([body.status, body.owner, body.dueAt], ['waiting', 'me', T0 + 1_000]);
    assert.equal(entries, [
      { at: T0, by: 'me', action: 'begin', facts: [{ type: 'job.waiting', data: { name: 'a' } }] },
    ]);
    const other = await again().begin('j', { input: { name: 'other' } });
    assert.equal([other.repeated, other.instance.context.name, other.instance.revision], [true, 'a', 1]);
  },

  'a call is stored before it is made, made once, and its answer is a step of its own': async ({
    again,
    stored,
    entries,
    documents,
  }) => {
    const seen: unknown[] = [];
    const look: Service = async (input, { idempotencyKey, session }) => {
      seen.push([input, idempotencyKey, session.id, (await documents.get(JOB, 'j'))!.body.status]);
      return { paid: 1 };
    };
    const jobs = again({ services: { work: look } });
    await jobs.begin('j', started);
    const { instance } = await jobs.take('j', { ...go, by: 'me' });
    assert.equal(seen, [[{ name: 'a' }, 'j/work/2', 'j', 'working']]);
    assert.equal([instance.state, instance.calling, (await stored()).body.dueAt], ['done', [], null]);
    assert.equal(
      entries.map(({ action, by, facts }) => [action, by, facts.map(({ type }) => type).join()]),
      [
        ['begin', 'system', 'job.waiting'],
        ['GO', 'me', 'job.working'],
        ['work answered', 'system', 'job.done'],
      ],
    );
  },

  'after a crash the call is made again under the same key, when its lease is over and not before': async ({
    again,
    jobs,
    clock,
    keys,
  }) => {
    const dying = watched(never);
    const doomed = again({ services: { work: dying.service }, clock: timeless(clock) });
    await doomed.begin('j', started);
    void doomed.take('j', go);
    await dying.called;
    assert.is((await jobs.read('j'))!.state, 'working');
    assert.is(await jobs.sweep(), 0);
    await clock.advance(COMMON_LIMITS.callTimeoutMs + ENGINE_LIMITS.turnReserveMs);
    assert.is(await jobs.sweep(), 1);
    assert.is((await jobs.read('j'))!.state, 'done');
    assert.equal(keys, ['j/work/2']);
  },

  'a call that fails is tried again after growing pauses, which any process keeps, until the machine is told': async ({
    again,
    clock,
    stored,
  }) => {
    let tries = 0;
    const failing: Service = async () => {
      tries++;
      throw new Error('away');
    };
    const process = () => again({ services: { work: failing }, calls: { work: { tries: 4 } } });
    await process().begin('j', started);
    assert.is((await process().take('j', go)).instance.state, 'working');
    const pauses: number[] = [];
    while ((await stored()).body.status === 'working') {
      const pause = ((await stored()).body.dueAt as number) - clock.now();
      pauses.push(pause);
      await clock.advance(pause - 1);
      assert.is(await process().sweep(), 0);
      await clock.advance(1);
      assert.is(await process().sweep(), 1);
    }
    assert.equal([tries, pauses, (await stored()).body.status], [4, [100, 200, 400], 'failed']);
  },

  'a failure of a try that another process has given up on says nothing about the next one': async ({
    again,
    clock,
    stored,
  }) => {
    let fail = (_: Error): void => {};
    const slow = watched(() => new Promise((_, reject) => (fail = reject)));
    const first = again({ services: { work: slow.service }, clock: timeless(clock) });
    await first.begin('j', started);
    const late = first.take('j', go);
    await slow.called;
    await clock.advance(10_000);
    const next = watched(never);
    void again({ services: { work: next.service }, clock: timeless(clock) }).sweep();
    await next.called;
    const { revision, body } = await stored();
    assert.is(body.dueAt, clock.now() + COMMON_LIMITS.callTimeoutMs + ENGINE_LIMITS.turnReserveMs);
    fail(new Error('at last'));
    assert.is((await late).instance.revision, revision);
    assert.equal(await stored(), { id: 'j', revision, body });
  },

  'a refusal that trying again cannot help is told at once': async ({ again }) => {
    const refusing: Service = async () => {
      throw new TwinlineError('ERR_INPUT', 'no');
    };
    const jobs = again({ services: { work: refusing } });
    await jobs.begin('j', started);
    assert.is((await jobs.take('j', go)).instance.state, 'failed');
    assert.is((await again().take('j', go)).instance.state, 'done');
  },

  'what is due fires before a command is looked at; a refused command stores nothing else': async ({
    jobs,
    clock,
    stored,
  }) => {
    await jobs.begin('j', started);
    await clock.advance(1_000);
    const seen: unknown[] = [];
    const refusing = {
      decide: ({ state }: Instance, at: number) => {
        seen.push([state, at]);
        return new TwinlineError('ERR_REFUSED', 'no');
      },
    };
    await fails('ERR_REFUSED', () => jobs.take('j', refusing));
    assert.equal([seen, (await stored()).revision], [[['late', T0 + 1_000]], 2]);
    await fails('ERR_MACHINE', () => jobs.take('j', jot));
    await fails('ERR_NOT_FOUND', () => jobs.take('other', go));
    assert.equal([(await stored()).revision, await jobs.read('other')], [2, undefined]);
  },

  'time never goes back': async ({ jobs, again }) => {
    await jobs.begin('j', started);
    const behind = again({ clock: new SimulatedClock(T0 - 5_000) });
    const { instance } = await behind.take('j', jot);
    assert.equal(instance.context.log, [['NOTE', T0]]);
  },

  'a record of an unknown state, machine or version, or a damaged one, is refused and left as it is': async ({
    jobs,
    documents,
    clock,
  }) => {
    const problems: unknown[] = [];
    const watched = lifecycle({
      ...optionsOf(documents, clock),
      onProblem: ({ error }) => problems.push((error as TwinlineError).code),
    });
    const { body } = (await jobs.begin('j', started)).instance;
    const record = body.machine as JsonObject;
    const bad = [
      { state: 'constructor' },
      { state: { waiting: {} } },
      { id: 'other' },
      { version: 2 },
      { timers: [{ id: 1 }] },
      { calls: 'x' },
      { at: -1 },
      { context: null },
    ];
    for (const [at, change] of bad.entries()) {
      const machine = { ...record, ...change } as JsonObject;
      await documents.insert(JOB, `bad${at}`, { machine, dueAt: clock.now() });
      await fails('ERR_RECORD', () => jobs.take(`bad${at}`, go));
      assert.equal((await documents.get(JOB, `bad${at}`))!.revision, 1);
    }
    // And none of them stands in the way of those that can be read.
    assert.is(await watched.sweep(), bad.length);
    assert.equal(
      problems,
      bad.map(() => 'ERR_RECORD'),
    );
    assert.is(await watched.sweep(), 0);
  },

  'a record of an older version goes on as what it is migrated to': async ({ jobs, again, stored }) => {
    await jobs.begin('j', started);
    const next = again({
      version: 2,
      migrate: (rest, from) => (from === 1 ? { ...rest, context: { ...rest.context, name: 'b' } } : undefined),
    });
    const { instance } = await next.take('j', jot);
    assert.equal([instance.context.name, ((await stored()).body.machine as JsonObject).version], ['b', 2]);
    await fails('ERR_RECORD', () => jobs.read('j').then(() => jobs.take('j', jot)));
  },
};

const T0 = new SimulatedClock().now();

function optionsOf(documents: DocumentStore, clock: SimulatedClock): LifecycleOptions {
  const fields: LifecycleOptions['fields'] = ({ state }) => ({ status: state as string });
  return { documents, kind: JOB, machine, clock, fields };
}

/** Runs the suite. */
export function lifecyclePromises(name: string, open: OpenDocuments): void {
  const test = suite(`lifecycle on ${name}`);
  for (const [sentence, keep] of Object.entries(PROMISES)) test(sentence, () => withBench(open, keep));
  test.run();
}

async function withBench(open: OpenDocuments, keep: (bench: Bench) => Promise<void>): Promise<void> {
  const where = { folder: mkdtempSync(join(tmpdir(), 'twinline-lifecycle-')), clock: new SimulatedClock() };
  const documents = await open(where);
  const { clock } = where;
  const entries: StepNote[] = [];
  const keys: string[] = [];
  const write: WriteStep = async (step) => {
    const written = await plainWrite(step);
    if (written) entries.push(step.entry);
    return written;
  };
  const work: Service = async (_input, { idempotencyKey }) => {
    keys.push(idempotencyKey);
    return null;
  };
  const again: Bench['again'] = (options) =>
    lifecycle<Job>({ ...optionsOf(documents, clock), services: { work }, write, ...options });
  try {
    await documents.declare([JOB]);
    const stored = async (id = 'j') => (await documents.get(JOB, id))!;
    await keep({ documents, clock, entries, keys, again, stored, jobs: again() });
  } finally {
    await documents.close();
    rmSync(where.folder, { recursive: true, force: true });
  }
}

async function fails(code: ErrorCode, work: () => Promise<unknown>): Promise<void> {
  const outcome = await work().then(
    () => 'nothing failed',
    (error: unknown) => (error instanceof TwinlineError ? error.code : error),
  );
  assert.is(outcome, code);
}
