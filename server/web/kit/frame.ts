// What every page has around its content, and how it is sent: strict, never kept by others.

import type { Context } from 'koa';
import helmet from 'koa-helmet';
import { type Html, html, markupOf, type Part } from './html.ts';
import { moduleAddress, type PageModule } from './page-modules.ts';

export interface Page {
  readonly title: string;
  readonly body: Part;
  /** Names of scripts of `/pages/`. @default none */
  readonly scripts?: readonly string[];
  /** Names of modules of `/pages/`, which may ask this server. @default none */
  readonly modules?: readonly PageModule[];
  /** Names of sheets of `/pages/` beside the one that all pages have. @default none */
  readonly sheets?: readonly string[];
  /** `wide`: a tool that fills the window. @default 'text' */
  readonly layout?: 'text' | 'wide';
}

const policy = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  },
});

/** Answers with a page; the status is set before. */
export async function sendPage(ctx: Context, page: Page): Promise<void> {
  await policy(ctx, async () => {});
  ctx.type = 'html';
  ctx.body = `<!doctype html>\n${markupOf(framed(page))}`;
}

function framed({ title, body, scripts = [], modules = [], sheets = [], layout = 'text' }: Page): Html {
  return html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
${['page.css', ...sheets].map((name) => html`<link rel="stylesheet" href="/pages/${name}">\n`)}${scripts.map((name) => html`<script src="/pages/${name}" defer></script>\n`)}${modules.map((name) => html`<script type="module" src="${moduleAddress(name)}"></script>\n`)}</head>
<body class="${layout}">
<main>
${body}
</main>
</body>
</html>
`;
}

/** A page that says one thing, such as that something is not there. */
export function messagePage(title: string, words: Part): Page {
  return { title, body: html`<section class="card message"><h1>${title}</h1>${words}</section>` };
}
