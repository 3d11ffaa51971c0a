// Script of pages without their own: starts the header, and counts down `<time data-until="…">`, then reloads the page.

import { formatSpan } from '../kit/time-words.ts';
import { startHeader } from './site.ts';

startHeader();

const RELOAD_AFTER_MS = 1_500;

for (const element of document.querySelectorAll<HTMLElement>('[data-until]')) {
  const until = Date.parse(element.dataset.until!);
  // Uses only the time elapsed since the page was sent: the clock of the browser may be wrong.
  const ahead = Date.now() - Date.parse(element.dataset.now!);
  const timer = setInterval(() => {
    const seconds = Math.ceil((until - Date.now() + ahead) / 1_000);
    element.textContent = formatSpan(Math.max(0, seconds));
    if (seconds > 0) return;
    clearInterval(timer);
    setTimeout(() => location.reload(), RELOAD_AFTER_MS);
  }, 1_000);
}
