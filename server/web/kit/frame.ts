// What every page has around its content, and the policy that it is sent with: nothing inline, nothing of others.

import type { Context } from 'koa';
import helmet from 'koa-helmet';
import { html, type Markup, markupText, type Part } from '../../../lib/markup.ts';
import { assetAddress, type ScriptName, type StyleName } from './assets.ts';

export interface Page {
  readonly title: string;
  readonly body: Part;
  /** @default none */
  readonly script?: ScriptName;
  /** Holds what all pages share, but for the page of Swagger UI. @default 'page.css' */
  readonly style?: StyleName;
  /** What its script and style stand on: elements of the head, before theirs. @default none */
  readonly head?: Part;
  /** `wide`: a tool that fills the window. @default 'text' */
  readonly layout?: 'text' | 'wide';
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
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    },
  });
}

const policy = contentPolicy([]);

/** Answers with a page; the status is set before. */
export async function sendPage(ctx: Context, page: Page): Promise<void> {
  await (page.frames ? contentPolicy(page.frames) : policy)(ctx, async () => {});
  ctx.type = 'html';
  ctx.body = `<!doctype html>\n${markupText(await framePage(page))}`;
}

async function framePage({ title, body, script, style = 'page.css', head, layout = 'text' }: Page): Promise<Markup> {
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

const TOOLS = [
  ['/simulator', 'Phones'],
  ['/studio', 'Studio'],
  ['/chat', 'Chat'],
  ['/inspector', 'Inspector'],
  ['/docs', 'Docs'],
] as const;

/** The links above every tool; `path` is the one that is open. */
export function toolHeader(path: string): Markup {
  return linkBar({ label: 'Tools', title: 'Twinline', path, links: TOOLS });
}

export interface LinkBar {
  readonly label: string;
  readonly title: Part;
  /** Where the reader is. */
  readonly path: string;
  readonly links: readonly (readonly [path: string, name: string])[];
}

/** A line of links, of which the present one is marked. */
export function linkBar({ label, title, path, links }: LinkBar): Markup {
  return html`<nav class="tools" aria-label="${label}"><strong>${title}</strong>
${links.map(
  ([href, name]) => html`<a href="${href}"${href === path && html` aria-current="page"`}>${name}</a>\n`,
)}</nav>`;
}
