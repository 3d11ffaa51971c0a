// The vocabulary of every menu flow: the guards and actions that a compiled flow names, each with its parameters.
//
// Pure: what needs an expression language or a validator gets it as a hand. The context of a menu is its variables,
// beside them `$stack` (screens to go back to), `$page`, `$bad` (refused answers in a row) and `$frames` (contexts of
// the calling flows, when this flow was called by another).

import { assign, type EventObject } from 'xstate';

type Data = null | boolean | number | string | readonly Data[] | { readonly [key: string]: Data };

export interface MenuContext {
  readonly [variable: string]: Data;
  readonly $stack: readonly string[];
  readonly $page: number;
  readonly $bad: number;
}

type Values = { readonly [name: string]: Data };

/** What lib provides once at start. */
export interface MenuImplementations {
  /** Whether a condition holds over these variables. */
  holds(condition: string, scope: Values): boolean;
  /** New values by name, as the flow's variables may hold them; strings that begin with `=` are expressions. */
  evaluate(values: Values, scope: Values, flow: string): Values;
  /** The value as that variable of the flow may hold it: cut to its declared size. */
  fit(flow: string, variable: string, value: Data): Data;
}

interface Answered extends EventObject {
  readonly value?: Data;
  /** The answer satisfies the screen's rule. */
  readonly accepted?: boolean;
}
interface Called extends EventObject {
  readonly output?: Data;
  readonly error?: Data;
}

interface Leave {
  /** The flow whose variables are set. */
  readonly of: string;
  /** The interactive screen that is left, to come back to. */
  readonly from?: string;
  /** Nothing lies behind the screen that is entered. */
  readonly barrier?: boolean;
  readonly save?: string;
  readonly set?: Values;
}

interface Enter {
  /** The flow that is called. */
  readonly of: string;
  /** Its variables with their defaults. */
  readonly vars: Values;
  readonly with?: Values;
  /** Nothing lies behind its first screen. */
  readonly barrier?: boolean;
}

const STACK_MAX = 20;
const BAD_MAX = 99;

const fresh = { $page: 0, $bad: 0 };

// A barrier stands before the screens of the calling flows too.
function behind(context: MenuContext, { from, barrier }: Pick<Leave, 'from' | 'barrier'>): Partial<MenuContext> {
  if (barrier) return { $stack: [], ...(framesOf(context).length && { $frames: walled(framesOf(context)) }) };
  return from === undefined ? {} : { $stack: [...context.$stack, from].slice(-STACK_MAX) };
}

const walled = (frames: readonly MenuContext[]) => frames.map((frame) => ({ ...frame, $stack: [] })) as unknown as Data;

/** Guards and actions by name, for `createMachine(config, implementations)`. */
export function menuVocabulary(implementations: MenuImplementations) {
  const updated = (context: MenuContext, leave: Leave, saved: Values = {}): Partial<MenuContext> => {
    const set = leave.set ? implementations.evaluate(leave.set, { ...context, ...saved }, leave.of) : {};
    return { ...saved, ...set, ...fresh, ...behind(context, leave) } as Partial<MenuContext>;
  };
  const saving = ({ save, of }: Pick<Leave, 'save' | 'of'>, value: Data | undefined): Values =>
    save === undefined ? {} : { [save]: implementations.fit(of, save, value ?? null) };
  const returned = (context: MenuContext, to: Pick<Leave, 'save' | 'of'>): MenuContext =>
    ({ ...callerOf(context), ...saving(to, context.$output) }) as MenuContext;

  return {
    guards: {
      /** An option, a way out of a branch: its condition holds. */
      when: ({ context }: { context: MenuContext }, { condition }: { condition: string }) =>
        implementations.holds(condition, context),
      /** The answer on an input screen satisfies its rule. */
      accepted: ({ event }: { event: Answered }) => event.accepted === true,
      /** This refused answer is the last that the screen allows. */
      exhausted: ({ context }: { context: MenuContext }, { attempts }: { attempts: number }) =>
        context.$bad + 1 >= attempts,
      /** A condition over the variables and what the service answered. */
      answered: (
        { context, event }: { context: MenuContext; event: Called },
        way: { condition: string; save?: string; of: string },
      ) => implementations.holds(way.condition, { ...context, ...saving(way, event.output) }),
      /** A condition over the variables and, as `error`, why the service failed. */
      failed: ({ context, event }: { context: MenuContext; event: Called }, { condition }: { condition: string }) =>
        implementations.holds(condition, { ...context, error: event.error ?? null }),
      /** A condition over the caller's variables after a called flow has ended. */
      returned: ({ context }: { context: MenuContext }, way: { condition: string; save?: string; of: string }) =>
        implementations.holds(way.condition, returned(context, way)),
    },
    actions: {
      /** An option was chosen, or a branch was taken. */
      go: assign(({ context }, leave: Leave) => updated(context as MenuContext, leave)),
      /** An answer was accepted, or a row was picked. */
      keep: assign(({ context, event }, leave: Leave) =>
        updated(context as MenuContext, leave, saving(leave, (event as Answered).value)),
      ),
      /** An answer was refused. */
      refuse: assign(({ context }) => ({ $bad: Math.min((context as MenuContext).$bad + 1, BAD_MAX) })),
      /** The next page of a long screen. */
      turnPage: assign(({ context }) => ({ $page: (context as MenuContext).$page + 1, $bad: 0 })),
      /** A service answered. */
      receive: assign(({ context, event }, leave: Leave) =>
        updated(context as MenuContext, leave, saving(leave, (event as Called).output)),
      ),
      /** A service failed; `error` is in reach of `set`. */
      giveUp: assign(({ context, event }, leave: Leave) => {
        const scope = { ...(context as MenuContext), error: (event as Called).error ?? null };
        const set = leave.set ? implementations.evaluate(leave.set, scope, leave.of) : {};
        return { ...set, ...fresh, ...behind(context as MenuContext, leave) };
      }),
      /** Back to the screen on top of the stack, leaving called flows as long as their own stacks are empty. */
      goBack: assign(({ context }) => {
        const inner = context as MenuContext;
        let at = inner;
        while (!at.$stack.length && framesOf(at).length) at = callerOf(at);
        return replaced(inner, { ...at, ...fresh, $stack: at.$stack.slice(0, -1) } as MenuContext);
      }),
      /** To a screen that the author named as the way back. */
      goBackTo: assign(({ context }, { screen }: { screen: string }) => {
        const stack = (context as MenuContext).$stack;
        const at = stack.lastIndexOf(screen);
        return { ...fresh, $stack: at < 0 ? [] : stack.slice(0, at) };
      }),
      /** To the first screen of the outermost flow. */
      goHome: assign(({ context }) => {
        let outer = context as MenuContext;
        while (framesOf(outer).length) outer = callerOf(outer);
        return replaced(context as MenuContext, { ...outer, ...fresh, $stack: [] } as MenuContext);
      }),
      /** A flow is called: its variables take the place of the caller's. */
      enterFlow: assign(({ context }, { of, vars, with: given, barrier }: Enter) => {
        const caller = context as MenuContext;
        const inherited = 'lang' in vars && caller.lang !== undefined ? { lang: caller.lang } : {};
        const set = given ? implementations.evaluate(given, caller, of) : {};
        const frames = [...framesOf(caller), withoutFrames(caller) as MenuContext];
        return replaced(caller, {
          ...vars,
          ...inherited,
          ...set,
          ...fresh,
          $stack: [],
          $frames: barrier ? walled(frames) : (frames as unknown as Data),
        } as MenuContext);
      }),
      /** What a called flow gives back, set by its end screen. */
      output: assign(({ context }, { of, values }: { of: string; values: Values }) => ({
        $output: implementations.evaluate(values, context as MenuContext, of),
      })),
      /** A called flow has ended: the caller's variables are back. */
      leaveFlow: assign(({ context }, leave: Leave) => {
        const inner = context as MenuContext;
        const caller = returned(inner, leave);
        const set = leave.set ? implementations.evaluate(leave.set, caller, leave.of) : {};
        return replaced(inner, { ...caller, ...set, ...fresh, ...behind(caller, leave) } as MenuContext);
      }),
    },
  };
}

const framesOf = (context: MenuContext): readonly MenuContext[] =>
  (context.$frames as unknown as readonly MenuContext[] | undefined) ?? [];

function callerOf(context: MenuContext): MenuContext {
  const frames = framesOf(context);
  const caller = frames.at(-1) ?? context;
  return frames.length > 1 ? ({ ...caller, $frames: frames.slice(0, -1) as unknown as Data } as MenuContext) : caller;
}

function withoutFrames({ $frames: _, ...own }: MenuContext & { $frames?: Data }): Values {
  return own;
}

// assign() merges, so what the next context does not have is removed by name.
function replaced(before: MenuContext, next: MenuContext): Partial<MenuContext> {
  const gone: Record<string, undefined> = {};
  for (const name in before) if (!(name in next)) gone[name] = undefined;
  return { ...gone, ...next } as Partial<MenuContext>;
}
