// Code for the test of mutation testing: some of its changes are noticed by its tests, some are not.

/** Noticed but for the limit itself. */
export function mayEnter(age: number): boolean {
  return age >= 18;
}

/** Runs while the file is loaded. */
export const GREETING = ['hello', 'there'].join(' ');

const known = new Map<string, number>();

/** Remembers: a change that comes after the first answer is not reached in the same process. */
export function countLetters(word: string): number {
  const before = known.get(word);
  if (before !== undefined) return before;
  const count = word.length + 0;
  known.set(word, count);
  return count;
}

/** Ends only while nothing is changed. */
export function countTo(end: number): number {
  let count = 0;
  while (count < end) count++;
  return count;
}
