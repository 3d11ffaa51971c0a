// What a JSON text may not hold though it is JSON: whoever walks it later may do so level by level, and keep every text.

import { LIMITS } from '../limits.ts';
import { isWellFormed } from '../store/input.ts';
import type { Json } from '../store/store.ts';

/** What is wrong with a JSON text and its value, as the end of a sentence about it; undefined when nothing is. */
export function flawOf(text: string, value: Json): string | undefined {
  // What the decoder writes in the place of bytes that are no UTF-8.
  if (text.includes('\ufffd')) return 'is not UTF-8, or holds the replacement character U+FFFD';
  for (const stack: [Json, number][] = [[value, 1]]; stack.length; ) {
    const [part, depth] = stack.pop()!;
    if (depth > LIMITS.jsonBodyDepth) return `nests deeper than ${LIMITS.jsonBodyDepth} levels`;
    if (typeof part === 'string' && !isText(part)) return BROKEN_TEXT;
    if (typeof part !== 'object' || part === null) continue;
    if (!Object.keys(part).every(isText)) return BROKEN_TEXT;
    for (const inner of Object.values(part)) stack.push([inner, depth + 1]);
  }
  return undefined;
}

const BROKEN_TEXT = 'has a text with the character U+0000 or half of a surrogate pair';

function isText(text: string): boolean {
  return isWellFormed(text) && !text.includes('\0');
}
