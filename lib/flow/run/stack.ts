// The way back: which screens a caller came through, in this flow and in those that called it.

import type { JsonObject } from '../../store/store.ts';
import type { ScreenNode } from './node.ts';

const framesOf = (context: JsonObject) => (context.$frames as readonly JsonObject[] | undefined) ?? [];
const stackOf = (context: JsonObject) => context.$stack as readonly string[];

/** How many screens lie behind this one. */
export function depth(context: JsonObject): number {
  return framesOf(context).reduce((sum, frame) => sum + stackOf(frame).length, stackOf(context).length);
}

export function canGoBack({ screen }: ScreenNode, context: JsonObject): boolean {
  if (screen.back === false) return false;
  return typeof screen.back === 'string' || backTarget('', context) !== undefined;
}

/**
 * The path of the screen that back leads to; `prefix` is the path of the flow that is running, such as `pay.`. Out of a
 * flow when nothing lies behind in it, and further out when its caller had come through nothing either.
 */
export function backTarget(prefix: string, context: JsonObject): string | undefined {
  let path = prefix;
  for (const level of [context, ...framesOf(context).toReversed()]) {
    const last = stackOf(level).at(-1);
    if (last !== undefined) return path + last;
    path = parentOf(path);
  }
  return undefined;
}

// `shop.pay.` → `shop.`
function parentOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('.', prefix.length - 2) + 1);
}
