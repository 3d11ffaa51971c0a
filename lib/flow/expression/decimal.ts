// Arithmetic of amounts. A number stands for the decimal that it prints as: 1.1 is eleven tenths, not the binary fraction
// nearest to it. Results are exact up to 15 digits, and whole numbers up to 2^53; a result with more digits is the nearest number.

/** `digits` / 10^`places`; places below 0 multiply. */
interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

const QUOTIENT_DIGITS = 15;
// Enough to tell a quotient that ends from one that does not: no number prints more than 17.
const DIVIDED_DIGITS = 18;

type Arithmetic = (a: number, b: number) => number;

/** Infinite when the result is too large for a number. The divisor is not 0. */
export const ARITHMETIC: { readonly [sign in '+' | '-' | '*' | '/' | '%']: Arithmetic } = {
  '+': (a, b) => (isWhole(a, b) ? a + b : add(a, b)),
  '-': (a, b) => (isWhole(a, b) ? a - b : add(a, -b)),
  '*': (a, b) => (isWhole(a, b) ? a * b : multiply(a, b)),
  '/': divide,
  '%': (a, b) => (isWhole(a, b) ? a % b : remain(a, b)),
};

// The processor computes whole numbers exactly.
const isWhole = (a: number, b: number) => Number.isInteger(a) && Number.isInteger(b);

function add(a: number, b: number): number {
  const [one, other, places] = align(a, b);
  return toNumber(one + other, places);
}

function multiply(a: number, b: number): number {
  const [one, other] = [toDecimal(a), toDecimal(b)];
  return toNumber(one.digits * other.digits, one.places + other.places);
}

// With the sign of the dividend.
function remain(a: number, b: number): number {
  const [one, other, places] = align(a, b);
  return toNumber(one % other, places);
}

// A quotient without an end is rounded to 15 digits, half to even.
function divide(a: number, b: number): number {
  const quick = a / b;
  if (isWhole(a, b) && Number.isInteger(quick)) return quick;
  const [one, other] = align(Math.abs(a), Math.abs(b));
  const shift = DIVIDED_DIGITS - (String(one).length - String(other).length);
  const [above, below] = [one * power(shift), other * power(-shift)];
  const digits = above / below;
  const size = toNumber(digits, shift);
  const isExact = above % below === 0n && isSame({ digits, places: shift }, toDecimal(size));
  const quotient = isExact ? size : roundHalfEven({ digits: above, places: shift }, below);
  return a < 0 === b < 0 ? quotient : -quotient;
}

function roundHalfEven({ digits: above, places }: Decimal, below: bigint): number {
  const dropped = String(above / below).length - QUOTIENT_DIGITS;
  const unit = below * power(dropped);
  const floor = above / unit;
  const twice = 2n * (above - floor * unit);
  return toNumber(twice > unit || (twice === unit && floor % 2n === 1n) ? floor + 1n : floor, places - dropped);
}

/** Rounds half away from zero: 1.005 to 2 places is 1.01. `places` is 0 to 12. */
export function roundDecimal(value: number, places: number): number {
  if (Number.isInteger(value)) return value + 0;
  const { digits, places: own } = toDecimal(Math.abs(value));
  if (own <= places) return value;
  const unit = power(own - places);
  const rounded = toNumber((2n * digits + unit) / (2n * unit), places);
  return (value < 0 ? -rounded : rounded) + 0;
}

/** All digits, without an exponent: 0.0000001 for 1e-7. */
export function printDecimal(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  const { digits, places } = toDecimal(Math.abs(value));
  const sign = value < 0 ? '-' : '';
  if (places <= 0) return sign + String(digits * power(-places));
  const padded = String(digits).padStart(places + 1, '0');
  return `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}`;
}

/** Whether plain decimal notation has no more digits than its number keeps. */
export function isKept(text: string): boolean {
  return isSame(readDecimal(text), toDecimal(Number(text)));
}

function toDecimal(value: number): Decimal {
  const [text = '', exponent = '0'] = String(value).split('e');
  const { digits, places } = readDecimal(text);
  return { digits, places: places - Number(exponent) };
}

function readDecimal(text: string): Decimal {
  const point = text.indexOf('.');
  return { digits: BigInt(text.replace('.', '')), places: point < 0 ? 0 : text.length - point - 1 };
}

const toNumber = (digits: bigint, places: number) => Number(`${digits}e${-places}`);

/** 10^`exponent`; 1 below 0. */
const power = (exponent: number) => (exponent > 0 ? 10n ** BigInt(exponent) : 1n);

function align(a: number, b: number): readonly [one: bigint, other: bigint, places: number] {
  const [one, other] = [toDecimal(a), toDecimal(b)];
  const places = Math.max(one.places, other.places);
  return [one.digits * power(places - one.places), other.digits * power(places - other.places), places];
}

function isSame(one: Decimal, other: Decimal): boolean {
  return one.digits * power(other.places - one.places) === other.digits * power(one.places - other.places);
}
