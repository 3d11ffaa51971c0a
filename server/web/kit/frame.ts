// What every page has around its content, and the policy that it is sent with: nothing inline, nothing of others.

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
  /** @default none */
  readonly script?: ScriptName;
  /** Holds what all pages share, but for the page of Swagger UI. @default 'page.css' */
  readonly style?: StyleName;
  /** What its script and style stand on: elements of the head, before theirs. @default none */
  readonly head?: Part;
  /** `full`: fills the window and scrolls inside; `docs`: a list of pages beside the text. @default 'text' */
  readonly layout?: 'text' | 'wide' | 'full' | 'docs';
  /** Origins of other sites that the page may show in frames. @default none */
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
export function pageRoute<Deps>({ page, ...declared }: DeclaredPage<Deps>): Route<Deps> {
  return { method: 'GET', ...declared, answers: { 200: PAGE }, handle: (ctx, deps) => sendPage(ctx, page(deps)) };
}

/** Answers with a page; the status is set before. */
export async function sendPage(ctx: Context, page: PageContent): Promise<void> {
  await (page.frames ? contentPolicy(page.frames) : policy)(ctx, async () => {});
  ctx.type = 'html';
  ctx.body = `<!doctype html>\n${markupText(await framePage(ctx, page))}`;
}

async function framePage(ctx: Context, page: PageContent): Promise<Markup> {
  const { title, body, style = 'page.css', head, layout = 'text' } = page;
  const reader = await identifyReader(ctx);
  const script = page.script ?? (reader.kind === 'operator' ? 'header.js' : undefined);
  return html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
${head}<link rel="stylesheet" href="${await assetAddress(style)}">
${script && html`<script src="${await assetAddress(script)}" type="module"></script>\n`}</head>
<body class="${layout}">
${siteHeader(ctx, reader)}
<main id="content">
${body}
</main>
</body>
</html>
`;
}

/** Whether the client would rather have HTML than JSON. */
export function prefersHtml(ctx: Pick<Context, 'accepts'>): boolean {
  return ctx.accepts('application/json', 'text/html') === 'text/html';
}

/** A page that says one thing, such as that something is not there. */
export function messagePage(title: string, words: Part): PageContent {
  return { title, body: html`<section class="card"><h1>${title}</h1>${words}</section>` };
}

// --- errors as pages ---

const TITLES: { readonly [kind in RefusalKind]?: string } = {
  'not-found': 'There is no such page',
  'too-many-requests': 'Too many requests',
  internal: 'Something went wrong here',
  'bad-gateway': 'Something that is needed did not answer',
  unavailable: 'This server cannot answer now',
};

const WORDS: { readonly [kind in RefusalKind]?: string } = {
  'not-found': 'The address may be mistyped, or the page may be for operators only.',
  internal: 'It is not your fault. It was logged, and operators can find it by the id below.',
  unavailable: 'It has too much to do, or a store is away. Try again in a moment.',
};

/** Answers with a page when a browser asks for one; programs send `Authorization`. Resolves to whether it did. */
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
 * Answers 429 with a page when a browser asks for one; resolves to whether it did. The page asks again by itself when the time has
 * come.
 */
export async function sendWaitPage(ctx: Context, seconds: number): Promise<boolean> {
  if (!prefersHtml(ctx)) return false;
  const now = Date.now();
  const until = new Date(now + seconds * 1_000).toISOString();
  const left = `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  const words = html`<p>This address has asked for more than this server answers in so short a time.</p>
<p>Try again in <time data-until="${until}" data-now="${new Date(now).toISOString()}">${left}</time>.</p>`;
  ctx.status = 429;
  ctx.set('Cache-Control', 'no-store');
  await sendPage(ctx, { ...messagePage('Too many requests', words), script: 'header.js' });
  return true;
}
