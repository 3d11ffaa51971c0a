// Two texts that should be the same, as the lines in which they differ.

/** The lines of both: `- ` only expected, `+ ` only got, two spaces where they agree. */
export function diffLines(expected: string, got: string): string[] {
  const [left, right] = [expected.split('\n'), got.split('\n')];
  let head = 0;
  while (head < Math.min(left.length, right.length) && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < Math.min(left.length, right.length) - head && left.at(-1 - tail) === right.at(-1 - tail)) tail++;
  return [
    ...left.slice(0, head).map((line) => `  ${line}`),
    ...left.slice(head, left.length - tail).map((line) => `- ${line}`),
    ...right.slice(head, right.length - tail).map((line) => `+ ${line}`),
    ...left.slice(left.length - tail).map((line) => `  ${line}`),
  ].map((line) => line.trimEnd());
}
