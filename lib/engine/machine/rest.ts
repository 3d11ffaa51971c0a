// A machine between two events: as data, and live again.

import type { ActorScope, AnyMachineSnapshot, AnyStateMachine, AnyStateNode, EventObject, StateValue } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { CallError } from './failure.ts';

/** A machine between two events, as plain JSON. */
export interface AtRest {
  readonly state: StateValue;
  readonly context: JsonObject;
  /** Ids of the states that history nodes remember, by history node id. */
  readonly history?: { readonly [node: string]: readonly string[] } | undefined;
  /** Ids of the active states as XState goes through them, where `state` does not tell. */
  readonly nodes?: readonly string[] | undefined;
  /** Ids of invoked calls that have not answered yet. */
  readonly calling?: readonly string[];
  /** Only once the machine has ended: `done` in a final state, `error` when it has failed. It takes nothing any more. */
  readonly status?: 'done' | 'error' | undefined;
  /** What its `output` gave, where `status` is `done` and it has one. */
  readonly output?: Json | undefined;
  /** Why it has failed, where `status` is `error`. */
  readonly error?: CallError | undefined;
}

export type Scope = ActorScope<AnyMachineSnapshot, EventObject>;

/** Snapshots of a machine at rest, one for each state value: into one of them a step puts the context. */
export class Templates {
  readonly #source: AnyStateMachine;
  readonly #snapshots = new Map<string, AnyMachineSnapshot>();
  readonly #onNew: (template: AnyMachineSnapshot) => void;

  constructor(source: AnyStateMachine, onNew: (template: AnyMachineSnapshot) => void) {
    this.#source = source;
    this.#onNew = onNew;
  }

  /** Undefined when the machine does not have this state. */
  find(state: StateValue): AnyMachineSnapshot | undefined {
    const key = typeof state === 'string' ? state : JSON.stringify(state);
    const cached = this.#snapshots.get(key);
    if (cached || !isState(this.#source.root, state)) return cached;
    const template = this.#source.resolveState({ value: state, context: {} });
    this.#snapshots.set(key, template);
    this.#onNew(template);
    return template;
  }

  /** What a rest is put into. Throws ERR_RECORD when the machine does not have its state; never falls back to the initial one. */
  get({ state, nodes, status }: Pick<AtRest, 'state' | 'nodes' | 'status'>): AnyMachineSnapshot {
    const template = this.find(state);
    if (template) return template;
    const source = this.#source;
    // XState may leave a parallel state without one of its regions, a compound state without an inner one, or be in a history state.
    if ((nodes || status) && isState(source.root, state, { isPartial: true }))
      return source.resolveState({ value: {}, context: {} });
    throw unknownStateError(source.id, state);
  }
}

/** A machine that has ended, as it was. */
export function endAs(fresh: AnyMachineSnapshot, rest: AtRest): AnyMachineSnapshot {
  const { state: value, context, status, output, error } = rest;
  return { ...fresh, value, context, status, output, error } as unknown as AnyMachineSnapshot;
}

/** The snapshot with exactly the active states that the rest names. Throws ERR_RECORD for one that does not exist. */
export function withActive(
  live: AnyMachineSnapshot,
  { state: value, nodes = [] }: AtRest,
  nodesById: ReadonlyMap<string, AnyStateNode>,
): AnyMachineSnapshot {
  const active = nodes.map((id) => {
    const node = nodesById.get(id);
    if (!node) throw unknownStateError((live.machine as AnyStateMachine).id, id);
    return node;
  });
  const tags = new Set(active.flatMap((node) => node.tags));
  return { ...live, status: 'active', value, tags, _nodes: active } as unknown as AnyMachineSnapshot;
}

/** The rest of a live snapshot; its context is not copied. One that has ended has no use for its history. */
export function toRest(live: AnyMachineSnapshot): AtRest {
  const state = live.value as StateValue;
  const context = live.context as JsonObject;
  if (live.status !== 'active') return { state, context, ...describeEnd(live) };
  let history: Record<string, readonly string[]> | undefined;
  for (const id in live.historyValue) {
    history ??= {};
    history[id] = (live.historyValue as Record<string, { id: string }[]>)[id]!.map((node) => node.id);
  }
  return history ? { state, context, history } : { state, context };
}

function describeEnd({ status, output, error }: AnyMachineSnapshot): Pick<AtRest, 'status' | 'output' | 'error'> {
  if (status === 'error') return { status, error: error as CallError };
  return output === undefined ? { status: 'done' } : { status: 'done', output: output as Json };
}

interface RestoreOptions {
  readonly rest: AtRest;
  readonly services: ReadonlyMap<string, ReadonlySet<string>>;
  readonly nodesById: ReadonlyMap<string, AnyStateNode>;
}

/** A live snapshot with history and running calls, as XState restores one. */
export function restore(
  fresh: AnyMachineSnapshot,
  scope: Scope,
  { rest, services, nodesById }: RestoreOptions,
): AnyMachineSnapshot {
  const source = fresh.machine as AnyStateMachine;
  const children: Record<string, unknown> = {};
  for (const id of rest.calling ?? [])
    for (const src of services.get(id) ?? []) children[id] = { src, snapshot: { status: 'active', input: undefined } };
  // The nodes themselves: XState would take an id with a dot apart.
  const findNodes = (ids: readonly string[]) => ids.flatMap((id) => nodesById.get(id) ?? []);
  const historyValue = Object.fromEntries(
    Object.entries(rest.history ?? {}).map(([node, ids]) => [node, findNodes(ids)]),
  );
  // XState looks for actors in the context and changes what looks like one; it gets none to look at.
  const persisted = { status: fresh.status, value: rest.state, context: {}, children, historyValue };
  const restored = source.restoreSnapshot(persisted as never, scope as never);
  // XState would leave out a history that remembers no state.
  return { ...restored, context: rest.context, historyValue } as AnyMachineSnapshot;
}

type Nodes = AnyMachineSnapshot['_nodes'];

const isLeaf = ({ type }: AnyStateNode): boolean => type === 'atomic' || type === 'final';

/**
 * A rest with its active states, where XState would not restore the same from its value. In memory the regions of a parallel state come
 * as they were moved last, and a history of a parallel state may leave out some of its regions.
 */
export function withNodes(
  rest: AtRest,
  { _nodes: nodes }: AnyMachineSnapshot,
  { restored, isOrdered }: { readonly restored: Nodes | undefined; readonly isOrdered: boolean },
): AtRest {
  const isSame = nodes.length === restored?.length && nodes.every((node) => restored.includes(node));
  const leaves = isOrdered && restored ? restored.filter(isLeaf) : [];
  if (isSame && nodes.filter(isLeaf).every((node, at) => !isOrdered || node === leaves[at])) return rest;
  return { ...rest, nodes: nodes.map(({ id }) => id) };
}

/**
 * Whether the machine has this state; with `isPartial`, whether it has every state that the value names. XState looks states up through
 * the prototype, so `constructor` or `{}` would silently become the initial one.
 */
function isState(node: AnyStateNode, value: unknown, { isPartial = false } = {}): boolean {
  const has = (key: string) => Object.hasOwn(node.states, key) && (isPartial || node.states[key]!.type !== 'history');
  if (typeof value === 'string') return has(value) && isLeaf(node.states[value]!);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  const isWithin = (key: string) => isState(node.states[key]!, (value as JsonObject)[key], { isPartial });
  if (isPartial) return keys.every((key) => has(key) && isWithin(key));
  const isParallel = node.type === 'parallel';
  const regions = isParallel ? Object.keys(node.states).filter(has).length : node.type === 'compound' ? 1 : 0;
  // XState may leave out regions of a parallel state when it follows a history.
  if (keys.length > regions || (regions > 0 && !keys.length)) return false;
  // Regions of a parallel state that have no states of their own are written as {}; other states without any are not.
  return keys.every((key) => has(key) && (isParallel || !isLeaf(node.states[key]!)) && isWithin(key));
}

function unknownStateError(machine: string, state: unknown): TwinlineError {
  const text = JSON.stringify(state)?.slice(0, 100);
  return new TwinlineError('ERR_RECORD', `Cannot resume machine "${machine}": it has no state ${text}.`);
}
