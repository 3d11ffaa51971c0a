// What the suites assert with: node:assert, so that they run under any test runner, with the words of ours.

import strict, { AssertionError } from 'node:assert/strict';

/** The same value, or NaN twice. */
export function is(actual: unknown, expected: unknown, message?: string): void {
  strict.strictEqual(actual, expected, message);
}

/** Equal all through; prototypes do not count, and keys may stand in any order. */
export function equal(actual: unknown, expected: unknown, message?: string): void {
  strict.deepStrictEqual(toPlain(actual), toPlain(expected), message);
}

export function ok(actual: unknown, message?: string): asserts actual {
  strict.ok(actual, message);
}

/** Fits the pattern, or holds the text. */
export function match(actual: string, expected: RegExp | string, message?: string): void {
  if (typeof expected === 'string')
    strict.ok(actual.includes(expected), message ?? `${JSON.stringify(expected)} is not in it.`);
  else strict.match(actual, expected, message);
}

export function throws(act: () => unknown, isMeant: (error: unknown) => boolean, message?: string): void {
  try {
    act();
  } catch (error) {
    if (isMeant(error)) return;
    throw error;
  }
  unreachable(message ?? 'It did not throw.');
}

export function unreachable(message: string): never {
  throw new AssertionError({ message });
}

function toPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== 'object' || value === null) return value;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toPlain(one)]));
}
