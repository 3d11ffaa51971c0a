// Finds the options in texts that list them, such as "1. Balance", and the text around them.

import type { Words } from './steps/step.ts';

export interface Listing {
  /** The text without the lines. */
  readonly text: Words;
  readonly items: readonly ListedItem[];
}

export interface ListedItem {
  /** What is typed. */
  readonly key: string;
  readonly text: Words;
}

const MARKED = /^\s*[([]?(\d{1,3}|[A-Za-z]|[*#]{1,2})\s*[.):\]–-]\s*(\S.*)$/;
const BARE = /^\s*(\d{1,2})\s+(\S.*)$/;

/** The options that a text lists under the same keys in every language; undefined if there are none. */
export function readListing(words: Words): Listing | undefined {
  const read = Object.entries(words).map(([lang, text]) => [lang, readLines(text)] as const);
  const [first] = read;
  if (!first || first[1].items.length === 0) return undefined;
  const keys = first[1].items.map(({ key }) => key);
  const isSame = read.every(([, { items }]) => items.map(({ key }) => key).join('\n') === keys.join('\n'));
  if (!isSame || new Set(keys).size < keys.length) return undefined;
  return {
    text: Object.fromEntries(read.map(([lang, { rest }]) => [lang, rest])),
    items: keys.map((key, at) => ({
      key,
      text: Object.fromEntries(read.map(([lang, { items }]) => [lang, items[at]!.text])),
    })),
  };
}

function readLines(text: string): { rest: string; items: { key: string; text: string }[] } {
  const lines = text.split('\n');
  const pattern = lines.some((line) => MARKED.test(line)) ? MARKED : BARE;
  const items: { key: string; text: string }[] = [];
  const rest: string[] = [];
  for (const line of lines) {
    const match = line.length > 200 ? null : pattern.exec(line);
    if (match) items.push({ key: match[1]!, text: match[2]!.trim() });
    else rest.push(line);
  }
  const isList = pattern === MARKED || items.length > 1;
  return isList
    ? {
        rest: rest
          .join('\n')
          .replace(/\n{2,}/g, '\n')
          .trim(),
        items,
      }
    : { rest: text, items: [] };
}

/** Whether the options have the numbers that a menu would give them. */
export function isNumbered(keys: readonly string[]): boolean {
  return keys.every((key, at) => key === String(at + 1));
}
