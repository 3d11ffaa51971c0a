// The frame of every page, its content security policy (nothing inline, nothing from other origins), and errors as pages.

import type { Context } from 'koa';
import helmet from 'koa-helmet';
import { html, type Markup, markupText, type Part } from '../../../lib/markup.ts';
import { PAGE } from '../../http/common-answers.ts';
import type { ErrorAnswer, RefusalKind } from '../../http/errors.ts';
import type { Route, RouteDescription } from '../../http/route-table.ts';
import { assetAddress, type ScriptName, type StyleName } from './assets.ts';
import { identifyReader, siteHeader } from './header.ts';

export interface PageContent {
  readonly title: string;
  readonly body: Part;
  /** @default 'header.js' */
  readonly script?: ScriptName;
  /** Imports page.css, except for Swagger UI. @default 'page.css' */
  readonly style?: StyleName;
  /** Elements of the head before the page's own style and script. @default none */
  readonly head?: Part;
  /** `full`: fills the window and scrolls inside; `docs`: a list of pages beside the text. @default 'text' */
  readonly layout?: 'text' | 'wide' | 'full' | 'docs';
  /** Without the header of the site: for visitors of this page alone. @default false */
  readonly isBare?: boolean;
  /** Origins that the page may show in frames. @default none */
  readonly frames?: readonly string[];
}

function contentPolicy(frames: readonly string[]) {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'style-src': ["'self'"],
      'img-src': ["'self'", 'data:'],
      'connect-src': ["'self'"],
      ...(frames.length > 0 && { 'frame-src': frames }),
      'base-uri': ["'none'"],
      'form-action': ["'self'"],
      'frame-ancestors': ["'none'"],
    },
  });
}

const policy = contentPolicy([]);

export interface DeclaredPage<Deps> extends Pick<RouteDescription, 'path' | 'id' | 'summary' | 'description'> {
  readonly page: (deps: Deps) => PageContent;
}

/** The route of a page. */
export function pageRoute<Deps>({ page, ...description }: DeclaredPage<Deps>): Route<Deps> {
  return { method: 'GET', ...description, answers: { 200: PAGE }, handle: (ctx, deps) => sendPage(ctx, page(deps)) };
}

/** Answers with a page. Set the status before. */
export async function sendPage(ctx: Context, page: PageContent): Promise<void> {
  await (page.frames ? contentPolicy(page.frames) : policy)(ctx, async () => {});
  ctx.type = 'html';
  ctx.body = `<!doctype html>\n${markupText(await framePage(ctx, page))}`;
}

// Two lines side by side, in the colour of links.
const MARK =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%232a5bd7'/%3E%3Cpath d='M7 8h18M7 13h18M16 13v12' stroke='%23fff' stroke-width='3' stroke-linecap='round'/%3E%3C/svg%3E";

async function framePage(ctx: Context, page: PageContent): Promise<Markup> {
  const { title, body, style = 'page.css', head, layout = 'text' } = page;
  const reader = await identifyReader(ctx);
  const script = page.script ?? 'header.js';
  return html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="${MARK}">
${head}<link rel="stylesheet" href="${await assetAddress(style)}">
<script src="${await assetAddress(script)}" type="module"></script>
</head>
<body class="${layout}">
${!page.isBare && siteHeader(ctx, reader)}
<main id="content">
${body}
</main>
</body>
</html>
`;
}

/** Whether the client prefers HTML to JSON. */
export function prefersHtml(ctx: Pick<Context, 'accepts'>): boolean {
  return ctx.accepts('application/json', 'text/html') === 'text/html';
}

/** A page with a single message. */
export function messagePage(title: string, words: Part): PageContent {
  return { title, body: html`<section class="card"><h1>${title}</h1>${words}</section>` };
}

// --- errors as pages ---

const TITLES: { readonly [kind in RefusalKind]?: string } = {
  'not-found': 'There is no such page',
  'too-many-requests': 'Too many requests',
  internal: 'Something went wrong here',
  'bad-gateway': 'A service behind this server did not answer',
  unavailable: 'This server cannot answer now',
};

const WORDS: { readonly [kind in RefusalKind]?: string } = {
  'not-found': 'The address may be mistyped, or the page may be for operators only.',
  internal: 'It is not your fault. The error was logged; operators can find it by the request id below.',
  unavailable: 'It is overloaded, or a store is unavailable. Try again in a moment.',
};

/** Answers with a page if the client prefers HTML and sends no `Authorization`. Resolves to whether it answered. */
export async function sendErrorPage(ctx: Context, { status, body }: ErrorAnswer): Promise<boolean> {
  ctx.vary('Accept');
  if (!prefersHtml(ctx) || ctx.get('authorization') !== '') return false;
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  const title = TITLES[body.code] ?? body.error;
  await sendPage(ctx, { ...messagePage(title, errorWords(body)), title: `${title} · Twinline` });
  return true;
}

function errorWords({ code, error, requestId }: ErrorAnswer['body']): Part {
  const words = WORDS[code] ?? (TITLES[code] === undefined ? '' : `${error}.`);
  return html`${words !== '' && html`<p>${words}</p>`}
<p>Go to the <a href="/">home</a> of this server or its <a href="/docs/guides">guides</a>, or read <a href="/docs/errors/${code}">what ${code} means</a>.</p>
<p class="at">Request <code>${requestId}</code></p>`;
}

/**
 * Answers 429 with a page if the client prefers HTML. Resolves to whether it answered. The page reloads itself after the
 * wait.
 */
export async function sendWaitPage(ctx: Context, seconds: number): Promise<boolean> {
  if (!prefersHtml(ctx)) return false;
  const now = Date.now();
  const until = new Date(now + seconds * 1_000).toISOString();
  const left = `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  const words = html`<p>Too many requests came from this address in a short time.</p>
<p>Try again in <time data-until="${until}" data-now="${new Date(now).toISOString()}">${left}</time>.</p>`;
  ctx.status = 429;
  ctx.set('Cache-Control', 'no-store');
  await sendPage(ctx, { ...messagePage('Too many requests', words), script: 'header.js' });
  return true;
}
