// Statecharts as plain data, so that random ones can be made smaller, printed and kept; and the XState machines that they stand for.

import {
  type AnyStateMachine,
  and,
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  log,
  not,
  or,
  raise,
  sendTo,
  stateIn,
  stopChild,
} from 'xstate';
import { toStateValue } from '../../../lib/engine/machine/state-path.ts';

/** A config of XState whose guards, actions and delays are data. */
export interface Chart {
  readonly id?: string;
  readonly type?: string;
  readonly initial?: string | { readonly target: string; readonly actions: readonly ActionData[] };
  readonly history?: unknown;
  readonly target?: string | readonly string[];
  readonly tags?: readonly string[];
  /** An event of its own leads to it from anywhere. */
  readonly route?: { readonly guard?: GuardData };
  readonly states?: { readonly [key: string]: Chart };
  readonly entry?: readonly ActionData[];
  readonly exit?: readonly ActionData[];
  readonly on?: { readonly [event: string]: readonly TransitionData[] };
  readonly after?: { readonly [delay: string]: readonly TransitionData[] };
  readonly always?: readonly TransitionData[];
  readonly onDone?: readonly TransitionData[];
  readonly invoke?: readonly InvokeData[];
  readonly output?: number;
}

export interface TransitionData {
  readonly target?: string | readonly string[];
  readonly reenter?: boolean;
  readonly guard?: GuardData;
  readonly actions?: readonly ActionData[];
}

export interface InvokeData {
  readonly id?: string;
  readonly src: string;
  readonly onDone?: readonly TransitionData[];
  readonly onError?: readonly TransitionData[];
}

export type GuardData =
  | { readonly less: number }
  | { readonly odd: true }
  | { readonly value: number }
  | { readonly in: string }
  /** As `in`, but by its path. */
  | { readonly inside: string }
  | { readonly throws: true }
  | { readonly and: readonly GuardData[] }
  | { readonly or: readonly GuardData[] }
  | { readonly not: GuardData };

export type ActionData =
  | { readonly note: string }
  | { readonly add: number }
  | { readonly take: true }
  | { readonly emit: string }
  | { readonly log: string }
  /** An action that has no function. */
  | { readonly tell: string }
  /** A note with a parameter that is computed. */
  | { readonly mark: true }
  | { readonly stop: string }
  | { readonly throws: true }
  | { readonly raise: string; readonly delay?: number | string; readonly id?: string; readonly computed?: true }
  | { readonly send: string; readonly delay?: number | string; readonly id?: string }
  | { readonly cancel: string }
  | { readonly when: GuardData; readonly act: readonly ActionData[] };

interface Context {
  readonly n: number;
  /** The last notes, and a sum of all of them in their order: a list of all would make endless loops slow. */
  readonly log: readonly string[];
  readonly sum: number;
  readonly got: readonly unknown[];
}
type Args = { readonly context: Context; readonly event: { readonly type: string; readonly v?: unknown } };

const NOTES_KEPT = 20;
const PRIME = 1_000_003;
const append = <T>(list: readonly T[], item: T) => [...list.slice(1 - NOTES_KEPT), item];
const logged = assign(({ context }: Args, { word }: { word: string }) => {
  const sum = [...word].reduce((before, sign) => (before * 31 + sign.charCodeAt(0)) % PRIME, context.sum);
  return { log: append(context.log, word), sum } as never;
});
const note = (word: string) => ({ type: 'note', params: { word } });
const payload = (event: object) => {
  const { type, v, output, error } = event as { type: string; v?: number; output?: unknown; error?: { code: string } };
  return [type, output ?? error?.code ?? v ?? null];
};

/** The machine that a chart stands for. Each state notes its entry and exit, each invoke gets what was counted. */
export function toMachine(chart: Chart): AnyStateMachine {
  const context = ({ input }: { input?: { n?: number } }) => ({ n: input?.n ?? 0, log: [], sum: 0, got: [] });
  const config = { id: 'm', context, ...toState(chart, '') };
  const implementations = {
    actions: { note: logged },
    guards: { less: ({ context }: Args, { than }: { than: number }) => context.n < than },
    delays: { growing: ({ context }: Args) => 10 * (1 + (context.n % 4)), short: 20 },
  };
  return createMachine(config as never, implementations as never) as AnyStateMachine;
}

function toState(chart: Chart, path: string): object {
  if (chart.history !== undefined) return chart;
  const { states, entry = [], exit = [], initial, on, after, always, onDone, invoke, output, route, ...same } = chart;
  const inner = Object.entries(states ?? {}).map(([key, child]) => [key, toState(child, `${path}${key}.`)]);
  return {
    ...same,
    ...(states && { states: Object.fromEntries(inner) }),
    ...(initial !== undefined && {
      initial: typeof initial === 'string' ? initial : { ...initial, actions: initial.actions.map(toAction) },
    }),
    ...(route && { route: route.guard ? { guard: toGuard(route.guard) } : {} }),
    entry: [note(`+${path}`), ...entry.map(toAction)],
    exit: [note(`-${path}`), ...exit.map(toAction)],
    ...(on && { on: toTable(on) }),
    ...(after && { after: toTable(after) }),
    ...(always && { always: always.map(toTransition) }),
    ...(onDone && { onDone: onDone.map(toTransition) }),
    ...(invoke && { invoke: invoke.map(toInvoke) }),
    ...(output !== undefined && { output: ({ context }: Args) => ({ of: path, n: context.n + output }) }),
  };
}

const toTable = (table: { readonly [key: string]: readonly TransitionData[] }) =>
  Object.fromEntries(Object.entries(table).map(([key, list]) => [key, list.map(toTransition)]));

const toInvoke = ({ onDone, onError, ...same }: InvokeData) => ({
  ...same,
  input: ({ context }: Args) => ({ n: context.n }),
  ...(onDone && { onDone: onDone.map(toTransition) }),
  ...(onError && { onError: onError.map(toTransition) }),
});

const toTransition = ({ guard, actions, ...same }: TransitionData) => ({
  ...same,
  ...(guard && { guard: toGuard(guard) }),
  ...(actions && { actions: actions.map(toAction) }),
});

function toGuard(guard: GuardData): unknown {
  if ('less' in guard) return { type: 'less', params: { than: guard.less } };
  if ('odd' in guard) return ({ context }: Args) => context.n % 2 === 1;
  if ('value' in guard) return ({ event }: Args) => event.v === guard.value;
  if ('in' in guard) return stateIn(guard.in as never);
  if ('inside' in guard) return stateIn(toStateValue(guard.inside) as never);
  if ('throws' in guard) return fail;
  if ('and' in guard) return and(guard.and.map(toGuard) as never);
  if ('or' in guard) return or(guard.or.map(toGuard) as never);
  return not(toGuard(guard.not) as never);
}

const inlineDelay = ({ context }: Args) => 15 * (1 + (context.n % 3));
const fail = (): never => {
  throw new Error('thrown on purpose');
};

function toAction(action: ActionData): unknown {
  if ('note' in action) return note(action.note);
  if ('add' in action) return assign({ n: ({ context }: Args) => context.n + action.add } as never);
  if ('take' in action)
    return assign(({ context, event }: Args) => ({ got: append(context.got, payload(event)) }) as never);
  if ('emit' in action) return emit(({ context }: Args) => ({ type: action.emit, n: context.n }) as never);
  if ('log' in action) return log(({ context }: Args) => context.n, action.log);
  if ('tell' in action) return { type: action.tell, params: ({ context }: Args) => ({ n: context.n }) };
  if ('mark' in action) return { type: 'note', params: ({ context }: Args) => ({ word: `#${context.n}` }) };
  if ('stop' in action) return stopChild(action.stop);
  if ('throws' in action) return assign(fail);
  if ('cancel' in action) return cancel(action.cancel);
  if ('when' in action)
    return enqueueActions(({ enqueue, check }) => {
      if (check(toGuard(action.when) as never)) for (const one of action.act) enqueue(toAction(one) as never);
    });
  const options = {
    ...(action.delay !== undefined && { delay: (action.delay === 'inline' ? inlineDelay : action.delay) as never }),
    ...(action.id !== undefined && { id: action.id }),
  };
  if ('raise' in action) {
    const event = { type: action.raise, v: 1 };
    return raise((action.computed ? ({ context }: Args) => ({ ...event, v: context.n }) : event) as never, options);
  }
  return sendTo(({ self }) => self, { type: action.send, v: 2 } as never, options);
}
