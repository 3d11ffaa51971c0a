// The search of the documentation in the header: `/` and Ctrl+K go there, and while somebody types, the first results are offered.

import { element } from './element.ts';

const QUIET_MS = 200;
const SHOWN = 6;

/** Starts the search, where the page has one. */
export function startSearch(): void {
  const input = document.querySelector<HTMLInputElement>('.site .find input');
  if (!input) return;
  // A page with a search of its own keeps the key for it.
  const isTaken = document.querySelector('main [aria-keyshortcuts~="/"]') !== null;
  document.addEventListener('keydown', (event) => {
    const isTyping = (event.target as Element).closest('input, textarea, select, [contenteditable]') !== null;
    const isSlash = event.key === '/' && !isTaken && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isSlash && !(event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  offerResults(input);
}

function offerResults(input: HTMLInputElement): void {
  const list = element('ul', { class: 'suggestions', is: { hidden: true, 'aria-label': 'Suggestions' } });
  input.after(list);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hide = () => {
    clearTimeout(timer);
    list.hidden = true;
  };
  const offer = async (words: string) => {
    const results = await findResults(words);
    if (input.value.trim() !== words) return;
    list.replaceChildren(...results.map((result) => element('li', {}, [result])));
    list.hidden = results.length === 0;
  };
  input.addEventListener('input', () => {
    hide();
    const words = input.value.trim();
    if (words.length > 1) timer = setTimeout(() => void offer(words), QUIET_MS);
  });
  const form = input.form!;
  form.addEventListener('keydown', (event) => {
    const stops = [input, ...list.querySelectorAll('a')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') hide();
    if (step === undefined || list.hidden) return;
    event.preventDefault();
    stops[stops.indexOf(document.activeElement as HTMLAnchorElement) + step]?.focus();
  });
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(relatedTarget as Node | null)) hide();
  });
}

// The page of results, of which the first are taken.
async function findResults(words: string): Promise<HTMLElement[]> {
  const answer = await fetch(`/docs/search?q=${encodeURIComponent(words)}`).catch(() => undefined);
  if (!answer?.ok) return [];
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  return [...page.querySelectorAll('main ol.lined > li')].slice(0, SHOWN).map((result) => {
    const link = result.querySelector('a')!;
    return element('a', { is: { href: link.getAttribute('href')! } }, [
      link.textContent ?? '',
      ' ',
      element('small', { text: result.querySelector('.at')?.textContent ?? '' }),
    ]);
  });
}
