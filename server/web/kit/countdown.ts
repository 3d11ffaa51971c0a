// Spans of time and moments in words, and the script that keeps those of a page true.

/** Keeps the words of `<time data-until="…">` true, and reads the page anew when its time has come. */
export const COUNTDOWN_SCRIPT = `'use strict';
const units = [['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]];
const words = (seconds) => {
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return '0 seconds';
  const parts = [];
  let rest = seconds;
  for (const [name, size] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count) parts.push(count + ' ' + name + (count === 1 ? '' : 's'));
  }
  return parts.join(' ');
};
for (const element of document.querySelectorAll('[data-until]')) {
  const until = Date.parse(element.dataset.until);
  // The clock of the reader may be wrong: only what has passed since the page was made counts.
  const ahead = Date.now() - Date.parse(element.dataset.now);
  const timer = setInterval(() => {
    const seconds = Math.ceil((until - Date.now() + ahead) / 1000);
    element.textContent = words(Math.max(0, seconds));
    if (seconds > 0) return;
    clearInterval(timer);
    setTimeout(() => location.reload(), 1500);
  }, 1000);
}
`;

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** The two greatest units of a span: `6 days 23 hours`. */
export function span(seconds: number): string {
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

const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/** A moment, in milliseconds since 1970: `21 November 2026 at 23:45 UTC`. */
export function moment(ms: number): string {
  return `${MOMENT.format(ms)} UTC`;
}
