// Calendar dates without a time zone, as ISO text.

const ISO = /^(\d{4})-(\d{2})-(\d{2})/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** `YYYY-MM-DD`, or undefined when the calendar has no such day. Years are 1 to 9999. */
export function isoDate(year: number, month: number, day: number): string | undefined {
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = (DAYS[month - 1] ?? 0) + (leap ? 1 : 0);
  if (!(year >= 1 && year <= 9999 && day >= 1 && day <= last)) return undefined;
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** The date that ISO text begins with, as it is written there; undefined when it begins with no real date. */
export function readIsoDate(text: string): string | undefined {
  const found = ISO.exec(text);
  if (!found || !/^(?:$|[T ])/.test(text.slice(10))) return undefined;
  return isoDate(Number(found[1]), Number(found[2]), Number(found[3]));
}

/** The date in UTC at `ms` milliseconds since 1970; undefined outside the years 1 to 9999. */
export function dateAt(ms: number): string | undefined {
  const date = new Date(ms);
  return isoDate(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
