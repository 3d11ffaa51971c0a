// What the pages of the reference share: sections of entries, a list of contents, and a filter that looks into all pages.

import { html, type Markup, type Part } from '../../../lib/markup.ts';
import type { PageContent } from '../../web/kit/frame.ts';

/** One thing that can be looked up. */
export interface ReferenceEntry {
  /** The anchor. */
  readonly id: string;
  /** How it is written; in words where it is `isPlain`. */
  readonly name: string;
  readonly isPlain?: boolean;
  /** In the contents. @default its name */
  readonly short?: string;
  /** Beside the name. */
  readonly note?: Part;
  readonly body: Part;
}

export interface Group {
  readonly title?: string;
  readonly entries: readonly ReferenceEntry[];
}

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly lead?: Part;
  readonly groups: readonly Group[];
  /** Whether the contents name its entries, too. @default false */
  readonly isListed?: boolean;
}

export interface Reference {
  readonly path: string;
  readonly title: string;
  readonly about: string;
  readonly lead: Part;
  /** The same at every call. */
  readonly sections: () => readonly Section[];
}

/** Gives what `make` made for the first who asked. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A page of the reference; `all` are those that its filter looks into. */
export function referencePage(reference: Reference, all: readonly Reference[]): PageContent {
  const { title, lead } = reference;
  const sections = reference.sections();
  return {
    title: `${title} · Twinline`,
    script: 'reference.js',
    body: html`<header class="card guide"><h1>${title}</h1>${lead}</header>
${filterBar(all.filter((one) => one !== reference))}
${contentsCard(sections)}
${sections.map(sectionCard)}`,
  };
}

function contentsCard(sections: readonly Section[]): Markup {
  const isShort = !sections.some(({ isListed }) => isListed);
  return html`<nav class="card guide" id="contents" aria-label="On this page"><ul class="parts${isShort && ' short'}">${sections.map(contentsLine)}</ul></nav>`;
}

function contentsLine({ id, title, groups, isListed }: Section): Markup {
  const entries = isListed ? groups.flatMap((group) => group.entries) : [];
  return html`<li><a href="#${id}">${title}</a>${
    entries.length > 0 &&
    html`<span>${entries.map(({ id, name, short = name }) => html` <a href="#${id}"><code>${short}</code></a>`)}</span>`
  }</li>`;
}

// Shown by the script, without which it would do nothing.
function filterBar(others: readonly Reference[]): Markup {
  const links = others.flatMap(({ path, title, sections }) =>
    sections().flatMap((section) =>
      section.groups.flatMap(({ entries }) =>
        entries.map(
          ({ id, name }) =>
            html`<li hidden><a href="${path}#${id}"><code>${name}</code></a> <span class="at">${section.title} · ${title}</span></li>`,
        ),
      ),
    ),
  );
  return html`<div class="card filter" id="filter" role="search" hidden><label for="filter-words">Find</label>
<input id="filter-words" type="search" autocomplete="off" spellcheck="false" placeholder="a key, a function, a word" aria-keyshortcuts="/">
<span class="at" id="filter-found" role="status"></span>
<div id="elsewhere" hidden><p class="at">On other pages:</p><ul>${links}</ul></div></div>`;
}

function sectionCard({ id, title, lead, groups }: Section): Markup {
  return html`<section class="card guide part" id="${id}"><h2><a href="#${id}">${title}</a></h2>${lead}
${groups.map((group) => html`${group.title !== undefined && html`<h3 class="group">${group.title}</h3>`}${group.entries.map((entry) => entryArticle(entry, group.title === undefined))}`)}</section>`;
}

function entryArticle({ id, name, isPlain, note, body }: ReferenceEntry, isTop: boolean): Markup {
  const heading = html`<a href="#${id}">${isPlain ? name : html`<code>${name}</code>`}</a>${note !== undefined && html`<span class="at">${note}</span>`}`;
  return html`<article class="key" id="${id}">${isTop ? html`<h3>${heading}</h3>` : html`<h4>${heading}</h4>`}<div>${body}</div></article>
`;
}
