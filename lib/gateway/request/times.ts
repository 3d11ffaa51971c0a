// Times and durations in the texts of queries: RFC 3339, and Go's `1h2m3.5s`.

import { shown } from './shown.ts';

export interface Moment {
  readonly seconds: bigint;
  readonly nanos: number;
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|([+-])(\d\d):(\d\d))$/;
const FIRST_SECOND = -62_135_596_800;

/** A time with an offset, `2026-11-21T10:00:00.5+02:00`. Throws an Error. */
export function parseTimestamp(text: string): Moment {
  const found = RFC3339.exec(text);
  if (!found) throw new Error(`${shown(text)} is not a time such as 2026-11-21T10:00:00Z`);
  const [, year, month, day, hour, minute, second, fraction = '', , sign, offsetHour = '0', offsetMinute = '0'] = found;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const exists = date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
  const inRange = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
  if (!exists || !inRange || Number(offsetHour) > 23 || Number(offsetMinute) > 59)
    throw new Error(`${shown(text)} is not a time that exists`);
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -60 : 60);
  const seconds = date.getTime() / 1_000 + Number(hour) * 3_600 + Number(minute) * 60 + Number(second) - offset;
  if (seconds < FIRST_SECOND || seconds > 253_402_300_799)
    throw new Error(`${shown(text)} lies outside of the years 1 to 9999`);
  return { seconds: BigInt(seconds), nanos: Number(fraction.slice(0, 9).padEnd(9, '0')) };
}

const UNITS: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1_000n,
  // The micro sign and the Greek letter.
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const DURATION = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;
const PART = /(\d*)\.?(\d*)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;
const MOST = 2n ** 63n - 1n;
const SECOND = 1_000_000_000n;

/** A duration as Go writes it: `1h2m3.5s`, `-1.5h`, `0`. Throws an Error. */
export function parseGoDuration(text: string): Moment {
  if (/^[+-]?0$/.test(text)) return { seconds: 0n, nanos: 0 };
  const found = text.length <= 200 ? DURATION.exec(text) : null;
  if (!found) throw new Error(`${shown(text)} is not a duration such as 1h2m3.5s`);
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of found[2]!.matchAll(PART)) {
    const scale = 10n ** BigInt(fraction.length);
    nanos += (BigInt(`${whole}${fraction}` || '0') * UNITS[unit]!) / scale;
  }
  if (nanos > MOST) throw new Error(`${shown(text)} is longer than 292 years`);
  const signed = found[1] === '-' ? -nanos : nanos;
  return { seconds: signed / SECOND, nanos: Number(signed % SECOND) };
}
