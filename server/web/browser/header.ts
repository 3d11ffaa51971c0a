// For pages that have no script of their own: what their header does, and the words of `<time data-until="…">`, which are kept
// true until the page is read again at that time.

import { formatSpan } from '../kit/time-words.ts';
import { startHeader } from './site.ts';

startHeader();

const RELOAD_AFTER_MS = 1_500;

for (const element of document.querySelectorAll<HTMLElement>('[data-until]')) {
  const until = Date.parse(element.dataset.until!);
  // The clock of the reader may be wrong: only the time since the page was made counts.
  const ahead = Date.now() - Date.parse(element.dataset.now!);
  const timer = setInterval(() => {
    const seconds = Math.ceil((until - Date.now() + ahead) / 1_000);
    element.textContent = formatSpan(Math.max(0, seconds));
    if (seconds > 0) return;
    clearInterval(timer);
    setTimeout(() => location.reload(), RELOAD_AFTER_MS);
  }, 1_000);
}
