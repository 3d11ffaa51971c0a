// Functions of days and times: what time it is, and days counted on the calendar of the caller.

import type { Json } from '../../json/json.ts';
import { countDays, dateAt, findZone, readDay, readTime, shiftDay } from './days.ts';
import type { Evaluation, ExpressionFunction, Refuse } from './described.ts';
import { nameKind } from './values.ts';

export type DayFunctionName = 'now' | 'today' | 'addDays' | 'daysBetween' | 'timeOf';

const DAY = 'a day as in 2026-02-28, or a moment, which falls on a day of the caller; anything else is an error';

export const DAY_FUNCTIONS: { readonly [name in DayFunctionName]: ExpressionFunction } = {
  now: {
    usage: 'now()',
    doc: 'This moment, in milliseconds since 1970. An hour has 3600000.',
    args: {},
    examples: [['now() - paidAt < 3600000', false, { paidAt: 0 }]],
    arity: [0, 0],
    call: (_args, _refuse, { calendar }) => calendar.now(),
  },
  today: {
    usage: 'today()',
    doc: "The caller's day, as in 2026-02-28: in the time zone of the flow, or in that of the variable `timezone`.",
    args: {},
    examples: [['dueDate < today()', true, { dueDate: '2024-02-28' }]],
    arity: [0, 0],
    call: (_args, _refuse, { calendar, scope }) => dateAt(calendar.now(), findZone(scope, calendar)) ?? null,
  },
  addDays: {
    usage: 'addDays(day, days)',
    doc: 'The day so many days later, or earlier when they are negative; null for null.',
    args: { day: DAY, days: 'a whole number; anything else is an error' },
    examples: [
      ["addDays('2026-02-26', 30)", '2026-03-28'],
      ["addDays('2024-03-01', -1)", '2024-02-29'],
    ],
    arity: [2, 2],
    call: ([value = null, days = null], refuse, at) => {
      const day = requireDay('addDays', value, { refuse, at });
      if (!Number.isInteger(days)) return refuse(`addDays takes a whole number of days, not ${nameKind(days)}.`);
      return day === null ? null : (shiftDay(day, days as number) ?? refuse('the day is outside the years 1 to 9999.'));
    },
  },
  daysBetween: {
    usage: 'daysBetween(from, to)',
    doc: 'The days from one to the other, negative when the second is earlier; null when either is null.',
    args: { from: DAY, to: DAY },
    examples: [
      ["daysBetween('2026-02-26', '2026-03-01')", 3],
      ["daysBetween('2024-01-01', '2026-02-28') % 7", 5],
    ],
    arity: [2, 2],
    call: ([from = null, to = null], refuse, at) => {
      const [start, end] = [from, to].map((value) => requireDay('daysBetween', value, { refuse, at }));
      return start == null || end == null ? null : countDays(start, end);
    },
  },
  timeOf: {
    usage: 'timeOf(moment)',
    doc: "The time of day, as in 08:30, in the caller's time zone; null when there is none.",
    args: { moment: 'milliseconds since 1970, or an ISO text with a time' },
    examples: [
      ["timeOf('2026-02-28T08:30:00Z') >= '08:00'", true],
      ['timeOf(1772265600000)', '08:00'],
    ],
    arity: [1, 1],
    call: ([value = null], _refuse, { calendar, scope }) => readTime(value, findZone(scope, calendar)) ?? null,
  },
};

function requireDay(
  name: string,
  value: Json,
  { refuse, at }: { readonly refuse: Refuse; readonly at: Evaluation },
): string | null {
  if (value === null) return null;
  const day = readDay(value, findZone(at.scope, at.calendar));
  return day ?? refuse(`${name} takes days as in 2026-02-28, and ${nameKind(value)} is none.`);
}
