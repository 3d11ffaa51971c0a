// A cache of transitions for machines whose guards and assigns are pure: which transitions an event has in a state is found
// once and kept.
//
// XState works out at every step which states are left and entered. Between two plain states (no entry, exit, invoke,
// delay, history or eventless transition in reach) nothing of that depends on the run: what is left of a step is its
// guards, its assigns, and the snapshot of the next state. All other steps are XState's.
//
// Measured on a menu of 100 screens (resume, step, rest as JSON): 2.2 µs of CPU time a step instead of 7.3, 3.3 to 3.6 times
// less. The price: private parts of XState are read, `_nodes` of snapshots and `transitions`, `initial` and `invoke` of state
// nodes. So test/engine/shortcut.test.ts compares every step of random machines with XState's own, with the oldest and the newest
// version of the peer dependency.

import type { AnyMachineSnapshot, AnyStateMachine, EventObject, StateValue } from 'xstate';
import type { JsonObject } from '../../json/json.ts';

/**
 * What the guards and assigns of a machine are: `pure` ones compute from context, event and parameters alone and never
 * spawn, so that plain steps need no search.
 */
export type Vocabulary = 'pure' | 'any';

type StepInput = { readonly context: JsonObject; readonly event: EventObject };
type Compute<T> = (input: StepInput, params: unknown) => T;

/** A function of the machine's vocabulary with the parameters that stand in its config. */
interface VocabularyCall<T> {
  readonly compute: Compute<T>;
  readonly params: unknown;
}

/** One transition: where its guard holds, the assigns are made and the next state is `to`. */
interface ShortTransition {
  readonly guard: VocabularyCall<boolean> | undefined;
  readonly assigns: readonly VocabularyCall<object>[];
  readonly to: AnyMachineSnapshot;
}

interface Transition {
  readonly target?: readonly StateNode[] | undefined;
  readonly actions: readonly unknown[];
  readonly guard?: unknown;
}

interface StateNode {
  readonly type: string;
  readonly path: readonly string[];
  readonly parent?: StateNode | undefined;
  readonly states: { readonly [key: string]: StateNode };
  readonly initial?: { readonly target: readonly StateNode[]; readonly actions: readonly unknown[] } | undefined;
  readonly entry: readonly unknown[];
  readonly exit: readonly unknown[];
  readonly invoke: readonly unknown[];
  readonly always?: readonly unknown[] | undefined;
  readonly transitions: ReadonlyMap<string, readonly Transition[]>;
}

export interface Shortcuts {
  /** Steps that begin at this template of a state may be shortened. */
  admit(template: AnyMachineSnapshot): void;
  /** The snapshot after the event; undefined when only XState can tell, or is to say why it fails. */
  step(live: AnyMachineSnapshot, event: EventObject): AnyMachineSnapshot | undefined;
}

/** For a machine whose guards and assigns compute from context, event and parameters alone. */
export function shortcuts(source: AnyStateMachine, template: (state: StateValue) => AnyMachineSnapshot): Shortcuts {
  // A snapshot made from a template has the template's own list of states, no history and no running calls.
  const waysByNodes = new WeakMap<object, Map<string, readonly ShortTransition[] | undefined>>();

  const findLiveWays = (live: AnyMachineSnapshot, type: string): readonly ShortTransition[] | undefined => {
    const byEvent = waysByNodes.get(live._nodes);
    if (!byEvent || byEvent.has(type)) return byEvent?.get(type);
    const ways = findWays(source, { live, type, template });
    byEvent.set(type, ways);
    return ways;
  };

  return {
    admit: ({ _nodes }) => void waysByNodes.set(_nodes, new Map()),
    step: (live, event) => {
      const ways = findLiveWays(live, event.type);
      if (!ways) return undefined;
      try {
        return takeWay(ways, live.context, event);
      } catch {
        return undefined;
      }
    },
  };
}

function takeWay(
  ways: readonly ShortTransition[],
  before: JsonObject,
  event: EventObject,
): AnyMachineSnapshot | undefined {
  for (const { guard, assigns, to } of ways) {
    if (guard && !guard.compute({ context: before, event }, guard.params)) continue;
    let context = before;
    for (const { compute, params } of assigns) context = { ...context, ...compute({ context, event }, params) };
    return { ...to, context } as AnyMachineSnapshot;
  }
  return undefined;
}

interface TransitionSearch {
  readonly live: AnyMachineSnapshot;
  readonly type: string;
  readonly template: (state: StateValue) => AnyMachineSnapshot;
}

// From the innermost state outwards, as XState asks them. Undefined as soon as one of them is not plain.
function findWays(
  source: AnyStateMachine,
  { live, type, template }: TransitionSearch,
): readonly ShortTransition[] | undefined {
  const leaf = (live._nodes as unknown as StateNode[]).find((node) => node.type === 'atomic');
  if (!leaf || !isPlainUpwards(leaf)) return undefined;
  const ways: ShortTransition[] = [];
  for (let node: StateNode | undefined = leaf; node; node = node.parent)
    for (const transition of node.transitions.get(type) ?? []) {
      const guard = transition.guard === undefined ? undefined : findGuard(source, transition.guard);
      const assigns = transition.actions.map((action) => findAssign(source, action));
      const target = transition.target?.length ? findLeaf(transition.target) : leaf;
      if (!target || (transition.guard !== undefined && !guard) || !assigns.every((assign) => assign)) return undefined;
      const to = target === leaf ? template(live.value) : template(stateAt(target.path));
      ways.push({ guard, assigns: assigns as VocabularyCall<object>[], to });
      if (!guard) return ways;
    }
  return ways;
}

function isPlainUpwards(leaf: StateNode): boolean {
  for (let node: StateNode | undefined = leaf; node; node = node.parent) if (!isPlain(node)) return false;
  return true;
}

// `done`, `fail` and delays are transitions too, but their events come only with an invoke or an entry.
function isPlain({ type, entry, exit, invoke, always, states, transitions }: StateNode): boolean {
  if (type !== 'atomic' && type !== 'compound') return false;
  if (entry.length || exit.length || invoke.length || always?.length) return false;
  if (Object.values(states).some((state) => state.type === 'history')) return false;
  return ![...transitions.keys()].some((name) => name.endsWith('*'));
}

// The state in which a transition rests, when nothing happens on the way there.
function findLeaf(targets: readonly StateNode[]): StateNode | undefined {
  let node = targets.length === 1 ? targets[0] : undefined;
  while (node?.type === 'compound') {
    const { initial }: StateNode = node;
    node = initial?.target.length === 1 && !initial.actions.length ? initial.target[0] : undefined;
  }
  return node?.type === 'atomic' && isPlainUpwards(node) ? node : undefined;
}

function stateAt(path: readonly string[]): StateValue {
  const last = path.at(-1)!;
  return path.slice(0, -1).reduceRight<StateValue>((inner, key) => ({ [key]: inner }), last);
}

function findGuard(source: AnyStateMachine, guard: unknown): VocabularyCall<boolean> | undefined {
  const { name, params } = readReference(guard) ?? {};
  const compute = name === undefined ? undefined : (source.implementations.guards[name] as unknown);
  return typeof compute === 'function' && !('check' in compute)
    ? { compute: compute as Compute<boolean>, params }
    : undefined;
}

function findAssign(source: AnyStateMachine, action: unknown): VocabularyCall<object> | undefined {
  const { name, params } = readReference(action) ?? {};
  const implementation = name === undefined ? undefined : (source.implementations.actions[name] as unknown);
  const { type, assignment } = (implementation ?? {}) as { type?: unknown; assignment?: unknown };
  return type === 'xstate.assign' && typeof assignment === 'function'
    ? { compute: assignment as Compute<object>, params }
    : undefined;
}

// Parameters that are computed are XState's.
function readReference(reference: unknown): { name: string; params: unknown } | undefined {
  if (typeof reference !== 'object' || reference === null) return undefined;
  const { type, params } = reference as { type: string; params?: unknown };
  return typeof params === 'function' ? undefined : { name: type, params };
}
