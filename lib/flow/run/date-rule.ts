// The `date` rule of input screens: a calendar date typed on a keypad.

import type { Json } from '../../json/json.ts';
import { dateAt, isoDate, readDay, readIsoDate } from '../expression/days.ts';
import { toAsciiDigits } from '../expression/values.ts';
import { type AcceptCheck, type Bounds, type Caller, isComputed, type Refuse, readSettings } from './accept-rule.ts';

type DatePart = 'DD' | 'MM' | 'YY' | 'YYYY';
const ORDERS: { readonly [format: string]: readonly DatePart[] } = {
  DDMMYYYY: ['DD', 'MM', 'YYYY'],
  DDMMYY: ['DD', 'MM', 'YY'],
  MMDDYYYY: ['MM', 'DD', 'YYYY'],
  MMDDYY: ['MM', 'DD', 'YY'],
  YYYYMMDD: ['YYYY', 'MM', 'DD'],
  YYMMDD: ['YY', 'MM', 'DD'],
};
const YEARS_AHEAD = 20;

/** Formats of the rule, each with / - or . as the separator, as in YYYY-MM-DD. */
export const DATE_FORMATS: readonly string[] = Object.keys(ORDERS);

/**
 * The `date` rule: a calendar date typed on a keypad, saved as YYYY-MM-DD. Compiles `true` (DDMMYYYY) or `{format, min,
 * max}`; the bounds are inclusive, YYYY-MM-DD, `today` where the caller is, or an expression that gives a day or a moment. The format sets the order of day, month and year. Callers
 * may separate them with / - . or a space, and may then omit leading zeros. A two-digit year means the latest possible one:
 * not after `max`, or, without `max`, at most 20 years ahead.
 */
export function dateRule(setting: Json, refuse: Refuse): AcceptCheck {
  const { format = 'DDMMYYYY', min = null, max = null } = readSettings(setting, ['format', 'min', 'max'], refuse);
  const key = typeof format === 'string' ? format.replace(/[/.-]/g, '') : '';
  const order = Object.hasOwn(ORDERS, key) ? ORDERS[key] : undefined;
  if (!order) return refuse(`"format" is one of ${DATE_FORMATS.join(', ')}, or such a one with separators`);
  const from = readBound(min, refuse);
  const until = readBound(max, refuse);
  const isDay = (bound: Json) => typeof bound === 'string' && bound !== 'today' && !isComputed(bound);
  if (isDay(min) && isDay(max) && String(min) > String(max)) {
    return refuse('"min" is after "max", so no date fits');
  }
  const close = new RegExp(`^${order.map((part) => `(\\d{${part.length}})`).join('')}$`);
  const apart = new RegExp(
    `^${order.map((part) => `(\\d{${part.startsWith('Y') ? part.length : '1,2'}})`).join('([/. -])')}$`,
  );
  return (typed, now, caller) => {
    const text = toAsciiDigits(typed);
    const parts = close.exec(text)?.slice(1) ?? splitDate(apart.exec(text));
    if (!parts) return undefined;
    const part = (name: string) => Number(parts[order.findIndex((one) => one.startsWith(name))]);
    const [earliest, latest] = [from(now, caller, 'min'), until(now, caller, 'max')];
    if (earliest === null || latest === null) return undefined;
    const least = earliest ?? '0001-01-01';
    const most = latest ?? '9999-12-31';
    const fits = (year: number): string | undefined => {
      const date = isoDate(year, part('M'), part('D'));
      return date !== undefined && date >= least && date <= most ? date : undefined;
    };
    if (!order.includes('YY')) return fits(part('Y'));
    const limit = Number(latest?.slice(0, 4) ?? Number(dateAt(now, caller.zone)?.slice(0, 4)) + YEARS_AHEAD);
    const year = limit - ((((limit - part('Y')) % 100) + 100) % 100);
    return fits(year) ?? fits(year - 100);
  };
}

// Both separators must match: 5/3-2024 is a typo.
function splitDate(match: RegExpExecArray | null): string[] | undefined {
  return match && match[2] === match[4] ? [match[1]!, match[3]!, match[5]!] : undefined;
}

/** The day of a bound; undefined for none, null where its expression gives no day: then no answer is accepted. */
type FindDay = (now: number, caller: Caller, name: keyof Bounds) => string | undefined | null;

function readBound(value: Json, refuse: Refuse): FindDay {
  if (value === null) return () => undefined;
  if (value === 'today') return (now, { zone }) => dateAt(now, zone);
  if (isComputed(value))
    return (_, { zone, bounds }, name) => (bounds ? (readDay(bounds[name] ?? null, zone) ?? null) : undefined);
  const date = typeof value === 'string' && value.length === 10 ? readIsoDate(value) : undefined;
  if (date === undefined)
    return refuse('"min" and "max" are "today" or a real date as in "1990-12-31", or an expression as in "=dueDate"');
  return () => date;
}
