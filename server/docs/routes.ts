// GET /openapi.json, /docs and what stands below: the documentation of this server, for machines and for people.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Router from '@koa/router';
import type { Context } from 'koa';
import helmet from 'koa-helmet';
import { Refusal } from '../http/errors.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { messagePage, type Page, sendPage } from '../web/kit/frame.ts';
import { html, markupOf } from '../web/kit/html.ts';
import { errorPage, errorsPage } from './errors-page.ts';
import { flowFormatPage } from './flow-format-page.ts';
import { guidePage, guidesPage, isGuide } from './guides.ts';
import { START_SCRIPT } from './start-script.ts';
import { SWAGGER_TYPES, swaggerFolder } from './swagger-files.ts';
import { SWAGGER_STYLE } from './swagger-style.ts';

interface Served {
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

/** Adds the routes. `document` is asked for once, by the first who reads it. */
export function docsRoutes(router: Router, document: () => OpenApiDocument): void {
  const folder = swaggerFolder();
  let text: Served | undefined;
  const files = new Map<string, Promise<Served>>();

  const fileOf = (name: string): Promise<Served> | undefined => {
    if (!folder || !Object.hasOwn(SWAGGER_TYPES, name)) return undefined;
    const known = files.get(name) ?? readFile(join(folder, name)).then((bytes) => served(SWAGGER_TYPES[name]!, bytes));
    files.set(name, known);
    return known;
  };
  files.set(START, Promise.resolve(served(JAVASCRIPT, START_SCRIPT)));
  files.set(NARROW, Promise.resolve(served(CSS, SWAGGER_STYLE)));

  router.get('/openapi.json', (ctx) => {
    text ??= served('application/json', JSON.stringify(document()));
    send(ctx, text, 'no-cache');
  });
  router.get('/docs', async (ctx) => {
    if (!folder) {
      ctx.status = 503;
      return sendPage(ctx, messagePage('The documentation was not built', html`<p>Run npm run build.</p>`));
    }
    await policy(ctx, async () => {});
    ctx.type = 'html';
    ctx.body = DOCS;
  });
  router.get('/docs/errors', (ctx) => sendPage(ctx, errorsPage()));
  router.get('/docs/errors/:name', (ctx) => sendPage(ctx, errorPage(ctx.params.name!) ?? unknownPage(ctx)));
  router.get('/docs/guides', (ctx) => sendPage(ctx, guidesPage()));
  router.get('/docs/guides/:name', async (ctx) => {
    const name = ctx.params.name!;
    await sendPage(ctx, isGuide(name) ? await guidePage(name) : unknownPage(ctx));
  });
  router.get('/docs/flow-format', (ctx) => sendPage(ctx, flowFormatPage()));
  router.get('/docs/:file', async (ctx) => {
    const file = await (files.get(ctx.params.file!) ?? fileOf(ctx.params.file!));
    if (!file) throw new Refusal('not-found');
    send(ctx, file, 'public, max-age=3600');
  });
}

function unknownPage(ctx: Context): Page {
  ctx.status = 404;
  return messagePage('There is no such page', html`<p>See all <a href="/docs/guides">guides</a>.</p>`);
}

function served(type: string, content: string | Buffer): Served {
  return { type, content, etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"` };
}

function send(ctx: Context, { type, content, etag }: Served, caching: string): void {
  ctx.set({ 'Content-Type': type, 'Cache-Control': caching, ETag: etag });
  ctx.body = content;
  if (ctx.fresh) ctx.status = 304;
}
