// Coverage of flow tests: screens, options and ways are marked in the machine, and the marks are published as facts.

import { type AnyStateMachine, createMachine } from 'xstate';
import type { Conversation } from '../../engine/conversation.ts';
import type { Fact } from '../../engine/engine.ts';
import { compileMachine } from '../../engine/machine/transition.ts';
import type { JsonObject } from '../../json/json.ts';
import type { Screen, ScreenType } from '../format/flow.ts';
import type { CompiledFlow } from '../run/compile.ts';

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
  /** Records a fact; false if it is not a mark. */
  note(fact: Fact): boolean;
  coverage(): Coverage;
}

const KINDS = ['screens', 'options', 'ways'] as const;
type CoverageKind = (typeof KINDS)[number];
const MARK = 'mark';

/** Adds a mark for every screen, option and way to the machine of a flow. */
export function markFlow(compiledFlow: CompiledFlow): MarkedFlow {
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
type Transition = { readonly actions?: readonly unknown[] };
type CoveredState = { readonly [key: string]: unknown } & { readonly on?: { readonly [event: string]: unknown } };
type Mark = (kind: CoverageKind, name: string) => MachineAction;

// Marks go into the machine's own config, which has what JSON cannot express, such as the inputs of calls.
function markMachine({ flow, machine }: CompiledFlow, mark: Mark): AnyStateMachine {
  const { config, implementations } = machine.source;
  const states: Record<string, unknown> = { ...(config.states as object) };
  for (const [id, screen] of Object.entries(flow.screens)) {
    const state = states[id] as CoveredState;
    const entry = [mark('screens', id), ...((state.entry as readonly unknown[] | undefined) ?? [])];
    const markOwn: Mark = (kind, name) => mark(kind, `${id}.${name}`);
    states[id] = { ...state, entry, ...MARKED[screen.type](state, markOwn, screen) };
  }
  return createMachine({ ...config, states } as never, implementations as never) as AnyStateMachine;
}

const MARKED: { readonly [type in ScreenType]: (state: CoveredState, mark: Mark, screen: Screen) => object } = {
  menu: ({ on }, mark) => ({
    on: mapEvents(on, (event, transition) =>
      event.startsWith('opt.') ? addAction(transition, mark('options', event.slice(4))) : transition,
    ),
  }),
  input: ({ on }, mark, screen) => {
    const [accepted, ...refused] = on!.text as readonly Transition[];
    const again = refused.pop()!;
    // Without a rule no answer is refused.
    const isChecked = (screen as Screen & { type: 'input' }).accept !== undefined;
    const text = [
      addAction(accepted, mark('ways', 'to')),
      ...refused.map((last) => addAction(last, mark('ways', 'else'))),
      isChecked ? addAction(again, mark('ways', 'refused')) : again,
    ];
    return { on: { ...on, text } };
  },
  list: ({ on }, mark) => ({
    on: mapEvents(on, (event, transition) =>
      event === 'pick' ? addAction(transition, mark('ways', 'pick')) : transition,
    ),
  }),
  call: ({ invoke }, mark) => {
    const { onDone, onError, ...call } = invoke as CoveredState;
    return { invoke: { ...call, onDone: markWays(onDone, 'done', mark), onError: markWays(onError, 'fail', mark) } };
  },
  branch: ({ always }, mark) => ({ always: markWays(always, 'branch', mark) }),
  flow: ({ onDone }, mark) => ({ onDone: markWays(onDone, 'done', mark) }),
  end: () => ({}),
};

function markWays(transitions: unknown, slot: string, mark: Mark): Transition[] {
  const list = transitions as readonly Transition[];
  return list.map((way, at) => addAction(way, mark('ways', list.length > 1 ? `${slot}[${at}]` : slot)));
}

function addAction(transition: unknown, action: MachineAction): Transition {
  const { actions = [], ...way } = transition as Transition;
  return { ...way, actions: [...actions, action] };
}

function mapEvents(on: CoveredState['on'], change: (event: string, transition: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(on ?? {}).map(([event, transition]) => [event, change(event, transition)]));
}
