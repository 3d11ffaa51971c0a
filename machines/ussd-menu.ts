// The vocabulary of every menu flow: the guards and actions that a compiled flow names, each with its parameters. And a
// small menu in the form in which flows are compiled, to open in Stately's editor.
//
// Pure: lib provides expressions and the sizes of variables.

import { assign, enqueueActions, type PromiseActorLogic, raise, setup } from 'xstate';
import {
  changeBy,
  changeForGood,
  clearStacks,
  dropScreens,
  findCaller,
  fresh,
  inheritValues,
  readFrames,
  readTried,
  replaceContext,
  stepBack,
  stepBackTo,
} from './menu-history.ts';
import type {
  After,
  Condition,
  Data,
  Enter,
  Leave,
  MenuContext,
  MenuEvent,
  MenuImplementations,
  MenuValues,
} from './menu-types.ts';

const BAD_MAX = 99;

/** Named by the author of a flow; the engine makes the calls. */
type Services = { readonly [name: string]: PromiseActorLogic<Data, MenuValues> };

/** Parameters of the action `task`: one call of a service after the reply. */
export interface Task {
  readonly id: string;
  readonly service: string;
  readonly input: MenuValues;
}

// The types of setup() know no action of its own inside another one.
type EnqueueTask = (action: { readonly type: 'task'; readonly params: Task }) => void;

type ResultParams = Condition & Pick<Leave, 'of' | 'save'>;

/**
 * The guards and actions of menus, for the config of a compiled flow: `menuVocabulary(implementations).createMachine(config)`.
 * @example
 * const vocabulary = menuVocabulary({ holds: () => true, evaluate: (values) => values, fit: (_flow, _name, value) => value, read: (values) => values });
 * typeof vocabulary.createMachine; // → 'function'
 */
export function menuVocabulary(implementations: MenuImplementations) {
  const evaluateSet = (leave: Leave, scope: MenuValues): MenuValues =>
    leave.set ? implementations.evaluate(leave.set, scope, leave.of) : {};
  const saveAndSet = (context: MenuContext, leave: Leave, saved: MenuValues): MenuValues => ({
    ...saved,
    ...evaluateSet(leave, { ...context, ...saved }),
  });
  const saveAs = ({ save, of }: Pick<Leave, 'save' | 'of'>, value: Data): MenuValues =>
    save === undefined ? {} : { [save]: implementations.fit(of, save, value) };
  const restoreCaller = (context: MenuContext, to: Pick<Leave, 'save' | 'of'>): MenuContext =>
    ({ ...findCaller(context), ...saveAs(to, context.$output ?? null) }) as MenuContext;

  return setup({
    types: { context: {} as MenuContext, events: {} as MenuEvent, input: {} as MenuValues },
    actors: {} as Services,
    guards: {
      /** The condition of an option or of a way of a branch holds. */
      when: ({ context }, { condition }: Condition) => implementations.holds(condition, context),
      /** The answer on an input screen satisfies its rule. */
      accepted: ({ event }) => 'accepted' in event && event.accepted === true,
      /** This refused answer is the last that the screen allows. */
      exhausted: ({ context }, { attempts }: { readonly attempts: number }) => context.$bad + 1 >= attempts,
      /** The answers of a screen that were refused later are as many as it allows. */
      spent: ({ context }, { attempts }: { readonly attempts: number }) => context.$bad >= attempts,
      /** A condition over the variables and what the service answered. */
      answered: ({ context, event }, way: ResultParams) =>
        implementations.holds(way.condition, { ...context, ...saveAs(way, dataIn(event, 'output')) }),
      /** A condition over the variables and, as `error`, why the service failed. */
      failed: ({ context, event }, { condition }: Condition) =>
        implementations.holds(condition, { ...context, error: dataIn(event, 'error') }),
      /** A condition over the caller's variables after a called flow has ended. */
      returned: ({ context }, way: ResultParams) => implementations.holds(way.condition, restoreCaller(context, way)),
    },
    actions: {
      /** An option was chosen, or a branch was taken. */
      go: assign(({ context }, leave: Leave) => changeBy(context, leave, evaluateSet(leave, context))),
      /** An answer was accepted, or a row was picked. */
      keep: assign(({ context, event }, leave: Leave) =>
        changeBy(context, leave, saveAndSet(context, leave, saveAs(leave, dataIn(event, 'value')))),
      ),
      /** An answer was refused. */
      refuse: assign(({ context }) => ({
        $bad: Math.min(context.$bad + 1, BAD_MAX),
        ...(context.$why !== undefined && { $why: undefined }),
      })),
      /** An answer that was accepted before is refused by a way that leads back to its screen. */
      sendBack: assign(({ context }, { screen, why }: { readonly screen: string; readonly why: string }) => {
        const at = context.$stack.lastIndexOf(screen);
        const $bad = Math.min((readTried(context)[screen] ?? 0) + 1, BAD_MAX);
        return { $bad, $why: why, ...(at >= 0 && dropScreens(context, at)) };
      }),
      /** The next page of a long screen. */
      turnPage: assign(({ context }) => ({ $page: context.$page + 1, $bad: 0 })),
      /** A service answered. */
      receive: assign(({ context, event }, leave: Leave) =>
        changeForGood(context, leave, saveAndSet(context, leave, saveAs(leave, dataIn(event, 'output')))),
      ),
      /** A service failed; `error` is in reach of `set`. */
      giveUp: assign(({ context, event }, leave: Leave) =>
        changeForGood(context, leave, evaluateSet(leave, { ...context, error: dataIn(event, 'error') })),
      ),
      /** Back to the screen on top of the stack and its values, leaving called flows as long as their own stacks are empty. */
      goBack: assign(({ context }) => stepBack(context)),
      /** To a screen that the author named as the way back; its values are back if it is on the stack. */
      goBackTo: assign(({ context }, { screen }: { readonly screen: string }) => stepBackTo(context, screen)),
      /** To the first screen of the outermost flow. */
      goHome: assign(({ context }) => {
        let outer = context;
        while (readFrames(outer).length) outer = findCaller(outer);
        return replaceContext(context, { ...outer, ...fresh, $stack: [], $undo: [] });
      }),
      /** A flow is called: its variables take the place of the caller's. */
      enterFlow: assign(({ context }, { of, at, vars, with: given, by, barrier }: Enter) => {
        const inherited = inheritValues(context, vars);
        const set = given ? implementations.evaluate(given, context, of, by) : {};
        const { $frames: _, ...own } = context as MenuContext & { $frames?: Data };
        const frames = [...readFrames(context), { ...own, $at: at } as MenuContext];
        const $frames = barrier ? clearStacks(frames) : (frames as unknown as Data);
        return replaceContext(context, { ...vars, ...inherited, ...set, ...fresh, $stack: [], $frames } as MenuContext);
      }),
      /** What a called flow gives back, set by its end screen. */
      output: assign(({ context }, { of, values }: { readonly of: string; readonly values: MenuValues }) => ({
        $output: implementations.evaluate(values, context, of),
      })),
      /** Services are called once the reply is stored, with the values of now. */
      after: enqueueActions(({ context, enqueue }, { of, tasks }: After) => {
        for (const { id, service, with: values } of tasks)
          (enqueue as unknown as EnqueueTask)({
            type: 'task',
            params: { id, service, input: implementations.read(values, context, of) },
          });
      }),
      /** For the engine, which makes the call. */
      task: (_, _params: Task) => {},
      /** The called flow has ended: the ways of the screen that called it decide where it goes on. */
      return: raise(({ context }) => ({ type: `return.${readFrames(context).at(-1)!.$at as string}` }) as const),
      /** The caller's variables are back. */
      leaveFlow: assign(({ context }, leave: Leave) => {
        const caller = findCaller(context);
        const changes = saveAndSet(caller, leave, saveAs(leave, context.$output ?? null));
        const change = context.$asked ? changeForGood : changeBy;
        return replaceContext(context, { ...caller, ...change(caller, leave, changes) } as MenuContext);
      }),
      /** For statistics: the engine publishes it as a fact. */
      track: (_, _params: { readonly name: string }) => {},
    },
  });
}

/** A config of {@link menuVocabulary}. */
export type MenuConfig = Parameters<ReturnType<typeof menuVocabulary>['createMachine']>[0];

const dataIn = (event: MenuEvent, field: 'value' | 'output' | 'error'): Data =>
  (event as { readonly [field: string]: Data | undefined })[field] ?? null;

// Without expressions and variables: to look at, to draw, to edit.
const LOOK: MenuImplementations = {
  holds: () => true,
  evaluate: () => ({}),
  read: () => ({}),
  fit: (_flow, _variable, value) => value,
};

/** A menu with a screen of each kind that waits or calls, exactly as its flow is compiled. */
export const ussdMenu = menuVocabulary(LOOK).createMachine({
  id: 'ussd-menu',
  initial: 'welcome',
  context: { name: null, rows: [], item: null, $stack: [], $page: 0, $bad: 0 },
  states: {
    welcome: {
      meta: { screen: 'welcome', type: 'menu' },
      on: {
        more: { actions: [{ type: 'turnPage' }] },
        invalid: { actions: [{ type: 'refuse' }] },
        'opt.rename': { target: 'name', actions: [{ type: 'go', params: { of: 'ussd-menu', from: 'welcome' } }] },
        'opt.look': {
          guard: { type: 'when', params: { condition: 'name != null' } },
          target: 'load',
          actions: [{ type: 'go', params: { of: 'ussd-menu', from: 'welcome' } }],
        },
      },
    },
    name: {
      meta: { screen: 'name', type: 'input' },
      on: {
        more: { actions: [{ type: 'turnPage' }] },
        invalid: { actions: [{ type: 'refuse' }] },
        text: [
          {
            guard: { type: 'accepted' },
            target: 'welcome',
            actions: [{ type: 'keep', params: { of: 'ussd-menu', from: 'name', save: 'name' } }],
          },
          {
            guard: { type: 'exhausted', params: { attempts: 3 } },
            target: 'bye',
            actions: [{ type: 'go', params: { of: 'ussd-menu' } }],
          },
          { actions: [{ type: 'refuse' }] },
        ],
      },
    },
    load: {
      meta: { screen: 'load', type: 'call', of: 'ussd-menu', with: { name: '=name' } },
      invoke: {
        id: 'load',
        src: 'items',
        onDone: [
          {
            guard: { type: 'answered', params: { condition: 'len(rows) > 0', of: 'ussd-menu', save: 'rows' } },
            target: 'choose',
            actions: [{ type: 'receive', params: { of: 'ussd-menu', save: 'rows' } }],
          },
          { target: 'bye', actions: [{ type: 'receive', params: { of: 'ussd-menu', save: 'rows' } }] },
        ],
        onError: [{ target: 'bye', actions: [{ type: 'giveUp', params: { of: 'ussd-menu' } }] }],
      },
    },
    choose: {
      meta: { screen: 'choose', type: 'list' },
      on: {
        more: { actions: [{ type: 'turnPage' }] },
        invalid: { actions: [{ type: 'refuse' }] },
        pick: {
          target: 'bye',
          actions: [{ type: 'keep', params: { of: 'ussd-menu', from: 'choose', save: 'item' } }],
        },
      },
    },
    bye: { type: 'final', meta: { screen: 'bye', type: 'end' } },
  },
  on: {
    'back.welcome': { target: '.welcome', actions: [{ type: 'goBack' }] },
    'back.name': { target: '.name', actions: [{ type: 'goBack' }] },
    'back.load': { target: '.load', actions: [{ type: 'goBack' }] },
    'back.choose': { target: '.choose', actions: [{ type: 'goBack' }] },
    'back.bye': { target: '.bye', actions: [{ type: 'goBack' }] },
    home: { target: '.welcome', actions: [{ type: 'goHome' }] },
    exit: { target: '.bye', actions: [{ type: 'goHome' }] },
  },
});
