// Shortcuts against XState: whatever a machine is made of, its steps are the same with them and without.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AnyStateMachine, assign, createMachine, type EventObject, raise } from 'xstate';
import { XSTATE_RANGE } from '../../lib/engine/machine/statechart.ts';
import { type AtRest, compileMachine, type Machine } from '../../lib/engine/machine/transition.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { manifest } from '../package/manifest.ts';

const test = suite('shortcut');

const EVENTS = ['a', 'b', 'b.c', 'other'];

type Config = { readonly [key: string]: unknown };

const vocabulary = {
  guards: {
    below: ({ context }: { context: JsonObject }, { limit }: { limit: number }) => (context.n as number) < limit,
    broken: () => {
      throw new Error('no');
    },
  },
  actions: {
    add: assign(({ context }, { by }: { by: number }) => ({ n: ((context as JsonObject).n as number) + by })),
    take: assign(({ event }) => ({ last: (event as unknown as JsonObject).value ?? null })),
    twice: assign({ n: ({ context }) => ((context as JsonObject).n as number) * 2 }),
    again: raise(({ context, event }) => ({
      type: EVENTS[Math.abs((context as JsonObject).n as number) % EVENTS.length]!,
      value: event.type,
    })),
    fail: assign(() => {
      throw new Error('no');
    }),
  },
};

const TARGETS = ['#one', '#two', '#two.x', '#two.y', '#three', '#last', '#past'];

type Parts = { readonly [part in 'action' | 'guard']: fc.Arbitrary<unknown> };

/** What shortcuts can take. */
const plain: Parts = {
  action: fc.oneof(
    fc.record({ type: fc.constant('add'), params: fc.record({ by: fc.integer({ max: 3, min: -3 }) }) }),
    fc.constantFrom({ type: 'take' }, { type: 'twice' }),
  ),
  guard: fc.record({ type: fc.constant('below'), params: fc.record({ limit: fc.integer({ min: -5, max: 5 }) }) }),
};
const any: Parts = {
  action: fc.oneof(
    { weight: 6, arbitrary: plain.action },
    { weight: 1, arbitrary: fc.constantFrom({ type: 'note', params: { a: 1 } }, 'take', { type: 'fail' }) },
  ),
  guard: fc.oneof({ weight: 5, arbitrary: plain.guard }, { weight: 1, arbitrary: fc.constant({ type: 'broken' }) }),
};
const transitionOf = ({ action, guard }: Parts) =>
  fc.record(
    {
      target: fc.constantFrom(...TARGETS),
      actions: fc.array(action, { maxLength: 2 }),
      guard,
      reenter: fc.boolean(),
    },
    { requiredKeys: ['actions'] },
  );
const on = (parts: Parts, names: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...names), fc.array(transitionOf(parts), { minLength: 1, maxLength: 2 }), {
    minKeys: 1,
    maxKeys: 4,
  });

/** What a state does by itself. */
const doingOf = (parts: Parts): fc.Arbitrary<Config> => {
  const entry = fc
    .tuple(fc.array(parts.action, { maxLength: 2 }), fc.constantFrom([], [{ type: 'again' }], [{ type: 'again' }]))
    .map(([first, last]) => [...first, ...last]);
  const always = fc.array(transitionOf(parts), { minLength: 1, maxLength: 2 });
  const idle = fc.constant({});
  return fc.oneof(idle, fc.record({ entry, always }, { requiredKeys: [] }), fc.record({ entry }));
};

// The same, and what takes a state out of reach of shortcuts.
const extras: fc.Arbitrary<Config> = fc.oneof(
  { weight: 3, arbitrary: doingOf(any) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Config>(
      { exit: { type: 'note', params: { left: true } } },
      { after: { 50: '#one' } },
      { invoke: { src: 'ask', onDone: '#three' } },
    ),
  },
);

type State = fc.Arbitrary<readonly [on: Config, more: Config]>;
const anyState: State = fc.tuple(on(any, [...EVENTS, ...EVENTS, '*', 'b.*']), extras);
const plainState: State = fc.tuple(on(plain, EVENTS), doingOf(plain));
const inners: readonly Config[] = [
  { initial: 'x' },
  { initial: { target: 'x', actions: [{ type: 'add', params: { by: 1 } }] } },
  { type: 'parallel' },
];

const machinesOf = (state: State, more: { remembers: fc.Arbitrary<boolean>; inner: fc.Arbitrary<Config> }) =>
  fc
    .record({ root: state, one: state, two: state, x: state, y: state, three: state, ...more })
    .map(({ root, one, two, x, y, three, remembers, inner }) => {
      const state = ([on, more]: readonly [Config, Config], rest: Config) => ({ ...rest, ...more, on });
      const past = remembers ? { past: { id: 'past', type: 'history' } } : {};
      const inside = { x: state(x, { id: 'two.x' }), y: state(y, { id: 'two.y' }), ...past };
      return {
        id: 'm',
        initial: 'one',
        context: { n: 0 },
        on: root[0],
        states: {
          one: state(one, { id: 'one' }),
          two: state(two, { id: 'two', states: inside, ...inner }),
          three: state(three, { id: 'three' }),
          last: { id: 'last', type: 'final' },
          ...(!remembers && { past: { id: 'past' } }),
        },
      };
    });

const machines = fc.oneof(
  { weight: 1, arbitrary: machinesOf(anyState, { remembers: fc.boolean(), inner: fc.constantFrom(...inners) }) },
  { weight: 3, arbitrary: machinesOf(plainState, { remembers: fc.constant(false), inner: fc.constant(inners[0]!) }) },
);

const made = (config: Config) => createMachine(config as never, vocabulary as never) as AnyStateMachine;

/** What one event makes of a rest, or the beginning, as the engine sees it; the code and the cause when it fails. */
function stepOf(machine: Machine, rest?: AtRest, event?: EventObject) {
  try {
    const { live, effects } = rest && event ? machine.step(machine.resume(rest), event) : machine.begin();
    const calling = machine.calling(live);
    return { status: live.status, effects, rest: { ...machine.rest(live), ...(calling.length && { calling }) } };
  } catch (error) {
    const { code, cause } = error as Error & { code: string };
    return { code, cause: String((cause as Error).message) };
  }
}

test('random machines take random events as XState takes them', () => {
  let [taken, long] = [0, 0];
  const walks = fc.array(fc.tuple(fc.constantFrom(...EVENTS), fc.integer({ max: 9 })), {
    minLength: 12,
    maxLength: 12,
  });
  fc.assert(
    fc.property(machines, walks, (config, walk) => {
      const { seen: own, source } = counted(config);
      const [pure, plain] = [compileMachine(source, 'pure'), compileMachine(made(config))];
      const begun = stepOf(plain);
      assert.equal(stepOf(pure), begun);
      if (!('rest' in begun)) return;
      let { rest } = begun;
      for (const [type, value] of walk) {
        const event = { type, value } as EventObject;
        const expected = stepOf(plain, rest, event);
        assert.equal(stepOf(pure, rest, event), expected);
        taken++;
        if (!('rest' in expected)) continue;
        if (expected.status !== 'active') return;
        rest = JSON.parse(JSON.stringify(expected.rest));
      }
      long += own.steps;
    }),
    { numRuns: 800, seed: 41 },
  );
  assert.ok(long > taken / 10 && long < (taken * 9) / 10, `${long} of ${taken} steps took the long way`);
});

/** XState's own transitions of a machine, counted. */
function counted(config: Config) {
  const source = made(config);
  const own = source.transition.bind(source);
  const seen = { steps: 0 };
  source.transition = (...args) => {
    seen.steps++;
    return own(...args);
  };
  return { seen, source };
}

test('the range of XState that machines may come from is the one that the package names, and the installed one is in it', () => {
  assert.is(manifest.peerDependencies.xstate, XSTATE_RANGE);
  const [major = 0, minor = 0] = installedVersion('xstate').split('.').map(Number);
  assert.ok(major === 5 && minor >= 31);
  assert.is(XSTATE_RANGE, `>=${installedVersion('xstate-oldest')} <6`);
});

test.run();

function installedVersion(name: string): string {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
