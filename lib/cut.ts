// Cuts what is said to a client to a size: it shows names and values of the input, which are as long as their sender wants.

import { SHARED_LIMITS } from './shared-limits.ts';

/** The text, with `…` in the place of what is beyond so many characters. */
export function cutText(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The first items, so many and of so many bytes that an answer may list them as problems. */
export function cutList<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  const listed = items.slice(0, SHARED_LIMITS.problemDetails);
  let bytes = 0;
  const end = listed.findIndex((item) => {
    bytes += Buffer.byteLength(textOf(item));
    return bytes > SHARED_LIMITS.problemBytes;
  });
  return end < 0 ? listed : listed.slice(0, end);
}
