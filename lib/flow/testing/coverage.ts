// Coverage of flow tests: screens, options and ways are marked in the machine, and the marks are published as facts.

import { type AnyStateMachine, createMachine } from 'xstate';
import { type Clock, systemClock } from '../../clock.ts';
import type { Conversation } from '../../engine/conversation.ts';
import type { Fact } from '../../engine/engine.ts';
import { compileMachine } from '../../engine/machine/transition.ts';
import type { JsonObject } from '../../json/json.ts';
import type { Screen } from '../format/flow.ts';
import type { CompiledFlow } from '../run/compile.ts';
import type { StateConfig } from '../screens/kind.ts';
import { findKind } from '../screens/kinds.ts';

export interface Covered {
  readonly seen: number;
  readonly all: number;
  /** In flow order. */
  readonly missing: readonly string[];
}

/**
 * Covers the flow's own screens; called flows have their own tests. Options are `screen.option`. Ways are all other exits:
 * `pin.to`, `pin.else`, `pin.refused` (an answer that breaks the rule), `list.pick`, `call.done`, `call.fail`,
 * `branch.branch[1]`.
 */
export interface Coverage {
  readonly screens: Covered;
  readonly options: Covered;
  readonly ways: Covered;
}

export interface MarkedFlow {
  /** The same conversation, reporting what it passes through. */
  readonly conversation: Conversation;
  /** What its `now()` and `today` mean from here on. @default the system clock */
  setClock(clock: Pick<Clock, 'now'>): void;
  /** Records a fact; false if it is not a mark. */
  note(fact: Fact): boolean;
  coverage(): Coverage;
}

const KINDS = ['screens', 'options', 'ways'] as const;
type CoverageKind = (typeof KINDS)[number];
const MARK = 'mark';

/** Adds a mark for every screen, option and way to the machine of a flow. */
export function markFlow(plainFlow: CompiledFlow): MarkedFlow {
  let clock: Pick<Clock, 'now'> = systemClock;
  const compiledFlow = plainFlow.withClock({ now: () => clock.now() });
  const all: { readonly [kind in CoverageKind]: Map<string, boolean> } = {
    screens: new Map(),
    options: new Map(),
    ways: new Map(),
  };
  const mark = (kind: CoverageKind, name: string): MachineAction => {
    all[kind].set(name, false);
    return { type: MARK, params: { kind, name } };
  };
  const countCovered = (kind: CoverageKind): Covered => {
    const missing = [...all[kind]].filter(([, visits]) => !visits).map(([name]) => name);
    return { seen: all[kind].size - missing.length, all: all[kind].size, missing };
  };
  return {
    conversation: { ...compiledFlow, machine: compileMachine(markMachine(compiledFlow, mark), 'pure') },
    setClock: (next) => {
      clock = next;
    },
    note: ({ name: type, params }) => {
      if (type !== MARK) return false;
      const { kind, name } = params as unknown as { kind: CoverageKind; name: string };
      all[kind].set(name, true);
      return true;
    },
    coverage: () => ({
      screens: countCovered('screens'),
      options: countCovered('options'),
      ways: countCovered('ways'),
    }),
  };
}

/**
 * `screens 14/16 (87 %) · options 20/22 (90 %) · ways 9/9 (100 %)`, and a line for each kind with something that is not covered.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const report = await runFlowTests(hello, { flow: 'hello', tests: [] });
 * coverageLine(report).split('\n')[0]; // → 'screens 0/2 (0 %) · options 0/1 (0 %)'
 */
export function coverageLine({ coverage }: { readonly coverage: Coverage }): string {
  const parts = KINDS.filter((kind) => coverage[kind].all > 0).map((kind) => {
    const { seen, all } = coverage[kind];
    return `${kind} ${seen}/${all} (${Math.floor((100 * seen) / all)} %)`;
  });
  const missing = KINDS.filter((kind) => coverage[kind].missing.length > 0).map(
    (kind) => `not covered: ${kind} ${coverage[kind].missing.join(', ')}`,
  );
  return [parts.join(' · '), ...missing].join('\n');
}

type MachineAction = { readonly type: string; readonly params: JsonObject };
type Mark = (kind: CoverageKind, name: string) => MachineAction;
type Slots = { [key: string]: unknown };

// Marks go into the machine's own config, which has what JSON cannot express, such as the inputs of calls.
function markMachine({ flow, machine }: CompiledFlow, mark: Mark): AnyStateMachine {
  const { config, implementations } = machine.source;
  const states: Record<string, StateConfig> = { ...(config.states as { [id: string]: StateConfig }) };
  const on = { ...(config.on as Slots) };
  for (const [id, screen] of Object.entries(flow.screens)) {
    const entry = [mark('screens', id), ...((states[id]!.entry as readonly unknown[] | undefined) ?? [])];
    const place = { id, state: states[id]!, on };
    states[id] = { ...markWays(place, screen, (kind, name) => mark(kind, `${id}.${name}`)), entry };
  }
  return createMachine({ ...config, states, on } as never, implementations as never) as AnyStateMachine;
}

/** The state of a screen, and the transitions of the machine, which are marked in place. */
interface MarkedPlace {
  readonly id: string;
  readonly state: StateConfig;
  readonly on: Slots;
}

// The steps of a screen are its transitions, in order.
function markWays({ id, state, on }: MarkedPlace, screen: Screen, mark: Mark): StateConfig {
  const marked: Slots = { ...state };
  for (const key of ['on', 'invoke']) if (marked[key]) marked[key] = { ...(marked[key] as Slots) };
  const passed = new Map<string, number>();
  const add = (event: string, at: number, action: MachineAction): void => {
    const [owner, key] = findSlot(marked, event, on);
    const list = [owner[key]].flat();
    const isOne = (index: number) => index === (at < 0 ? list.length + at : at);
    const ways = list.map((way, index) => (isOne(index) ? addAction(way, action) : way));
    owner[key] = Array.isArray(owner[key]) ? ways : ways[0];
  };
  for (const { event, mark: name } of findKind(screen).steps(screen, { path: id })) {
    const at = passed.get(event) ?? 0;
    passed.set(event, at + 1);
    add(event, at, mark(event.startsWith('opt.') ? 'options' : 'ways', name));
  }
  // Diagrams do not draw refusals. Without a rule no answer is refused.
  if (screen.type === 'input' && screen.accept) add('text', -1, mark('ways', 'refused'));
  return marked;
}

/** Where a state has the transitions of an event. */
function findSlot(state: Slots, event: string, on: Slots): readonly [owner: Slots, key: string] {
  if (event.startsWith('xstate.done.actor.')) return [state.invoke as Slots, 'onDone'];
  if (event.startsWith('xstate.error.actor.')) return [state.invoke as Slots, 'onError'];
  if (Object.hasOwn(on, event)) return [on, event];
  return event === 'always' ? [state, 'always'] : [state.on as Slots, event];
}

function addAction(transition: unknown, action: MachineAction): unknown {
  const { actions = [], ...way } = transition as { readonly actions?: readonly unknown[] };
  return { ...way, actions: [...actions, action] };
}
