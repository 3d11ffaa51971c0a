// Moments as texts (RFC 3339), and which moment each names.

/** Year, month and day, and the rest. */
const MOMENT = /^(\d{4})-(\d\d)-(\d\d)[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,30})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Milliseconds since 1970; NaN for what is no moment, such as 30 February, which `Date.parse` takes for 2 March. */
export function parseMoment(text: string): number {
  const [, year, month, day] = MOMENT.exec(text) ?? [];
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCDate() === Number(day) ? Date.parse(text.toUpperCase().replace(' ', 'T')) : Number.NaN;
}
