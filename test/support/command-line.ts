// What long runs from the command line share: whole numbers among their options, and one line that says how far they are.

import pc from 'picocolors';

/** The value of the option `name`, a whole number from 1; throws on another. */
export function count(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new Error(`--${name} must be a whole number from 1, but is "${text}".`);
}

const isTerminal = process.stderr.isTTY;
/** Milliseconds between two looks at how far a run is: on a terminal, and elsewhere. */
const SHOWN_MS = isTerminal ? 100 : 60_000;
let shownAt = performance.now();

/** Says how far a run is: on a terminal in the place of what was shown before, elsewhere a line a minute. */
export function show(words: string): void {
  if (performance.now() - shownAt < SHOWN_MS) return;
  shownAt = performance.now();
  process.stderr.write(isTerminal ? `\r\x1b[K${pc.dim(words)}` : `${words}\n`);
}

/** How much longer a run takes when it goes on as it has since `start` (of performance.now()): `, 2 min to go`; '' before anything is done. */
export function timeLeft({
  done,
  total,
  start,
}: {
  readonly done: number;
  readonly total: number;
  readonly start: number;
}): string {
  if (done <= 0) return '';
  const seconds = Math.max(0, Math.round(((performance.now() - start) / 1_000 / done) * (total - done)));
  return seconds < 100 ? `, ${seconds} s to go` : `, ${Math.round(seconds / 60)} min to go`;
}

/** Takes away what was shown. */
export function clear(): void {
  if (isTerminal) process.stderr.write('\r\x1b[K');
}
