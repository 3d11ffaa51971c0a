// What long runs from the command line share: whole numbers among their options, and one line that says how far they are.

import pc from 'picocolors';

/** The value of the option `name`, a whole number from 1; throws on another. */
export function count(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new Error(`--${name} must be a whole number from 1, but is "${text}".`);
}

/** Whether anybody looks while it runs. */
export const isShown = process.stderr.isTTY;

/** Puts these words in the place of what was shown before. */
export function show(words: string): void {
  process.stderr.write(`\r\x1b[K${pc.dim(words)}`);
}

/** Takes away what was shown. */
export function clear(): void {
  if (isShown) process.stderr.write('\r\x1b[K');
}
