// Decimal numbers as people write them: plain notation in, rounding that does not surprise out.

const PLAIN = /^-?\d{1,40}(?:\.\d{1,40})?$/;

/** Whether `text` is plain decimal notation: digits, at most one point with digits on both sides, an optional `-`. */
export function isDecimal(text: string): boolean {
  return PLAIN.test(text);
}

/** The number that `text` writes in plain decimal notation; undefined when it is none, or too large to be kept exactly. */
export function parseDecimal(text: string): number | undefined {
  if (!PLAIN.test(text)) return undefined;
  const value = Number(text);
  // `+ 0` turns -0 into 0, which JSON could not carry.
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value + 0 : undefined;
}

/** Rounds the decimal digits that `value` shows, half away from zero: 1.005 to 2 places is 1.01. `places` is 0 to 12. */
export function roundDecimal(value: number, places: number): number {
  const rounded = shift(Math.round(shift(Math.abs(value), places)), -places);
  return (value < 0 ? -rounded : rounded) + 0;
}

// Moves the point in the written form, because 1.005 * 100 is 100.49999999999999.
function shift(value: number, places: number): number {
  const [digits, exponent = '0'] = String(value).split('e');
  return Number(`${digits}e${Number(exponent) + places}`);
}
