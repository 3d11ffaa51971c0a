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

/** A machine that has ended, as it was. */
export function endAs(fresh: AnyMachineSnapshot, { context, status, output, error }: AtRest): AnyMachineSnapshot {
  return { ...fresh, context, status, output, error } as unknown as AnyMachineSnapshot;
}

/** The rest of a live snapshot; its context is not copied. */
export function toRest(live: AnyMachineSnapshot): AtRest {
  const state = live.value as StateValue;
  const context = live.context as JsonObject;
  let history: Record<string, readonly string[]> | undefined;
  for (const id in live.historyValue) {
    history ??= {};
    history[id] = (live.historyValue as Record<string, { id: string }[]>)[id]!.map((node) => node.id);
  }
  if (live.status === 'active') return history ? { state, context, history } : { state, context };
  return { state, context, ...(history && { history }), ...describeEnd(live) };
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
  return { ...restored, context: rest.context } as AnyMachineSnapshot;
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
  { restored, isOrdered }: { readonly restored: Nodes; readonly isOrdered: boolean },
): AtRest {
  const isSame = nodes.length === restored.length && nodes.every((node) => restored.includes(node));
  const leaves = isOrdered ? restored.filter(isLeaf) : [];
  if (isSame && nodes.filter(isLeaf).every((node, at) => !isOrdered || node === leaves[at])) return rest;
  return { ...rest, nodes: nodes.map(({ id }) => id) };
}

/**
 * Whether the machine has this state. XState looks states up through the prototype, so `constructor` or `{}` would silently become the
 * initial one.
 */
export function isState(node: AnyStateNode, value: unknown): boolean {
  const has = (key: string) => Object.hasOwn(node.states, key) && node.states[key]!.type !== 'history';
  if (typeof value === 'string') return has(value) && isLeaf(node.states[value]!);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  const isParallel = node.type === 'parallel';
  const regions = isParallel ? Object.keys(node.states).filter(has).length : node.type === 'compound' ? 1 : 0;
  // XState may leave out regions of a parallel state when it follows a history.
  if (keys.length > regions || (regions > 0 && !keys.length)) return false;
  // Regions of a parallel state that have no states of their own are written as {}; other states without any are not.
  const isInside = (child: AnyStateNode, inner: unknown) => (isParallel || !isLeaf(child)) && isState(child, inner);
  return keys.every((key) => has(key) && isInside(node.states[key]!, (value as JsonObject)[key]));
}

export function unknownStateError(machine: string, state: unknown): TwinlineError {
  const text = JSON.stringify(state)?.slice(0, 100);
  return new TwinlineError('ERR_RECORD', `Cannot resume machine "${machine}": it has no state ${text}.`);
}
