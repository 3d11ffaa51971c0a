// The guides that are served below /docs/guides: which there are, and how their Markdown becomes a page.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Marked, type Tokens } from 'marked';
import { html, type Markup, trustMarkup } from '../../lib/markup.ts';
import { linkBar, type Page } from '../web/kit/frame.ts';

/** Guides by name, which is that of their file too, in the order in which they are offered. */
export const GUIDES = {
  'first-menu': ['Your first menu in ten minutes', 'from an empty folder to a dialled menu with a test and a diagram'],
  menus: ['Writing menus', 'screens, texts, languages, answers, calls, secrets, pages, versions and tests'],
  operators: ['Running a server', 'settings, stores, keys, proxies, health, metrics, updates and backups'],
  cli: ['The command line', 'every verb and its options'],
  engine: ['Using the engine', 'your own machines, stores, services and doors, imported from npm'],
  twins: ['Twins and votes', 'protocols, domains, proposals, credits'],
  agent: ['The agent service', 'chats, streams, sockets, models, tools'],
  plugins: ['Writing plugins', 'routes, tools, gates and events of the agent service'],
  queries: ['Chain queries over HTTP', 'a node’s gRPC methods as HTTP routes'],
  guarantees: ['What Twinline guarantees', 'each promise with the tests that prove it'],
  performance: ['How fast', 'each number beside its floor, from the same run'],
  architecture: ['Architecture', 'rooms, words, and where to change what'],
} as const satisfies Readonly<Record<string, readonly [title: string, about: string]>>;

export type GuideName = keyof typeof GUIDES;

export function isGuide(name: string): name is GuideName {
  return Object.hasOwn(GUIDES, name);
}

/** The Markdown of a guide. */
export function guideText(name: GuideName): Promise<string> {
  return readFile(fileURLToPath(import.meta.resolve(`#guides/${name}.md`)), 'utf8');
}

/** A guide as a page; its headings can be linked to. */
export async function guidePage(name: GuideName): Promise<Page> {
  const [title] = GUIDES[name];
  const body = trustMarkup(await reader.parse(await guideText(name)));
  return {
    title: `${title} · Twinline`,
    style: 'docs.css',
    body: html`${otherGuides(name)}<article class="card guide">${body}</article>`,
  };
}

/** All guides, and what else there is to read. */
export function guidesPage(): Page {
  const entry = (href: string, title: string, about: string) =>
    html`<li><a href="${href}">${title}</a><span>${about}</span></li>`;
  return {
    title: 'Guides · Twinline',
    style: 'docs.css',
    body: html`<header class="card"><h1>Guides</h1><ul class="guides">
${names().map((name) => entry(`/docs/guides/${name}`, GUIDES[name][0], GUIDES[name][1]))}
${entry('/docs/flow-format', 'Flow format', 'every key of a flow file, with examples')}
${entry('/docs/errors', 'Errors', 'what can go wrong, why, and what to do')}
${entry('/docs', 'Routes', 'every route of this server, to be tried out')}
</ul></header>`,
  };
}

const names = () => Object.keys(GUIDES) as GuideName[];

function otherGuides(here: GuideName): Markup {
  return linkBar({
    label: 'Guides',
    title: html`<a href="/docs/guides">Guides</a>`,
    path: `/docs/guides/${here}`,
    links: names().map((name) => [`/docs/guides/${name}`, GUIDES[name][0]]),
  });
}

const reader = new Marked({
  gfm: true,
  renderer: {
    heading(this: { parser: { parseInline(tokens: Tokens.Generic[]): string } }, { depth, text, tokens }) {
      return `<h${depth} id="${makeAnchor(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    // The second word of a block's language is the file that it is about.
    code({ text, lang = '' }) {
      const [language, file] = lang.split(' ');
      const caption = file && CAPTIONED.has(language!) ? `<figcaption>${escaped(file)}</figcaption>` : '';
      const focus = 'tabindex="0" role="region" aria-label="code"';
      return `<figure class="code">${caption}<pre ${focus}><code>${escaped(text)}</code></pre></figure>\n`;
    },
    table(this: { parser: { parseInline(tokens: Tokens.Generic[]): string } }, { header, rows }) {
      const row = (cells: Tokens.TableCell[], tag: string) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
      const body = rows.map((cells) => row(cells, 'td')).join('');
      return `<div class="table" tabindex="0" role="region" aria-label="table"><table><thead>${row(header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`;
    },
  },
});

/** Languages whose blocks are whole files, or parts of them. */
const CAPTIONED = new Set(['json', 'js', 'ts', 'yaml', 'nginx']);

/** The fragment of a heading. */
export function makeAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
