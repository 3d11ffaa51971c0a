// GET /docs/search: where the words stand that a reader looks for. It works without a script.

import type MiniSearch from 'minisearch';
import { html, type Markup, type Part } from '../../lib/markup.ts';
import { keepMade } from '../../lib/retry.ts';
import type { RouteGroup } from '../http/route-table.ts';
import type { DocsPage } from './guides.ts';
import { listSearchEntries, type SearchEntry } from './search-entries.ts';

const RESULTS = 30;
const NAMES_GUIDE = '/docs/guides/api';
const SNIPPET_CHARS = 220;
/** Of what is looked for. */
export const SEARCH_CHARS = 100;

export interface SearchHit extends SearchEntry {
  /** The words of the text that fit. */
  readonly terms: readonly string[];
}

export interface DocsSearch {
  /** The best results first; those with all words, or where there are none, those with any of them. */
  find(words: string): Promise<readonly SearchHit[]>;
}

/** The index is made for the first who looks for something. */
export function openSearch(groups: () => readonly RouteGroup[]): DocsSearch {
  const made = new Map<string, Promise<MiniSearch<SearchEntry>>>();
  return {
    find: async (words) => {
      const index = await keepMade(made, 'index', () => makeIndex(groups()));
      const all = index.search(words, { combineWith: 'AND' });
      const found = all.length ? all : index.search(words, { combineWith: 'OR' });
      return found.slice(0, RESULTS) as unknown as SearchHit[];
    },
  };
}

async function makeIndex(groups: readonly RouteGroup[]): Promise<MiniSearch<SearchEntry>> {
  const { default: Index } = await import('minisearch');
  const index = new Index<SearchEntry>({
    fields: ['title', 'text', 'where'],
    storeFields: ['href', 'title', 'where', 'text'],
    searchOptions: {
      boost: { title: 4 },
      // It names everything, so it would stand before the pages that explain it.
      boostDocument: (_id, _term, entry) => (String(entry?.href).startsWith(NAMES_GUIDE) ? 0.3 : 1),
      prefix: (term) => term.length > 2,
      // One wrong letter in a word of five, two in one of ten.
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  index.addAll((await listSearchEntries(groups)).map((entry, id) => ({ ...entry, id })));
  return index;
}

export function searchPage(words: string, found: readonly SearchHit[]): DocsPage {
  const title = words === '' ? 'Search' : `“${words}”`;
  return {
    title: `${title} · Twinline`,
    body: html`<section class="card"><h1>Search</h1>
<form class="search row" action="/docs/search"><input type="search" name="q" value="${words}" maxlength="${SEARCH_CHARS}" aria-label="What to look for" required autofocus><button class="primary" type="submit">Search</button></form>
${words !== '' && resultList(words, found)}</section>`,
  };
}

function resultList(words: string, found: readonly SearchHit[]): Markup {
  if (found.length === 0)
    return html`<p role="status">Nothing was found for “${words}”. Try fewer or other words, or see all <a href="/docs/guides">guides</a>.</p>`;
  const count =
    found.length === RESULTS ? `The best ${RESULTS}` : found.length === 1 ? 'One result' : `${found.length} results`;
  return html`<p class="at" role="status">${count}</p><ol class="lined named">${found.map(
    ({ href, title, where, text, terms }) =>
      html`<li><a href="${href}">${title}</a> <span class="at">${where}</span><p class="soft">${snippet(text, terms)}</p></li>\n`,
  )}</ol>`;
}

/** What stands around the first of these words, with all of them marked. */
function snippet(text: string, terms: readonly string[]): Part {
  const pattern = new RegExp(`(${terms.map(escapePattern).join('|')})`, 'giu');
  const first = Math.max(0, text.search(pattern));
  const start = first < SNIPPET_CHARS / 2 ? 0 : text.lastIndexOf(' ', first - SNIPPET_CHARS / 3) + 1;
  const cut = text.slice(start, start + SNIPPET_CHARS);
  const parts = cut.split(pattern).map((part, at) => (at % 2 ? html`<mark>${part}</mark>` : part));
  return html`${start > 0 && '… '}${parts}${start + SNIPPET_CHARS < text.length && ' …'}`;
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
