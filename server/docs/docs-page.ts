// What every page of the documentation has beside it: all that there is to read, with the parts of what is read now.

import { html, type Markup } from '../../lib/markup.ts';
import type { PageContent } from '../web/kit/frame.ts';
import type { DocsPage } from './guides.ts';
import { GUIDES } from './guides.ts';
import { expressions } from './reference/expressions.ts';
import { flowFormat } from './reference/flow-format.ts';
import { type Reference, referencePage } from './reference/frame.ts';
import { services } from './reference/services.ts';
import { testFiles } from './reference/test-files.ts';

/** The pages of the reference for authors of menus, in the order in which they are offered. */
export const REFERENCES = { flowFormat, expressions, services, testFiles } as const satisfies {
  readonly [name: string]: Reference;
};

export type ReferenceName = keyof typeof REFERENCES;

interface Link {
  readonly path: string;
  readonly title: string;
  readonly about: string;
}

const guides: readonly Link[] = Object.entries(GUIDES).map(([name, [title, about]]) => ({
  path: `/docs/guides/${name}`,
  title,
  about,
}));

const references: readonly Link[] = [
  ...Object.values(REFERENCES),
  { path: '/docs/errors', title: 'Errors', about: 'what can go wrong, why, and what to do' },
  { path: '/docs', title: 'API', about: 'every route of this server, to be tried out' },
];

/** The page with its place among the others; `path` is its own. */
export function frameDocs({ body, sections = [], ...page }: DocsPage, path: string): PageContent {
  const at = guides.findIndex((guide) => guide.path === path);
  return {
    style: 'docs.css',
    ...page,
    layout: 'docs',
    body: html`<nav class="shelf" aria-label="Documentation">
${shelf('Guides', guides)}${shelf('Reference', references)}</nav>
<div class="reading stack">${body}${at >= 0 && neighbours(at)}</div>`,
  };

  function shelf(title: string, links: readonly Link[]): Markup {
    return html`<p class="caps">${title}</p><ul>${links.map(
      (link) =>
        html`<li><a href="${link.path}"${link.path === path && html` aria-current="page"`}>${link.title}</a>${link.path === path && sections.length > 0 && parts()}</li>\n`,
    )}</ul>`;
  }

  function parts(): Markup {
    return html`<ul class="here">${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul>`;
  }
}

function neighbours(at: number): Markup {
  const link = (guide: Link | undefined, rel: 'prev' | 'next', words: string) =>
    guide && html`<a class="tile" rel="${rel}" href="${guide.path}"><span>${words}</span>${guide.title}</a>`;
  return html`<nav class="neighbours row" aria-label="Before and after">${link(guides[at - 1], 'prev', 'Before')}${link(guides[at + 1], 'next', 'Next')}</nav>`;
}

/** All that there is to read. */
export function guidesPage(): DocsPage {
  const list = (links: readonly Link[]) =>
    html`<ul class="lined named">${links.map(({ path, title, about }) => html`<li><a href="${path}">${title}</a><p class="soft">${about}</p></li>\n`)}</ul>`;
  return {
    title: 'Guides · Twinline',
    body: html`<section class="card"><h1>Guides</h1>${list(guides)}</section>
<section class="card"><h2>To look things up</h2>${list(references)}</section>`,
  };
}

export function makeReference(name: ReferenceName): PageContent {
  return referencePage(REFERENCES[name], Object.values(REFERENCES));
}
