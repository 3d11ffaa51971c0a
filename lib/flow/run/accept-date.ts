// The `date` rule of input screens: a calendar date typed on a keypad, saved as YYYY-MM-DD.
//
// The format gives the order of day, month and year. The caller may also put one of / - . or a space between them, and
// then leave out a leading zero. Of a year in two digits the latest fitting one is meant: not after `max`, or, without a
// `max`, at most 20 years ahead. `today` is the day in UTC.

import type { Json } from '../../store/store.ts';
import { dateAt, isoDate, readIsoDate } from '../expression/calendar.ts';
import { type Check, type Refuse, settings } from './accept-rule.ts';

type Part = 'DD' | 'MM' | 'YY' | 'YYYY';
const ORDERS: { readonly [format: string]: readonly Part[] } = {
  DDMMYYYY: ['DD', 'MM', 'YYYY'],
  DDMMYY: ['DD', 'MM', 'YY'],
  MMDDYYYY: ['MM', 'DD', 'YYYY'],
  MMDDYY: ['MM', 'DD', 'YY'],
  YYYYMMDD: ['YYYY', 'MM', 'DD'],
  YYMMDD: ['YY', 'MM', 'DD'],
};
const YEARS_AHEAD = 20;

/** Formats of the rule; each may be written with / - or . between its parts, as in YYYY-MM-DD. */
export const DATE_FORMATS: readonly string[] = Object.keys(ORDERS);

/** Compiles `true` (DDMMYYYY) or `{format, min, max}`; the bounds are YYYY-MM-DD or `today`, and belong to the range. */
export function dateRule(setting: Json, refuse: Refuse): Check {
  const { format = 'DDMMYYYY', min = null, max = null } = settings(setting, ['format', 'min', 'max'], refuse);
  const key = typeof format === 'string' ? format.replace(/[/.-]/g, '') : '';
  const order = Object.hasOwn(ORDERS, key) ? ORDERS[key] : undefined;
  if (!order) return refuse(`"format" is one of ${DATE_FORMATS.join(', ')}, or such a one with separators`);
  const from = bound(min, refuse);
  const until = bound(max, refuse);
  if (typeof min === 'string' && typeof max === 'string' && min !== 'today' && max !== 'today' && min > max) {
    return refuse('"min" is after "max", so no date fits');
  }
  const close = new RegExp(`^${order.map((part) => `(\\d{${part.length}})`).join('')}$`);
  const apart = new RegExp(
    `^${order.map((part) => `(\\d{${part.startsWith('Y') ? part.length : '1,2'}})`).join('([/. -])')}$`,
  );
  return (text, now) => {
    const parts = close.exec(text)?.slice(1) ?? separated(apart.exec(text));
    if (!parts) return undefined;
    const part = (name: string) => Number(parts[order.findIndex((one) => one.startsWith(name))]);
    const least = from(now) ?? '0001-01-01';
    const most = until(now) ?? '9999-12-31';
    const fits = (year: number): string | undefined => {
      const date = isoDate(year, part('M'), part('D'));
      return date !== undefined && date >= least && date <= most ? date : undefined;
    };
    if (!order.includes('YY')) return fits(part('Y'));
    const limit = Number((until(now) ?? '').slice(0, 4)) || new Date(now).getUTCFullYear() + YEARS_AHEAD;
    const latest = limit - ((((limit - part('Y')) % 100) + 100) % 100);
    return fits(latest) ?? fits(latest - 100);
  };
}

// Both separators must be the same: 5/3-2024 is a slip.
function separated(found: RegExpExecArray | null): string[] | undefined {
  return found && found[2] === found[4] ? [found[1]!, found[3]!, found[5]!] : undefined;
}

function bound(value: Json, refuse: Refuse): (now: number) => string | undefined {
  if (value === null) return () => undefined;
  if (value === 'today') return dateAt;
  const date = typeof value === 'string' && value.length === 10 ? readIsoDate(value) : undefined;
  if (date === undefined) return refuse('"min" and "max" are "today" or a real date as in "1990-12-31"');
  return () => date;
}
