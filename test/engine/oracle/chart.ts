// Statecharts as plain data, so that random ones can be made smaller, printed and kept; and the XState machines that they stand for.

import {
  type AnyStateMachine,
  and,
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  not,
  or,
  raise,
  sendTo,
  stateIn,
} from 'xstate';

/** A config of XState whose guards, actions and delays are data. */
export interface Chart {
  readonly id?: string;
  readonly type?: string;
  readonly initial?: unknown;
  readonly history?: unknown;
  readonly target?: string;
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
  | { readonly and: readonly GuardData[] }
  | { readonly or: readonly GuardData[] }
  | { readonly not: GuardData };

export type ActionData =
  | { readonly note: string }
  | { readonly add: number }
  | { readonly take: true }
  | { readonly emit: string }
  | { readonly raise: string; readonly delay?: number | string; readonly id?: string }
  | { readonly send: string; readonly delay?: number | string; readonly id?: string }
  | { readonly cancel: string }
  | { readonly when: GuardData; readonly act: readonly ActionData[] };

interface Context {
  readonly n: number;
  readonly log: readonly string[];
  readonly got: readonly unknown[];
}
type Args = { readonly context: Context; readonly event: { readonly type: string; readonly v?: unknown } };

const logged = assign(({ context }: Args, { word }: { word: string }) => ({ log: [...context.log, word] }) as never);
const note = (word: string) => ({ type: 'note', params: { word } });
const payload = (event: object) => {
  const { type, v, output, error } = event as { type: string; v?: number; output?: unknown; error?: { code: string } };
  return [type, output ?? error?.code ?? v ?? null];
};

/** The machine that a chart stands for. Each state notes its entry and exit, each invoke gets what was counted. */
export function toMachine(chart: Chart): AnyStateMachine {
  const config = { id: 'm', context: { n: 0, log: [], got: [] }, ...toState(chart, '') };
  const implementations = {
    actions: { note: logged },
    guards: { less: ({ context }: Args, { than }: { than: number }) => context.n < than },
    delays: { growing: ({ context }: Args) => 10 * (1 + (context.n % 4)), short: 20 },
  };
  return createMachine(config as never, implementations as never) as AnyStateMachine;
}

function toState(chart: Chart, path: string): object {
  if (chart.history !== undefined) return chart;
  const { states, entry = [], exit = [], on, after, always, onDone, invoke, output, ...same } = chart;
  const inner = Object.entries(states ?? {}).map(([key, child]) => [key, toState(child, `${path}${key}.`)]);
  return {
    ...same,
    ...(states && { states: Object.fromEntries(inner) }),
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
  if ('and' in guard) return and(guard.and.map(toGuard) as never);
  if ('or' in guard) return or(guard.or.map(toGuard) as never);
  return not(toGuard(guard.not) as never);
}

function toAction(action: ActionData): unknown {
  if ('note' in action) return note(action.note);
  if ('add' in action) return assign(({ context }: Args) => ({ n: context.n + action.add }) as never);
  if ('take' in action)
    return assign(({ context, event }: Args) => ({ got: [...context.got, payload(event)] }) as never);
  if ('emit' in action) return emit(({ context }: Args) => ({ type: action.emit, n: context.n }) as never);
  if ('cancel' in action) return cancel(action.cancel);
  if ('when' in action)
    return enqueueActions(({ enqueue, check }) => {
      if (check(toGuard(action.when) as never)) for (const one of action.act) enqueue(toAction(one) as never);
    });
  const options = {
    ...(action.delay !== undefined && { delay: action.delay as never }),
    ...(action.id !== undefined && { id: action.id }),
  };
  if ('raise' in action) return raise({ type: action.raise, v: 1 } as never, options);
  return sendTo(({ self }) => self, { type: action.send, v: 2 } as never, options);
}
