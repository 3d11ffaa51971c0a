// The filter of reference pages: shows entries that contain all typed words, and links to those of other pages.
//
// "/" focuses the filter, Enter opens the first entry, Escape clears the filter.

import { findElement } from './element.ts';
import { startHeader } from './site.ts';

startHeader();

interface ReferenceMatch {
  readonly element: HTMLElement;
  readonly text: string;
}

const input = findElement<HTMLInputElement>('filter-words');
const status = findElement('filter-found');
const elsewhere = findElement('elsewhere');

const read = (element: HTMLElement): ReferenceMatch => ({ element, text: (element.textContent ?? '').toLowerCase() });
const links = [...elsewhere.querySelectorAll<HTMLElement>('li')].map(read);
const sections = [...document.querySelectorAll<HTMLElement>('section.part')].map((element) => ({
  ...read(element),
  title: read(element.querySelector('h2')!).text,
  entries: [...element.querySelectorAll<HTMLElement>('.key')].map(read),
  headings: [...element.querySelectorAll<HTMLElement>('.group')],
}));
const LINKS_MOST = 20;

function filter(): void {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text: string) => words.every((word) => text.includes(word));
  let count = 0;
  for (const { element, text, title, entries, headings } of sections) {
    // A section without entries is shown or hidden as a whole; a matching title shows all entries.
    const isWhole = entries.length ? has(title) : has(text);
    const matches = entries.filter((entry) => isWhole || has(entry.text));
    for (const entry of entries) entry.element.hidden = !matches.includes(entry);
    element.hidden = !isWhole && matches.length === 0;
    for (const heading of headings) heading.hidden = !followingEntries(heading).some((entry) => !entry.hidden);
    count += entries.length ? matches.length : Number(isWhole);
  }
  const others = words.length ? links.filter(({ text }) => has(text)).slice(0, LINKS_MOST) : [];
  for (const { element } of links) element.hidden = true;
  for (const { element } of others) element.hidden = false;
  findElement('contents').hidden = words.length > 0;
  elsewhere.hidden = others.length === 0;
  status.textContent = words.length ? `${count} found here` : '';
}

function followingEntries(heading: HTMLElement): HTMLElement[] {
  const entries: HTMLElement[] = [];
  for (let next = heading.nextElementSibling; next?.matches('.key'); next = next.nextElementSibling)
    entries.push(next as HTMLElement);
  return entries;
}

function showAll(): void {
  input.value = '';
  filter();
}

function openFirst(): void {
  const first =
    document.querySelector<HTMLAnchorElement>('section.part:not([hidden]) .key:not([hidden]) a') ??
    elsewhere.querySelector<HTMLAnchorElement>('li:not([hidden]) a');
  first?.focus();
  first?.click();
}

// Clears the filter if it hides the target of a link.
function showTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target?.closest('[hidden]')) return;
  showAll();
  target.scrollIntoView();
}

input.addEventListener('input', filter);
input.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') showAll();
  if (event.key === 'Enter') openFirst();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey;
  if (event.key !== '/' || isTyping) return;
  event.preventDefault();
  input.focus();
});
addEventListener('hashchange', showTarget);
// Browsers restore the typed words when going back.
addEventListener('pageshow', filter);
findElement('filter').hidden = false;
