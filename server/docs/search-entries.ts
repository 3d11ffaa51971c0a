// What can be found by the search of the documentation: parts of guides, entries of references, errors, settings and routes.

import { marked, type Token } from 'marked';
import { html, markupText, type Part } from '../../lib/markup.ts';
import { SETTINGS } from '../config/settings.ts';
import type { RouteGroup } from '../http/route-table.ts';
import { REFERENCES } from './docs-page.ts';
import { errorEntries } from './error-pages.ts';
import { GUIDES, type GuideName, guideText } from './guides.ts';
import { makeAnchor } from './markdown.ts';

/** One place that a search may lead to. */
export interface SearchEntry {
  readonly href: string;
  readonly title: string;
  /** What it is a part of, in words. */
  readonly where: string;
  readonly text: string;
}

/** Everything, in the order in which equal results are shown. */
export async function listSearchEntries(groups: readonly RouteGroup[]): Promise<SearchEntry[]> {
  const guides = await Promise.all((Object.keys(GUIDES) as GuideName[]).map(guideEntries));
  return [...settingEntries(), ...referenceEntries(), ...guides.flat(), ...problemEntries(), ...routeEntries(groups)];
}

async function guideEntries(name: GuideName): Promise<SearchEntry[]> {
  const [guide, about] = GUIDES[name];
  const path = `/docs/guides/${name}`;
  const entries: { href: string; title: string; where: string; text: string }[] = [
    { href: path, title: guide, where: 'Guide', text: about },
  ];
  for (const token of marked.lexer(await guideText(name))) {
    if (token.type === 'heading' && token.depth > 1) {
      const title = plainText([token]);
      entries.push({ href: `${path}#${makeAnchor(token.text)}`, title, where: guide, text: '' });
    } else entries.at(-1)!.text += ` ${plainText([token])}`;
  }
  return entries;
}

type Nested = Token & {
  readonly tokens?: readonly Token[];
  readonly items?: readonly Token[];
  readonly header?: readonly { readonly tokens: readonly Token[] }[];
  readonly rows?: readonly (readonly { readonly tokens: readonly Token[] }[])[];
  readonly text?: string;
};

function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      const { tokens, items, header, rows, text = '' } = token as Nested;
      if (rows && header) return [...header, ...rows.flat()].map((cell) => plainText(cell.tokens)).join(' ');
      const inner = tokens ?? items;
      return inner ? plainText(inner) : `${text} `;
    })
    .join('')
    .replace(/\s+/g, ' ');
}

function referenceEntries(): SearchEntry[] {
  return Object.values(REFERENCES).flatMap(({ path, title, sections }) =>
    sections().flatMap((section) => [
      { href: `${path}#${section.id}`, title: section.title, where: title, text: readWords(section.lead) },
      ...section.groups.flatMap(({ entries }) =>
        entries.map(({ id, name, body }) => ({
          href: `${path}#${id}`,
          title: name,
          where: `${title} · ${section.title}`,
          text: readWords(body),
        })),
      ),
    ]),
  );
}

function problemEntries(): SearchEntry[] {
  return errorEntries().map(({ name, meaning, cause, remedy }) => ({
    href: `/docs/errors#${name}`,
    title: name,
    where: 'Errors',
    text: `${meaning} ${cause} ${remedy}`.replaceAll('`', ''),
  }));
}

function settingEntries(): SearchEntry[] {
  return Object.entries(SETTINGS).map(([name, { meaning, fix }]) => ({
    href: '/docs/guides/operators#settings',
    title: name,
    where: 'Settings',
    text: `${meaning}. ${fix}`,
  }));
}

function routeEntries(groups: readonly RouteGroup[]): SearchEntry[] {
  return groups.flatMap(({ tag, routes }) =>
    routes.map(({ method, path, id, summary, description = '' }) => ({
      href: `/docs#/${encodeURIComponent(tag)}/${id}`,
      title: `${method} ${path}`,
      where: `Routes · ${tag}`,
      text: `${summary}. ${description}`,
    })),
  );
}

const ENTITIES: { readonly [entity: string]: string } = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#96;': '`',
};

/** The words of our own markup. */
function readWords(part: Part): string {
  return markupText(html`${part}`)
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:amp|lt|gt|quot|#39|#96);/g, (entity) => ENTITIES[entity]!)
    .replace(/\s+/g, ' ')
    .trim();
}
