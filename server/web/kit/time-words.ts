// Durations and moments in words, for pages and their scripts.

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** The two largest units of a duration: `6 days 23 hours`. */
export function formatSpan(seconds: number): string {
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  if (first < 0) return '0 seconds';
  let rest = seconds;
  const parts = UNITS.slice(first, first + 2).map(([name, size]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return count > 0 ? `${count} ${name}${count === 1 ? '' : 's'}` : '';
  });
  return parts.filter((part) => part !== '').join(' ');
}

// Marked pure, so bundles that format no moments leave it out.
const MOMENT = /* @__PURE__ */ new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
});

/** A moment, in milliseconds since 1970: `21 November 2026 at 23:45 UTC`. */
export function formatMoment(ms: number): string {
  return `${MOMENT.format(ms)} UTC`;
}

/** The distance of two moments in the largest unit: `3 hours ago`, `in 2 days`, `now` below a second. */
export function formatDistance(ms: number, now: number): string {
  const seconds = Math.floor(Math.abs(now - ms) / 1_000);
  const unit = UNITS.find(([, size]) => seconds >= size);
  if (!unit) return 'now';
  const span = formatSpan(Math.floor(seconds / unit[1]) * unit[1]);
  return ms < now ? `${span} ago` : `in ${span}`;
}
