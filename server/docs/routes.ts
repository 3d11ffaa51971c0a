// GET /openapi.json, /docs and what stands below: the documentation of this server, for machines and for people.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { html } from '../../lib/markup.ts';
import { Refusal } from '../http/errors.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { messagePage, type Page, sendPage } from '../web/kit/frame.ts';
import { guidePage, guidesPage, isGuide } from './guides.ts';
import { errorPage, errorsPage, flowFormatPage } from './reference-pages.ts';
import { SWAGGER_TYPES, swaggerFolder } from './swagger-files.ts';

interface Served {
  readonly type: string;
  readonly content: string | Buffer;
  readonly etag: string;
}

// Swagger UI brings its own script and style; ours start it and mend it.
const SWAGGER_PAGE: Page = {
  title: 'Twinline',
  head: html`<link rel="stylesheet" href="/docs/swagger-ui.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
`,
  script: 'swagger.js',
  style: 'swagger.css',
  body: html`<div id="docs"></div>
<noscript>This page needs JavaScript; the document itself is <a href="/openapi.json">/openapi.json</a>.</noscript>`,
};

/** Whether this path is that of a script or a style sheet of Swagger UI. */
export function isDocsFile(path: string): boolean {
  const [, folder, name, ...rest] = path.split('/');
  return folder === 'docs' && name !== undefined && Object.hasOwn(SWAGGER_TYPES, name) && rest.length === 0;
}

/** Adds the routes. `document` is asked for once, by the first who reads it. */
export function docsRoutes(router: Router, document: () => OpenApiDocument): void {
  const folder = swaggerFolder();
  let text: Served | undefined;
  const files = new Map<string, Promise<Served>>();

  const fileOf = (name: string): Promise<Served> | undefined => {
    if (!folder || !Object.hasOwn(SWAGGER_TYPES, name)) return undefined;
    const read = async () => served(SWAGGER_TYPES[name]!, await readFile(join(folder, name)));
    const file = files.get(name) ?? read();
    files.set(name, file);
    return file;
  };

  router.get('/openapi.json', (ctx) => {
    text ??= served('application/json', JSON.stringify(document()));
    send(ctx, text, 'no-cache');
  });
  router.get('/docs', async (ctx) => {
    if (!folder) {
      ctx.status = 503;
      return sendPage(ctx, messagePage('The documentation was not built', html`<p>Run npm run build.</p>`));
    }
    await sendPage(ctx, SWAGGER_PAGE);
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
    const file = await fileOf(ctx.params.file!);
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
