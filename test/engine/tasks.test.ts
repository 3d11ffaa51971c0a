// Work after the reply against a provider that keeps a ledger: each piece is done at least once, always under its own key, whatever
// processes die, callers hang up or dial again, and providers refuse for a while.

import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import type { EngineOptions } from '../../lib/engine/engine.ts';
import { createEngine, type Engine, type EngineProblem } from '../../lib/engine/engine.ts';
import { ENGINE_LIMITS } from '../../lib/engine/limits.ts';
import { type Service, ServiceError } from '../../lib/engine/service.ts';
import { takeTurn, wakeSession } from '../../lib/engine/session/turn.ts';
import { endSession } from '../../lib/engine/sessions.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { FLOW_LIMITS } from '../../lib/flow/limits.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { numbersFrom } from '../support/random.ts';
import { settled } from './support.ts';

const test = suite('after the reply');

const SMS = { service: 'sms', with: { to: '=phoneNumber', text: { '=text': 'Thank you, {{name}}.' } } } as const;
const FLOW: Flow = {
  flow: 'orders',
  version: 1,
  start: 'name',
  vars: { name: { type: 'string', max: 40, private: true }, phoneNumber: { type: 'string' } },
  screens: {
    name: { type: 'input', text: 'Name?', save: 'name', to: 'bye' },
    bye: { type: 'end', text: 'Bye', after: [SMS, { service: 'note', retry: 2 }] },
  },
};
const keyring = parseKeyring(randomBytes(32).toString('hex'));

/** A process on a shared store: once it is killed, nothing that it waits for comes, and nothing of it is stored. */
function open(store: SnapshotStore, options: Partial<EngineOptions> & { clock: SimulatedClock }) {
  let isDead = false;
  const alive = <T>(value: Promise<T> | T): Promise<T> | T => (isDead ? new Promise<T>(() => {}) : value);
  const proxy = new Proxy(store, {
    get: (target, name: keyof SnapshotStore) => {
      const value = target[name];
      if (typeof value !== 'function') return value;
      return (...args: never[]) =>
        isDead ? new Promise(() => {}) : (value as (...all: never[]) => unknown).apply(target, args);
    },
  });
  const services = Object.fromEntries(
    Object.entries(options.services ?? {}).map(([name, serve]): [string, Service] => [
      name,
      async (input, call) => alive(await serve(input, call)),
    ]),
  );
  const engine = createEngine({ conversations: [compileFlow(FLOW)], keyring, ...options, store: proxy, services });
  return {
    engine,
    kill: () => {
      isDead = true;
    },
  };
}

const dial = (phone: string) => () =>
  ({
    kind: 'begin',
    conversation: 'orders',
    input: { phoneNumber: phone },
    door: { sessionId: phone, phoneNumber: phone },
  }) as const;

async function order(engine: Engine, key: string, name: string): Promise<string | undefined> {
  await takeTurn(engine, { key, decide: dial(key) });
  const { reply } = await takeTurn(engine, { key, decide: () => ({ kind: 'input', input: name }) });
  return reply?.kind;
}

async function wakeAll(engine: Engine): Promise<void> {
  for (const key of await engine.store.due(engine.clock.now(), 1_000)) await wakeSession(engine, key);
}

const LONG = 2 * 3_600_000;

test('against generated kills, hang-ups, new dials and refusals, the ledger of the provider has every end once', async () => {
  const next = numbersFrom(Number(process.env.TEST_SEED ?? 1));
  const below = (most: number) => Math.floor(next() * most);
  let kills = 0;
  let repeats = 0;
  for (let round = 0; round < 60; round++) {
    const clock = new SimulatedClock();
    const store = memorySnapshots({ clock });
    const ledger = new Map<string, JsonObject>();
    const ended: string[] = [];
    let sent = 0;
    const provider =
      (kind: string): Service =>
      async (input, { idempotencyKey }) => {
        await clock.wait(below(4_000));
        if (below(4) === 0) throw new Error('busy');
        sent++;
        const before = ledger.get(idempotencyKey);
        if (before) assert.equal(before, { kind, ...input }, 'one key is one piece of work');
        ledger.set(idempotencyKey, { kind, ...input });
        await clock.wait(below(4_000));
        return null;
      };
    const start = () => open(store, { clock, services: { sms: provider('sms'), note: async () => null } });
    let processes = [start(), start()];
    for (let step = 0; step < 30; step++) {
      const one = processes[below(2)]!;
      const key = `+26377123456${below(3)}`;
      const what = below(10);
      if (what < 5) {
        const name = `n${step}`;
        void order(one.engine, key, name).then((kind) => kind === 'end' && ended.push(`${key} ${name}`));
      } else if (what < 7) {
        kills++;
        one.kill();
        processes = processes.map((other) => (other === one ? start() : other));
      } else if (what === 7) await endSession(one.engine, key, { reply: '', door: {} });
      else if (what === 8) void takeTurn(one.engine, { key, decide: dial(key) });
      else void wakeAll(one.engine);
      await settled();
      await clock.advance(below(3_000));
    }
    for (let waited = 0; waited < LONG; waited += 15_000) {
      void wakeAll(processes[0]!.engine);
      await clock.advance(15_000);
    }
    const done = [...ledger.values()].map(({ to, text }) => `${to} ${String(text).slice('Thank you, '.length, -1)}`);
    assert.equal(done.filter((one) => ended.includes(one)).sort(), ended.toSorted(), `round ${round}`);
    assert.is(new Set(done).size, done.length, `round ${round}: two keys for one end`);
    assert.equal(await store.due(clock.now() + LONG, 10), [], 'nothing is left to do');
    repeats += sent - ledger.size;
  }
  assert.ok(kills > 60 && repeats > 5, `${kills} kills, ${repeats} repeated calls`);
});

function shop(services: { readonly [name: string]: Service }) {
  const clock = new SimulatedClock();
  const store = memorySnapshots({ clock });
  const problems: EngineProblem[] = [];
  const { engine } = open(store, { clock, services, onProblem: (problem) => void problems.push(problem) });
  return { clock, store, engine, problems };
}

test('the caller has the reply before the service answers, and a failure for good is told once, after all tries', async () => {
  let notes = 0;
  const { clock, engine, problems } = shop({
    sms: () => new Promise(() => {}),
    note: async () => {
      notes++;
      throw new ServiceError('FULL', 'Ann is not known.', { retry: true });
    },
  });
  assert.is(await order(engine, 'ann', 'Ann'), 'end');
  for (let waited = 0; waited < LONG; waited += 1_000) {
    await clock.advance(1_000);
    await wakeAll(engine);
  }
  assert.is(notes, 3, 'the first try and two more');
  const given = problems.filter(({ reason }) => reason === 'task');
  assert.equal(given.map(({ service }) => service).sort(), ['note', 'sms']);
  assert.is(
    problems.filter(({ service, reason }) => service === 'sms' && reason === 'service').length,
    FLOW_LIMITS.taskRetries + 1,
  );
});

test('a failure that cannot pass is given up at once; what the caller said stands nowhere in clear', async () => {
  let calls = 0;
  const refuse = async () => {
    calls++;
    throw new ServiceError('REFUSED', 'No.');
  };
  const { clock, store, engine, problems } = shop({ sms: refuse, note: () => new Promise(() => {}) });
  await order(engine, 'ann', 'Hortensia');
  const stored = await store.load('ann');
  assert.not.match(stored!.record, 'Hortensia');
  await clock.advance(1);
  await settled();
  assert.is(calls, 1);
  assert.equal(
    problems.map(({ reason }) => reason),
    ['service', 'task'],
  );
});

test('a flow without work after its ends stores what it did before', async () => {
  const clock = new SimulatedClock();
  const store = memorySnapshots({ clock });
  const { after: _, ...bye } = FLOW.screens.bye as {
    readonly type: 'end';
    readonly text: string;
    readonly after: unknown;
  };
  const plain = compileFlow({ ...FLOW, screens: { ...FLOW.screens, bye } });
  const engine = createEngine({ store, clock, conversations: [plain] });
  assert.is(await order(engine, 'ann', 'Ann'), 'end');
  const stored = await store.load('ann');
  assert.is(stored?.dueAt, null);
  assert.is(stored?.expiresAt, clock.now() + ENGINE_LIMITS.endedSessionSeconds * 1_000);
  assert.not.match(stored!.record, '"j"');
});

test.run();
