// The pages of a screen: what each prints, and the event behind every key on it. Printing and reading use this one table, so a key does
// what its line says. Without a line work: `hidden` options, the exit key on inputs, and on menus and lists, where it can be no answer,
// the key home.

import type { EventObject } from 'xstate';
import type { Reply, View } from '../../engine/conversation.ts';
import type { JsonObject } from '../../json/json.ts';
import { toAsciiDigits } from '../expression/values.ts';
import { type Keys, keysOn, type NavigationKey } from '../format/flow.ts';
import { FLOW_LIMITS } from '../limits.ts';
import type { ScreenLine } from '../screens/kind.ts';
import { cut, cutPages } from './render.ts';
import { chooseLang, type ScreenNode } from './scope.ts';

export interface Page {
  readonly text: string;
  /** The events by key, in the digits 0–9. */
  readonly keys: ReadonlyMap<string, EventObject>;
}

/** The reply at a rest. */
export function renderScreen(node: ScreenNode, { context }: Pick<View, 'context'>): Reply {
  if (node.screen.type !== 'end') return { kind: 'continue', text: currentPage(node, context).text };
  const { text } = node.behaviour.show(context, chooseLang(node.scope, context));
  return { kind: 'end', text: cut(text, screenChars(node)) };
}

/** The page that is shown. A page number past the end shows the last page. */
export function currentPage(node: ScreenNode, context: JsonObject): Page {
  const pages = screenPages(node, context);
  return pages[Math.min(context.$page as number, pages.length - 1)]!;
}

/** All pages of a screen. The numbers of its lines run on over the pages and count on each; `more` counts where it is printed. */
export function screenPages(node: ScreenNode, context: JsonObject): Page[] {
  const lang = chooseLang(node.scope, context);
  const { text, lines } = node.behaviour.show(context, lang);
  const keys = screenKeys(node);
  const moves = listMoves(node, context, keys);
  const word = (name: NavigationKey) => `${keys[name]}. ${node.scope.labels[name].render(context, lang)}`;
  const footer = moves.filter(({ isPrinted }) => isPrinted).map(({ name }) => word(name));
  const taken = new Map(moves.map(({ typed, event }) => [typed, event]));
  const more = readKey(keys.more, taken);
  const next: EventObject = { type: 'more' };
  const chars = screenChars(node);
  const layOut = (used: ReadonlyMap<string, EventObject>) => {
    const { rows, events } = giveKeys(lines, used);
    const navigation = (hasMore: boolean) => (hasMore && more !== undefined ? [word('more'), ...footer] : footer);
    return { events, texts: cutPages({ text, rows }, { chars, footer: navigation }) };
  };
  let { events, texts } = layOut(taken);
  // Lines are numbered past the key for the next page only where there is one.
  if (more !== undefined && texts.length > 1 && events.has(more))
    ({ events, texts } = layOut(new Map([...taken, [more, next]])));
  const last = new Map(events);
  if (more !== undefined && texts.length > 1) {
    events.set(more, next);
    last.delete(more);
  }
  return texts.map((page, at) => ({ text: page, keys: at < texts.length - 1 ? events : last }));
}

function screenChars({ scope }: ScreenNode): number {
  return Math.min(scope.flow.limits?.chars ?? FLOW_LIMITS.screenSeptets, FLOW_LIMITS.screenSeptets);
}

/** The navigation keys of a screen, as they are printed. */
export const screenKeys = ({ screen, scope }: ScreenNode): Keys => keysOn(screen, scope.keys);

/** Whether an input is this key, in digits of any script. */
export function isKey(input: string, key: string | false): boolean {
  return key !== false && toAsciiDigits(input) === toAsciiDigits(key);
}

// Undefined for a key that is switched off or has another meaning already.
function readKey(key: string | false, taken: ReadonlyMap<string, unknown>): string | undefined {
  const typed = key === false ? undefined : toAsciiDigits(key);
  return typed !== undefined && taken.has(typed) ? undefined : typed;
}

interface Move {
  readonly name: NavigationKey;
  readonly typed: string;
  readonly event: EventObject;
  readonly isPrinted: boolean;
}

// In the order in which they are printed. Exit is given its key first, because it ends the session from every screen.
function listMoves(node: ScreenNode, context: JsonObject, keys: Keys): Move[] {
  const { path, prefix, scope, behaviour } = node;
  const isStart = prefix === '' && path === scope.flow.start;
  const behind = depth(context);
  const back = backEvent(node, context);
  // Home has a line only where it differs from Back.
  const isHome = behind > 1 || (!behaviour.read && !(isStart && behind === 0));
  const events: readonly (readonly [NavigationKey, string | undefined, boolean])[] = [
    ['exit', 'exit', behaviour.listsExit],
    ['back', back, true],
    ['home', isHome ? 'home' : undefined, behind > 1],
  ];
  const moves = new Map<string, Move>();
  for (const [name, type, isPrinted] of events) {
    const typed = readKey(keys[name], moves);
    if (type !== undefined && typed !== undefined) moves.set(typed, { name, typed, event: { type }, isPrinted });
  }
  const [first, ...rest] = moves.values();
  return first?.name === 'exit' ? [...rest, first] : [...moves.values()];
}

// Lines without a key of their own, or whose key has another meaning here, are numbered past all keys that are taken.
function giveKeys(lines: readonly ScreenLine[], taken: ReadonlyMap<string, EventObject>) {
  const events = new Map(taken);
  const own = lines.map(({ key, event }) => {
    const typed = key === undefined || !event ? undefined : readKey(key, events);
    if (typed !== undefined) events.set(typed, event!);
    return typed === undefined ? undefined : key;
  });
  const rows: string[] = [];
  let number = 0;
  for (const [at, { text, event, hidden }] of lines.entries()) {
    if (hidden) continue;
    let key = own[at];
    if (event && key === undefined) {
      do number++;
      while (events.has(String(number)));
      key = String(number);
      events.set(key, event);
    }
    rows.push(key === undefined ? text : `${key}. ${text}`);
  }
  return { rows, events };
}

const readFrames = (context: JsonObject) => (context.$frames as readonly JsonObject[] | undefined) ?? [];
const readStack = (context: JsonObject) => context.$stack as readonly string[];

/** Number of screens to go back through. */
function depth(context: JsonObject): number {
  return readFrames(context).reduce((sum, frame) => sum + readStack(frame).length, readStack(context).length);
}

function backEvent({ screen, prefix }: ScreenNode, context: JsonObject): string | undefined {
  if (screen.back === false) return undefined;
  if (typeof screen.back === 'string') return 'back';
  const target = backTarget(prefix, context);
  return target === undefined ? undefined : `back.${target}`;
}

/**
 * The path of the screen that Back leads to; `prefix` is that of the running flow, such as `pay.`. Leaves a flow when it has no
 * earlier screen, and likewise its callers.
 */
function backTarget(prefix: string, context: JsonObject): string | undefined {
  const own = readStack(context).at(-1);
  if (own !== undefined) return prefix + own;
  const caller = readFrames(context).findLast((frame) => readStack(frame).length > 0);
  return caller && cutPrefix(caller.$at as string) + readStack(caller).at(-1);
}

/** What the states of the same flow begin with: `shop.` of `shop.pay`, '' of `pay`. */
export function cutPrefix(path: string): string {
  return path.slice(0, path.lastIndexOf('.') + 1);
}
