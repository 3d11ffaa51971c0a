// Calendar days and clock times of callers. A day is a text, YYYY-MM-DD; a moment is milliseconds since 1970, or an ISO text with
// an offset. A moment falls on another day in another time zone.

import type { Clock } from '../../clock.ts';
import type { Json, JsonObject } from '../../json/json.ts';

/** What time it is, and where. */
export interface Calendar extends Pick<Clock, 'now'> {
  /** The time zone of flows that name none. @default UTC, and texts as they are written */
  readonly timezone?: string | undefined;
}

/** The caller's time zone: the variable `timezone` if it names one, else that of the flow that was dialled, `$zone`. */
export function findZone(scope: JsonObject, { timezone }: Calendar): string | undefined {
  const own = Object.hasOwn(scope, 'timezone') ? scope.timezone : undefined;
  return typeof own === 'string' && isTimeZone(own) ? own : ((scope.$zone as string | undefined) ?? timezone);
}

// Creating a formatter costs 50 times more than using it. Names may come from data, so the cache is bounded.
const ZONES_KEPT = 700;
const formatters = new Map<string, Intl.DateTimeFormat | undefined>();

function zoneFormat(zone: string): Intl.DateTimeFormat | undefined {
  if (formatters.has(zone)) return formatters.get(zone);
  const format = makeZoneFormat(zone);
  if (formatters.size >= ZONES_KEPT) formatters.clear();
  formatters.set(zone, format);
  return format;
}

function makeZoneFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  const number = 'numeric';
  const [year, month, day, hour, minute, second] = [number, number, number, number, number, number] as const;
  try {
    return timeZone.length > 64
      ? undefined
      : new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
          ...{ timeZone, hourCycle: 'h23', year, month, day, hour, minute, second },
        });
  } catch {
    return undefined;
  }
}

/** Whether this Node knows the time zone. */
export function isTimeZone(name: string): boolean {
  return zoneFormat(name) !== undefined;
}

const DAY_MS = 86_400_000;
const FIRST_MS = Date.UTC(2000, 0, 1) - 730_119 * DAY_MS;
const LAST_MS = Date.UTC(9999, 11, 31) + DAY_MS;

// Milliseconds since 1970 of what the clocks on the wall show, as if they were UTC; undefined outside the years 1 to 9999.
function toWall(ms: number, zone: string | undefined): number | undefined {
  if (!(ms >= FIRST_MS && ms < LAST_MS)) return undefined;
  if (zone === undefined || zone === 'UTC') return ms;
  const [month, day, year, hour, minute, second] = zoneFormat(zone)!.format(ms).match(/\d+/g)!.map(Number);
  const wall = new Date(0);
  wall.setUTCFullYear(year!, month! - 1, day!);
  wall.setUTCHours(hour!, minute!, second!);
  return wall.getTime();
}

/** `YYYY-MM-DD` at `ms` milliseconds since 1970; undefined outside the years 1 to 9999. @default `zone` UTC */
export function dateAt(ms: number, zone?: string): string | undefined {
  const wall = toWall(ms, zone);
  if (wall === undefined) return undefined;
  const date = new Date(wall);
  return isoDate(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
}

/** `HH:MM` at `ms` milliseconds since 1970; undefined outside the years 1 to 9999. @default `zone` UTC */
export function timeAt(ms: number, zone?: string): string | undefined {
  const wall = toWall(ms, zone);
  return wall === undefined ? undefined : new Date(wall).toISOString().slice(-13, -8);
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:$|[T ](?:(\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?)/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** `YYYY-MM-DD`, or undefined if the day does not exist. Years are 1 to 9999. */
export function isoDate(year: number, month: number, day: number): string | undefined {
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = (DAYS[month - 1] ?? 0) + (leap ? 1 : 0);
  if (!(year >= 1 && year <= 9999 && day >= 1 && day <= last)) return undefined;
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

const pad = (value: number, width: number) => String(value).padStart(width, '0');

/** The date at the start of an ISO text, as written; undefined if there is no valid date. */
export function readIsoDate(text: string): string | undefined {
  const match = ISO.exec(text);
  return match ? isoDate(Number(match[1]), Number(match[2]), Number(match[3])) : undefined;
}

/** A moment as milliseconds since 1970: a number, or an ISO text with an offset; undefined for everything else. */
function readMoment(value: Json): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || readIsoDate(value) === undefined || !/(?:Z|[+-]\d{2}:?\d{2})$/.test(value.slice(10)))
    return undefined;
  const ms = Date.parse(value.replace(' ', 'T'));
  return Number.isNaN(ms) ? undefined : ms;
}

/** The day of a moment in the zone, or the day that an ISO text begins with; undefined if there is none. */
export function readDay(value: Json, zone: string | undefined): string | undefined {
  if (typeof value === 'number') return dateAt(value, zone);
  if (typeof value !== 'string') return undefined;
  // Without a zone, a text is taken as it is written.
  const moment = zone === undefined ? undefined : readMoment(value);
  return moment === undefined ? readIsoDate(value) : dateAt(moment, zone);
}

/** The time of a moment in the zone, or the time in an ISO text; undefined if there is none. */
export function readTime(value: Json, zone: string | undefined): string | undefined {
  const moment = zone === undefined && typeof value === 'string' ? undefined : readMoment(value);
  if (moment !== undefined) return timeAt(moment, zone);
  const [, , , , hour, minute] = (typeof value === 'string' && readIsoDate(value) && ISO.exec(value)) || [];
  return hour !== undefined && hour < '24' && minute! < '60' ? `${hour}:${minute}` : undefined;
}

/** The days from one to the other; negative when the second is earlier. */
export function countDays(from: string, to: string): number {
  return (Date.parse(`${to}T00:00Z`) - Date.parse(`${from}T00:00Z`)) / DAY_MS;
}

/** The day so many days later; undefined outside the years 1 to 9999. */
export function shiftDay(day: string, days: number): string | undefined {
  return dateAt(Date.parse(`${day}T00:00Z`) + days * DAY_MS);
}
