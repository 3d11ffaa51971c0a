// Coverage of flow tests: screens, options and ways are marked in the machine, and the marks are published as facts.

import { type AnyStateMachine, createMachine } from 'xstate';
import type { Conversation } from '../../engine/conversation.ts';
import type { Fact } from '../../engine/engine.ts';
import { compileMachine } from '../../engine/machine/transition.ts';
import type { CompiledFlow } from '../run/compile.ts';
import type { MachineAction, Mark, StateConfig } from '../screens/kind.ts';
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

type CoverageMark = (kind: CoverageKind, name: string) => MachineAction;

// Marks go into the machine's own config, which has what JSON cannot express, such as the inputs of calls.
function markMachine({ flow, machine }: CompiledFlow, mark: CoverageMark): AnyStateMachine {
  const { config, implementations } = machine.source;
  const states: Record<string, StateConfig> = { ...(config.states as { [id: string]: StateConfig }) };
  for (const [id, screen] of Object.entries(flow.screens)) {
    const state = states[id]!;
    const entry = [mark('screens', id), ...((state.entry as readonly unknown[] | undefined) ?? [])];
    const markOwn: Mark = (kind, name) => mark(kind, `${id}.${name}`);
    states[id] = { ...state, entry, ...findKind(screen).mark(state, markOwn, screen) };
  }
  return createMachine({ ...config, states } as never, implementations as never) as AnyStateMachine;
}
