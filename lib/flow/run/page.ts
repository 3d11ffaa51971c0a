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
  const text = node.behaviour.print(context, chooseLang(node.scope, context));
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
  const text = node.behaviour.print(context, lang);
  const lines = node.behaviour.lines?.(context) ?? [];
  const keys = screenKeys(node);
  const moves = listMoves(node, context, keys);
  const word = (name: NavigationKey) => `${keys[name]}. ${node.scope.labels[name].render(context, lang)}`;
  const footer = moves.filter(({ isPrinted }) => isPrinted).map(({ name }) => word(name));
  const more = readKey(keys.more, moves);
  const chars = screenChars(node);
  const navigation = (hasMore: boolean) => (hasMore && more !== undefined ? [word('more'), ...footer] : footer);
  const layOut = (reserved?: string) => {
    const { events, printed } = giveKeys(lines, moves, reserved);
    const rows: string[] = [];
    const below: string[] = [];
    for (let at = 0; at < lines.length; at++) {
      const line = lines[at]!;
      if (line.hidden) continue;
      const words = line.text.render(context, lang);
      const list = line.stays ? below : rows;
      list.push(printed[at] === undefined ? words : `${printed[at]}. ${words}`);
    }
    return { events, texts: cutPages({ text, rows, below }, { chars, footer: navigation }) };
  };
  let { events, texts } = layOut();
  if (more === undefined || texts.length === 1) return texts.map((page) => ({ text: page, keys: events }));
  // Lines are numbered past the key for the next page only where there is one.
  if (events.has(more)) ({ events, texts } = layOut(more));
  const last = new Map(events);
  last.delete(more);
  events.set(more, NEXT);
  return texts.map((page, at) => ({ text: page, keys: at < texts.length - 1 ? events : last }));
}

const NEXT: EventObject = { type: 'more' };

/** The event behind a key of the page that is shown: as {@link currentPage} has it, without printing the page where that tells nothing. */
export function readPageKey(node: ScreenNode, context: JsonObject, key: string): EventObject | undefined {
  const moves = listMoves(node, context, screenKeys(node));
  const move = moves.find(({ typed }) => typed === key);
  if (move) return move.event;
  const more = readKey(screenKeys(node).more, moves);
  const { events } = giveKeys(node.behaviour.lines?.(context) ?? [], moves);
  // How many pages there are decides what this key does, and whether a line may have it.
  const isOpen = more !== undefined && (key === more || events.has(more));
  return isOpen ? currentPage(node, context).keys.get(key) : events.get(key);
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
function readKey(key: string | false, moves: readonly Move[]): string | undefined {
  const typed = key === false ? undefined : toAsciiDigits(key);
  return moves.some((move) => move.typed === typed) ? undefined : typed;
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
  const isHome = behind > 1 || (behaviour.listsExit && !(isStart && behind === 0));
  const events: readonly (readonly [NavigationKey, string | undefined, boolean])[] = [
    ['exit', 'exit', behaviour.listsExit],
    ['back', back, true],
    ['home', isHome ? 'home' : undefined, behind > 1],
  ];
  const moves: Move[] = [];
  for (const [name, type, isPrinted] of events) {
    const typed = type === undefined ? undefined : readKey(keys[name], moves);
    if (typed !== undefined) moves.push({ name, typed, event: { type: type! }, isPrinted });
  }
  if (moves[0]?.name === 'exit') moves.push(moves.shift()!);
  return moves;
}

/**
 * The events of a page by key, and the key that each line prints. Lines without a key of their own, or whose key has another meaning
 * here, are numbered past all keys that are taken, and past `reserved`.
 */
function giveKeys(lines: readonly ScreenLine[], moves: readonly Move[], reserved?: string) {
  const events = new Map<string, EventObject>();
  for (const { typed, event } of moves) events.set(typed, event);
  if (reserved !== undefined) events.set(reserved, NEXT);
  const printed: (string | undefined)[] = [];
  for (let at = 0; at < lines.length; at++) {
    const { key, event } = lines[at]!;
    if (key === undefined || !event) continue;
    const typed = toAsciiDigits(key);
    if (events.has(typed)) continue;
    events.set(typed, event);
    printed[at] = key;
  }
  let number = 0;
  for (let at = 0; at < lines.length; at++) {
    const { event, hidden } = lines[at]!;
    if (hidden || !event || printed[at] !== undefined) continue;
    let key: string;
    do key = String(++number);
    while (events.has(key));
    printed[at] = key;
    events.set(key, event);
  }
  return { events, printed };
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
