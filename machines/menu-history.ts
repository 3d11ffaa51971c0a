// The variables of a menu and the way back through its screens: what a step changes, what Back restores, what a called flow inherits.

import type { Data, Leave, MenuContext, MenuValues } from './menu-types.ts';

const STACK_MAX = 20;
/** Characters of `$undo` as JSON. Values of earlier screens than fit are not restored. */
const UNDO_CHARS_MAX = 8_192;
const NOTHING: MenuValues = {};
export const fresh = { $page: 0, $bad: 0 };

// A barrier stands before the screens of the calling flows too.
function updateStack(context: MenuContext, { from, barrier }: Pick<Leave, 'from' | 'barrier'>): Partial<MenuContext> {
  if (barrier)
    return { $stack: [], $undo: [], ...(readFrames(context).length && { $frames: clearStacks(readFrames(context)) }) };
  return from === undefined ? {} : { $stack: [...context.$stack, from].slice(-STACK_MAX) };
}

export const clearStacks = (frames: readonly MenuContext[]) =>
  frames.map((frame) => ({ ...frame, $stack: [], $undo: [] })) as unknown as Data;

/** For the last screens of `$stack`: the values of the variables that have changed since, as they were on that screen. */
const readUndo = (context: MenuContext) => (context.$undo ?? []) as readonly MenuValues[];

export const readTried = (context: MenuContext) => (context.$tried ?? {}) as { readonly [screen: string]: number };

const countTries = (context: MenuContext, { tried }: Leave) =>
  tried === undefined ? {} : { $tried: { ...readTried(context), [tried]: context.$bad } };

/** The next context after these changes of variables, which Back undoes. */
export function changeBy(context: MenuContext, leave: Leave, changes: MenuValues): Partial<MenuContext> {
  const tries = countTries(context, leave);
  const next = { ...changes, ...fresh, ...tries, ...updateStack(context, leave) } as Partial<MenuContext>;
  const names = Object.keys(changes).filter((name) => changes[name] !== context[name]);
  const isPushed = next.$stack !== undefined && !leave.barrier;
  if (leave.barrier || !(isPushed || (names.length && context.$stack.length))) return next;
  const undo = readUndo(context);
  // Screens of which nothing is known have nothing to restore.
  if (!names.length) return undo.length ? { ...next, $undo: [...undo, NOTHING].slice(-STACK_MAX) } : next;
  const before = Object.fromEntries(names.map((name) => [name, context[name] ?? null]));
  // The oldest value of a variable counts: it is what the screen behind has seen.
  return {
    ...next,
    $undo: boundUndo(isPushed ? [...undo, before] : [...undo.slice(0, -1), { ...before, ...undo.at(-1) }]),
  };
}

/** The next context after changes that tell what a service did: no Back undoes that. */
export function changeForGood(context: MenuContext, leave: Leave, changes: MenuValues): Partial<MenuContext> {
  const isKept = (name: string) => !Object.hasOwn(changes, name);
  const $undo = readUndo(context).map((entry) =>
    Object.fromEntries(Object.entries(entry).filter(([name]) => isKept(name))),
  );
  const $asked = readFrames(context).length ? { $asked: true as const } : {};
  return {
    ...changes,
    ...fresh,
    ...($undo.length > 0 && { $undo }),
    ...$asked,
    ...countTries(context, leave),
    ...updateStack(context, leave),
  } as Partial<MenuContext>;
}

function boundUndo(entries: readonly MenuValues[]): readonly MenuValues[] {
  const kept: MenuValues[] = [];
  let room = UNDO_CHARS_MAX;
  for (const entry of entries.slice(-STACK_MAX).toReversed()) {
    room -= JSON.stringify(entry).length;
    if (room < 0) break;
    kept.unshift(entry);
  }
  return kept.length ? kept : [{}];
}

export const readFrames = (context: MenuContext): readonly MenuContext[] =>
  (context.$frames as unknown as readonly MenuContext[] | undefined) ?? [];

export function findCaller(context: MenuContext): MenuContext {
  const frames = readFrames(context);
  const { $at: _, ...caller } = frames.at(-1) as MenuContext;
  return { ...caller, ...(frames.length > 1 && { $frames: frames.slice(0, -1) as unknown as Data }) } as MenuContext;
}

// assign() merges, so what the next context does not have is removed by name.
export function replaceContext(before: MenuContext, next: MenuContext): Partial<MenuContext> {
  const gone: Record<string, undefined> = {};
  for (const name in before) if (!(name in next)) gone[name] = undefined;
  return { ...gone, ...next } as Partial<MenuContext>;
}

/** The context on the screen on top of the stack; called flows are left as long as their own stacks are empty. */
export function stepBack(context: MenuContext): Partial<MenuContext> {
  let at = context;
  while (!at.$stack.length && readFrames(at).length) at = findCaller(at);
  return replaceContext(context, { ...at, ...popScreens(at, 1) } as MenuContext);
}

/** The context on a screen of the stack, or with nothing behind it when it is not there. */
export function stepBackTo(context: MenuContext, screen: string): Partial<MenuContext> {
  const at = context.$stack.lastIndexOf(screen);
  return at < 0 ? { ...fresh, $stack: [], $undo: [] } : popScreens(context, context.$stack.length - at);
}

function popScreens(context: MenuContext, steps: number): Partial<MenuContext> {
  const [$stack, $undo] = [context.$stack, readUndo(context)];
  if (!$undo.length) return { ...fresh, $stack: $stack.slice(0, -steps) };
  const left = Math.max(0, $undo.length - steps);
  const values: MenuValues = Object.assign({}, ...$undo.slice(left).toReversed());
  return { ...values, ...fresh, $stack: $stack.slice(0, -steps), $undo: $undo.slice(0, left) } as Partial<MenuContext>;
}

/** The screens from this place of the stack on are no longer behind; what they would restore, the one before restores. */
export function dropScreens(context: MenuContext, at: number): Partial<MenuContext> {
  const [$stack, $undo] = [context.$stack, readUndo(context)];
  const left = Math.max(0, $undo.length - ($stack.length - at));
  const values: MenuValues = Object.assign({}, ...$undo.slice(Math.max(0, left - 1)).toReversed());
  return { $stack: $stack.slice(0, at), $undo: left ? [...$undo.slice(0, left - 1), values] : [] };
}

/** What a called flow with these variables knows of its caller: language and time zone. */
export function inheritValues<T>(caller: { readonly [name: string]: T }, vars: object): { [name: string]: T } {
  const isInherited = (name: string) => name === '$zone' || ((name === 'lang' || name === 'timezone') && name in vars);
  return Object.fromEntries(Object.entries(caller).filter(([name, value]) => isInherited(name) && value !== undefined));
}
