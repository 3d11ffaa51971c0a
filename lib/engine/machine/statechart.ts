// The machines that others pass in: which are accepted, and what of XState is refused because it cannot be kept between two events.

import { type AnyStateMachine, type AnyStateNode, fromPromise } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import type { Json } from '../../json/json.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { Service, Services } from '../service.ts';

/**
 * A machine that XState's `createMachine` or `setup` returns. Only these members are used of its type, so a machine of another copy of
 * XState is accepted as well.
 */
export interface Statechart {
  readonly id: string;
  readonly config: object;
  readonly implementations: object;
  getInitialSnapshot(...args: readonly never[]): unknown;
}

/** The versions of XState that machines may come from: the peer dependency of the package. */
export const XSTATE_RANGE = '>=5.31.1 <6';

/** The machine, or unless `isOwn` a copy of it, that stops a step after ENGINE_LIMITS.microstepsPerStep microsteps. Throws ERR_CONFIG. */
export function boundedMachine(chart: Statechart, { isOwn }: { readonly isOwn: boolean }): AnyStateMachine {
  requireGiven('compile a machine', { source: chart }, { source: 'statechart' });
  const machine = chart as unknown as AnyStateMachine;
  if ((machine.options as object | undefined) === undefined)
    throw new TwinlineError(
      'ERR_CONFIG',
      `Cannot compile the machine "${chart.id}": it was created by an XState before 5.31, and Twinline needs xstate ${XSTATE_RANGE}. Update xstate.`,
    );
  const source: AnyStateMachine = isOwn ? machine : machine.provide({});
  const { maxIterations } = source.options;
  source.options.maxIterations = Math.min(maxIterations ?? Infinity, ENGINE_LIMITS.microstepsPerStep);
  return source;
}

/** Every state of a machine, in the order of the machine; the first is its root. */
export function listNodes({ root }: AnyStateMachine): AnyStateNode[] {
  const list = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(list)];
  return list(root);
}

/** The services that the machine's states invoke, by the id of the invoke, which states that exclude each other may share. */
export function findInvokedServices(nodes: readonly AnyStateNode[]): Map<string, Set<string>> {
  const services = new Map<string, Set<string>>();
  for (const { id, src } of nodes.flatMap((node) => node.invoke))
    services.set(id, (services.get(id) ?? new Set()).add(String(src)));
  return services;
}

/** The promises that a machine brings along, in its `setup` or its states, as services by the name that it invokes them by. */
export function findOwnServices(source: AnyStateMachine, nodes: readonly AnyStateNode[]): Services {
  const own = nodes.flatMap((node) =>
    node.invoke.flatMap(({ src }, at): [string, Service][] => {
      const logic = findLogic(source, node, at);
      return logic !== UNANSWERED && isPromise(logic) ? [[String(src), toService(logic)]] : [];
    }),
  );
  return Object.fromEntries(own);
}

const toService =
  ({ config }: PromiseLogic): Service =>
  async (input, { signal }) =>
    config({ input, signal, emit: () => {} });

/** Stands in machines for the services that are outside of them. */
export const UNANSWERED = fromPromise(() => new Promise(() => {}));

interface PromiseLogic {
  /** The function that `fromPromise` was given. */
  config(args: { readonly input: Json; readonly signal: AbortSignal; readonly emit: () => void }): Json | Promise<Json>;
}

const OUTPUT = {};

// XState has no mark for its kinds of actors. That of a promise ends with what its promise was resolved with.
function isPromise(logic: unknown): logic is PromiseLogic {
  const { config, transition } = (logic ?? {}) as { readonly config?: unknown; readonly transition?: unknown };
  if (typeof config !== 'function' || typeof transition !== 'function') return false;
  try {
    const end = transition({ status: 'active' }, { type: 'xstate.promise.resolve', data: OUTPUT }, {});
    return end.status === 'done' && end.output === OUTPUT;
  } catch {
    return false;
  }
}

function findLogic(source: AnyStateMachine, node: AnyStateNode, at: number): unknown {
  const { src } = toList(node.config.invoke)[at] as { readonly src: unknown };
  return typeof src === 'string' ? source.implementations.actors[src] : src;
}

const toList = (value: unknown): readonly unknown[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** What a state asks for that cannot be kept, and what does the same. */
interface Refusal {
  readonly feature: string;
  readonly instead: string;
}

const CALL_A_SERVICE = 'Invoke a service by its name, or a fromPromise.';

/** Throws ERR_CONFIG where a state uses what does not outlast the process, or what only another actor would notice. */
export function refuseUnsupported(source: AnyStateMachine, nodes: readonly AnyStateNode[]): void {
  const refuse = (node: AnyStateNode, { feature, instead }: Refusal) => {
    const state = node.path.length ? `state "${node.path.join('.')}"` : 'root';
    return new TwinlineError(
      'ERR_CONFIG',
      `Cannot compile the machine "${source.id}": its ${state} ${feature}. ${instead}`,
    );
  };
  const ids = new Set<string>();
  for (const node of nodes) {
    if (ids.has(node.id))
      throw refuse(node, { feature: `has the id "${node.id}" of another state`, instead: 'Give each state its own.' });
    ids.add(node.id);
    for (const action of listActions(node)) {
      const refusal = refusalOfAction(source, action);
      if (refusal) throw refuse(node, refusal);
    }
    for (const [at, invoke] of node.invoke.entries()) {
      const rival = nodes.find((other) => mayMeet(node, other, at, invoke.id));
      const refusal = rival
        ? {
            feature: `invokes "${invoke.id}" while the state "${rival.path.join('.')}" may do so, too`,
            instead: 'Give each invoke an id of its own.',
          }
        : refusalOfInvoke(invoke, findLogic(source, node, at));
      if (refusal) throw refuse(node, refusal);
    }
  }
}

function listActions(node: AnyStateNode): unknown[] {
  const transitions = [...(node.always ?? []), ...[...node.transitions.values()].flat()];
  const initial = node.type === 'compound' ? node.initial.actions : [];
  return [...node.entry, ...node.exit, ...initial, ...transitions.flatMap(({ actions }) => actions as unknown[])];
}

/** Whether another invoke with this id may run at the same time. */
function mayMeet(node: AnyStateNode, other: AnyStateNode, at: number, id: string): boolean {
  if (other === node) return node.invoke.some((invoke, index) => index !== at && invoke.id === id);
  if (!other.invoke.some((invoke) => invoke.id === id)) return false;
  let shared = 0;
  while (shared < node.path.length && node.path[shared] === other.path[shared]) shared++;
  if (shared === node.path.length || shared === other.path.length) return true;
  let ancestor: AnyStateNode = node;
  while (ancestor.path.length > shared) ancestor = ancestor.parent!;
  return ancestor.type === 'parallel';
}

function refusalOfInvoke(invoke: { readonly src: unknown }, logic: unknown): Refusal | undefined {
  const { systemId, onSnapshot } = invoke as { readonly systemId?: unknown; readonly onSnapshot?: unknown };
  if (logic !== undefined && !isPromise(logic)) {
    const isMachine = typeof logic === 'object' && logic !== null && 'root' in logic;
    const kind = isMachine ? 'a machine' : 'an actor that is no promise (a callback, an observable or a transition)';
    const inside = isMachine ? ' Or put its states into this one.' : '';
    return { feature: `invokes ${kind}, which does not outlast the process`, instead: CALL_A_SERVICE + inside };
  }
  if (systemId !== undefined)
    return { feature: 'gives an invoke a systemId, by which nothing could reach it', instead: 'Leave it out.' };
  if (onSnapshot !== undefined)
    return { feature: 'has onSnapshot for a service, which has only an end', instead: 'Use onDone and onError.' };
  return undefined;
}

const EMPTY = /(?:=>|\))\s*\{\s*\}$/;

interface BuiltIn {
  readonly type?: unknown;
  readonly resolve?: unknown;
  readonly to?: unknown;
  readonly id?: unknown;
  readonly sendId?: unknown;
}

function refusalOfAction(source: AnyStateMachine, action: unknown): Refusal | undefined {
  const { type: name } = (typeof action === 'string' ? { type: action } : action) as { readonly type: string };
  const run = typeof action === 'function' ? action : (source.implementations.actions[name] as unknown);
  if (run === undefined) return undefined;
  const { type, resolve, to, id, sendId } = run as BuiltIn;
  // One that does nothing only types the parameters of a fact.
  if (resolve === undefined && EMPTY.test(String(run))) return undefined;
  if (resolve === undefined)
    return {
      feature: `runs a function as an action${typeof action === 'function' ? '' : `, "${name}"`}, and a function that acts on the world cannot act exactly once`,
      instead:
        'Use assign, emit what others are to know (onFact), name an action without a function, or invoke a service.',
    };
  if (type === 'xstate.spawnChild') return { feature: 'spawns a child', instead: CALL_A_SERVICE };
  if (type === 'xstate.sendTo' && to !== undefined && typeof to !== 'function' && to !== '#_internal')
    return {
      feature: 'sends to another actor (sendTo, sendParent, forwardTo)',
      instead: 'A machine sends to itself: raise, or sendTo with ({ self }) => self.',
    };
  const own = type === 'xstate.cancel' ? sendId : id;
  if (
    (type === 'xstate.cancel' || type === 'xstate.raise' || type === 'xstate.sendTo') &&
    own !== undefined &&
    typeof own !== 'string' &&
    typeof own !== 'function'
  )
    return { feature: `has an event with the id ${JSON.stringify(own)}`, instead: 'An id is a text.' };
  return undefined;
}
