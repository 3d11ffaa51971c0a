// The script of pages with a deadline. Without it they say the same, as it was when they were made.

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
