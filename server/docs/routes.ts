// GET /openapi.json, /docs and what stands below: the documentation of this server, for machines and for people.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from 'koa';
import helmet from 'koa-helmet';
import type { Schema } from '../../lib/domain/schema/parts.ts';
import { PLAIN_ANSWERS, UNKNOWN } from '../http/common-answers.ts';
import { Refusal } from '../http/errors.ts';
import type { RouteGroup } from '../http/route-table.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { messagePage, type Page, sendPage } from '../web/kit/frame.ts';
import { html, markupOf } from '../web/kit/html.ts';
import { errorPage, errorsPage } from './errors-page.ts';
import { flowFormatPage } from './flow-format-page.ts';
import { guidePage, guidesPage, isGuide } from './guides.ts';
import { START_SCRIPT } from './start-script.ts';
import { SWAGGER_TYPES, swaggerFolder } from './swagger-files.ts';
import { SWAGGER_STYLE } from './swagger-style.ts';

export interface Served {
  readonly type: string;
  readonly content: string | Buffer;
  readonly etag: string;
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

// As strict as Swagger UI bears: its icons are data. Tests open the page and look for breaches.
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

const DOCS = `<!doctype html>
${markupOf(html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Twinline</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/narrow.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="/docs/start.js" defer></script>
</head>
<body>
<div id="docs"></div>
<noscript>This page needs JavaScript; the document itself is <a href="/openapi.json">/openapi.json</a>.</noscript>
</body>
</html>
`)}`;

const START = 'start.js';
const NARROW = 'narrow.css';

/** Whether this path is that of a script or a style sheet of the documentation. */
export function isDocsFile(path: string): boolean {
  const [, folder, name, ...rest] = path.split('/');
  const isFile = name !== undefined && (name === START || name === NARROW || Object.hasOwn(SWAGGER_TYPES, name));
  return folder === 'docs' && isFile && rest.length === 0;
}

/** What the routes of the documentation serve. */
export interface Docs {
  /** /openapi.json, made once, for the first who reads it. */
  document(): Served;
  /** A script or a style sheet; undefined for an unknown name. */
  file(name: string): Promise<Served> | undefined;
}

export function openDocs(openApi: () => OpenApiDocument): Docs {
  const folder = swaggerFolder();
  let text: Served | undefined;
  const files = new Map<string, Promise<Served>>([
    [START, Promise.resolve(served(JAVASCRIPT, START_SCRIPT))],
    [NARROW, Promise.resolve(served(CSS, SWAGGER_STYLE))],
  ]);
  return {
    document: () => {
      text ??= served('application/json', JSON.stringify(openApi()));
      return text;
    },
    file: (name) => {
      const known = files.get(name);
      if (known || !folder || !Object.hasOwn(SWAGGER_TYPES, name)) return known;
      const read = readFile(join(folder, name)).then((bytes) => served(SWAGGER_TYPES[name]!, bytes));
      files.set(name, read);
      return read;
    },
  };
}

const TEXT: Schema = { type: 'string' };
const PAGE = { description: 'The page', types: { 'text/html': TEXT } };
const FILES = { 'text/css': TEXT, 'text/javascript': TEXT };
const NAME = { description: 'The name of a file', schema: TEXT };
const SAME = { description: 'What you have is what there is' };

const OPENAPI: Schema = {
  type: 'object',
  required: ['openapi', 'paths'],
  properties: { openapi: { const: '3.1.1' }, paths: { type: 'object' } },
  additionalProperties: true,
};

export const DOCS_ROUTES: RouteGroup<Docs> = {
  tag: 'Documentation',
  description: 'What you are reading. Nobody needs a key.',
  parameters: { file: NAME, name: { description: 'As the list of them names it', schema: TEXT } },
  answers: { 429: PLAIN_ANSWERS[429] },
  routes: [
    {
      method: 'GET',
      path: '/openapi.json',
      id: 'getOpenApi',
      summary: 'This document',
      answers: {
        200: {
          description: 'An OpenAPI document',
          types: { 'application/json': OPENAPI },
        },
        304: SAME,
      },
      handle: (ctx, { document }) => sendFile(ctx, document(), 'no-cache'),
    },
    {
      method: 'GET',
      path: '/docs',
      id: 'getDocs',
      summary: 'This document as a page',
      answers: { 200: PAGE, 503: { ...PAGE, description: 'The page was not built' } },
      handle: sendDocsPage,
    },
    {
      method: 'GET',
      path: '/docs/errors',
      id: 'getErrors',
      summary: 'What each error means',
      answers: { 200: PAGE },
      handle: (ctx) => sendPage(ctx, errorsPage()),
    },
    {
      method: 'GET',
      path: '/docs/errors/:name',
      id: 'getError',
      summary: 'What one error means',
      answers: { 200: PAGE, 404: { ...PAGE, description: 'There is no such error' } },
      handle: (ctx) => sendPage(ctx, errorPage(ctx.params.name!) ?? unknownPage(ctx)),
    },
    {
      method: 'GET',
      path: '/docs/guides',
      id: 'getGuides',
      summary: 'All guides',
      answers: { 200: PAGE },
      handle: (ctx) => sendPage(ctx, guidesPage()),
    },
    {
      method: 'GET',
      path: '/docs/guides/:name',
      id: 'getGuide',
      summary: 'A guide',
      answers: { 200: PAGE, 404: { ...PAGE, description: 'There is no such guide' } },
      handle: async (ctx) => {
        const name = ctx.params.name!;
        await sendPage(ctx, isGuide(name) ? await guidePage(name) : unknownPage(ctx));
      },
    },
    {
      method: 'GET',
      path: '/docs/flow-format',
      id: 'getFlowFormat',
      summary: 'Every key of a flow file',
      answers: { 200: PAGE },
      handle: (ctx) => sendPage(ctx, flowFormatPage()),
    },
    {
      method: 'GET',
      path: '/docs/:file',
      rate: 'none',
      id: 'getDocsFile',
      summary: 'What the page of the documentation is made of',
      answers: { 200: { description: 'The file', types: FILES }, 304: SAME, 404: UNKNOWN },
      handle: async (ctx, { file }) => {
        const found = await file(ctx.params.file!);
        if (!found) throw new Refusal('not-found');
        sendFile(ctx, found, 'public, max-age=3600');
      },
    },
  ],
};

async function sendDocsPage(ctx: Context): Promise<void> {
  if (!swaggerFolder()) {
    ctx.status = 503;
    return sendPage(ctx, messagePage('The documentation was not built', html`<p>Run npm run build.</p>`));
  }
  await policy(ctx, async () => {});
  ctx.type = 'html';
  ctx.body = DOCS;
}

function unknownPage(ctx: Context): Page {
  ctx.status = 404;
  return messagePage('There is no such page', html`<p>See all <a href="/docs/guides">guides</a>.</p>`);
}

function served(type: string, content: string | Buffer): Served {
  return { type, content, etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"` };
}

function sendFile(ctx: Context, { type, content, etag }: Served, caching: string): void {
  ctx.set({ 'Content-Type': type, 'Cache-Control': caching, ETag: etag });
  ctx.body = content;
  if (ctx.fresh) ctx.status = 304;
}
