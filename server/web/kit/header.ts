// The header of every page: tools that the reader may open, the current page, and the search of the documentation.

import type Koa from 'koa';
import type { Context } from 'koa';
import { html, type Markup } from '../../../lib/markup.ts';

export interface SiteLink {
  readonly href: string;
  readonly name: string;
  /** Whether a page at this path belongs to it. */
  readonly holds: (path: string) => boolean;
}

const linkToPart = (href: string, name: string): SiteLink => ({
  href,
  name,
  holds: (path) => path === href || path.startsWith(`${href}/`),
});

/** For operators. The studio may be off. */
const TOOLS = [
  linkToPart('/simulator', 'Phones'),
  linkToPart('/studio', 'Studio'),
  linkToPart('/chat', 'Chat'),
  linkToPart('/inspector', 'Inspector'),
] as const;

/** For everyone. */
const READING: readonly SiteLink[] = [
  linkToPart('/registry', 'Registry'),
  { href: '/docs/guides', name: 'Docs', holds: (path) => path.startsWith('/docs/') },
  { href: '/docs', name: 'API', holds: (path) => path === '/docs' },
];

/** Who reads a page, as far as the header depends on it. */
export type PageReader =
  | { readonly kind: 'visitor' }
  /** `isSignedIn`: by a cookie, so the header offers to sign out. */
  | { readonly kind: 'operator'; readonly isSignedIn: boolean };

export interface HeaderOptions {
  /** In production only operators see the links to tools. */
  readonly production: boolean;
  readonly studio: boolean;
  readonly identifyReader: (ctx: Context) => Promise<PageReader>;
}

/** Sets the options for the headers of all pages of an application. */
export function setHeaderOptions(app: Koa, options: HeaderOptions): void {
  app.context.headerOptions = options;
}

/** Default without {@link setHeaderOptions}: no tools. */
const PLAIN: HeaderOptions = { production: true, studio: false, identifyReader: async () => ({ kind: 'visitor' }) };

const readOptions = (ctx: Context): HeaderOptions => ctx.headerOptions ?? PLAIN;

export const identifyReader = (ctx: Context): Promise<PageReader> => readOptions(ctx).identifyReader(ctx);

/** The tools that the reader may open. */
export function listTools(ctx: Context, reader: PageReader): readonly SiteLink[] {
  const { production, studio } = readOptions(ctx);
  if (production && reader.kind === 'visitor') return [];
  return TOOLS.filter(({ href }) => studio || href !== '/studio');
}

/** The header of a page; for operators with a notice about menu edits that are not served. */
export function siteHeader(ctx: Context, reader: PageReader): Markup {
  const links = [...listTools(ctx, reader), ...READING];
  const here = links.find(({ holds }) => holds(ctx.path))?.href;
  const query = typeof ctx.query.q === 'string' && ctx.path === '/docs/search' ? ctx.query.q : '';
  return html`<a class="skip" href="#content">Skip to the content</a>
<header class="site"><nav class="tools" aria-label="Twinline"><a class="brand" href="/"${ctx.path === '/' && html` aria-current="page"`}>Twinline</a>
${links.map(({ href, name }) => html`<a href="${href}"${href === here && html` aria-current="page"`}>${name}</a>\n`)}</nav>
<form class="find" action="/docs/search" role="search"><input type="search" name="q" value="${query}" aria-label="Search the documentation" aria-keyshortcuts="/ Control+K" placeholder="Search the docs  /" autocomplete="off" maxlength="100" required></form>
${reader.kind === 'operator' && reader.isSignedIn && html`<button id="sign-out" type="button">Sign out</button>`}</header>
${reader.kind === 'operator' && html`<div id="refused" class="card refused" role="alert" hidden></div>`}`;
}
