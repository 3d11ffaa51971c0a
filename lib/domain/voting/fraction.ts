// Exact numbers of votes: fractions of two big integers, powers in decimal digits. No floating point anywhere.

/** `over / under`, `under` greater than 0. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

const DECIMAL = /^(\d{1,18})(?:\.(\d{1,18}))?$/;
const QUOTIENT = /^(\d{1,18})\/(\d{1,18})$/;
const POWER = /^(?:0|[1-9]\d{0,38})$/;

/** The greatest power of one voter, and of all together: 2^128 − 1. */
export const POWER_MAX = 2n ** 128n - 1n;

/** The value of `0.5`, `1` or `2/3`, with up to 18 digits on each side; undefined for any other text. */
export function parseFraction(text: string): Fraction | undefined {
  const decimal = DECIMAL.exec(text);
  if (decimal) {
    const [, whole = '', places = ''] = decimal;
    return { over: BigInt(whole + places), under: 10n ** BigInt(places.length) };
  }
  const [, over, under] = QUOTIENT.exec(text) ?? [];
  if (over === undefined || under === undefined || BigInt(under) === 0n) return undefined;
  return { over: BigInt(over), under: BigInt(under) };
}

/** Whether `part` is at least this fraction of `whole`. */
export function isAtLeast(part: bigint, { over, under }: Fraction, whole: bigint): boolean {
  return part * under >= over * whole;
}

/** Whether `part` is more than half of `whole`. */
export function isMajority(part: bigint, whole: bigint): boolean {
  return part * 2n > whole;
}

/** Below, at or above 1. */
export function comparedToOne({ over, under }: Fraction): -1 | 0 | 1 {
  return over < under ? -1 : over > under ? 1 : 0;
}

/** A power: whole, not negative, at most {@link POWER_MAX}, without leading zeros; undefined for any other text. */
export function parsePower(text: string): bigint | undefined {
  if (!POWER.test(text)) return undefined;
  const power = BigInt(text);
  return power <= POWER_MAX ? power : undefined;
}
