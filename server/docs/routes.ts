// GET /openapi.json, /docs and what stands below: the documentation of this server, for machines and for people.

import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Schema } from '../../lib/json/schema.ts';
import { html } from '../../lib/markup.ts';
import { keepMade } from '../../lib/retry.ts';
import { readInput } from '../http/check-input.ts';
import { jsonTypes, PAGE_LIMITED, REFUSED, UNKNOWN } from '../http/common-answers.ts';
import { Refusal } from '../http/errors.ts';
import type { Route, RouteGroup } from '../http/route-table.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { messagePage, type PageContent, sendPage } from '../web/kit/frame.ts';
import { packPage, type Served, sendFile } from '../web/kit/send-file.ts';
import { frameDocs, guidesPage, makeReference, REFERENCES, type ReferenceName } from './docs-page.ts';
import { errorPage, errorsPage } from './error-pages.ts';
import type { DocsPage } from './guides.ts';
import { guidePage, isGuide } from './guides.ts';
import { type DocsSearch, openSearch, SEARCH_CHARS, searchPage } from './search-page.ts';
import { readSwaggerFile, SWAGGER_TYPES, swaggerFolder } from './swagger-files.ts';

// Swagger UI brings its own script and style; ours start it and mend it.
const SWAGGER_PAGE: PageContent = {
  title: 'Twinline',
  head: html`<link rel="stylesheet" href="/docs/swagger-ui.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
`,
  script: 'swagger.js',
  style: 'swagger.css',
  layout: 'wide',
  body: html`<div id="docs"></div>
<noscript>This page needs JavaScript; the document itself is <a href="/openapi.json">/openapi.json</a>.</noscript>`,
};

/** What the documentation is made of; asked for by the first who reads it. */
export interface DocsSources {
  openApi(): OpenApiDocument;
  groups(): readonly RouteGroup[];
}

/** What the routes of the documentation serve. */
export interface Docs {
  /** /openapi.json, made once, for the first who reads it. */
  document(): Served;
  readonly search: DocsSearch;
  /** A script or a style sheet; undefined for an unknown name. */
  file(name: string): Promise<Served> | undefined;
}

export function openDocs({ openApi, groups }: DocsSources): Docs {
  const folder = swaggerFolder();
  let text: Served | undefined;
  const files = new Map<string, Promise<Served>>();
  return {
    search: openSearch(groups),
    document: () => {
      text ??= makeServed('application/json', JSON.stringify(openApi()));
      return text;
    },
    file: (name) => {
      if (!folder || !Object.hasOwn(SWAGGER_TYPES, name)) return undefined;
      return keepMade(files, name, async () => {
        const { content, ...packed } = await readSwaggerFile(folder, name);
        return { ...makeServed(SWAGGER_TYPES[name]!, content), ...packed };
      });
    },
  };
}

const TEXT: Schema = { type: 'string' };
const PAGE = { description: 'The page', types: { 'text/html': TEXT } };
const FILES = { 'text/css': TEXT, 'text/javascript': TEXT };
const FILE = { description: 'The name of a file', schema: { enum: Object.keys(SWAGGER_TYPES) } };
const SAME = { description: 'What you have is what there is' };

const OPENAPI: Schema = {
  type: 'object',
  required: ['openapi', 'paths'],
  properties: { openapi: { const: '3.1.1' }, paths: { type: 'object' } },
  additionalProperties: true,
};

export const DOCS_ROUTES: RouteGroup<Docs> = {
  tag: 'Documentation',
  access: 'public',
  owns: ['/docs'],
  description: 'What you are reading. Nobody needs a key.',
  parameters: {
    file: FILE,
    name: { description: 'As the list of them names it', schema: { type: 'string', examples: ['first-menu'] } },
  },
  answers: { 429: PAGE_LIMITED },
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
      handle: (ctx) => sendDocs(ctx, errorsPage()),
    },
    {
      method: 'GET',
      path: '/docs/errors/:name',
      parameters: {
        name: { description: 'The code of an error', schema: { type: 'string', examples: ['ERR_STORE'] } },
      },
      id: 'getError',
      summary: 'What one error means',
      answers: { 200: PAGE, 404: { ...PAGE, description: 'There is no such error' } },
      handle: (ctx) => sendDocs(ctx, errorPage(ctx.params.name!) ?? answerUnknownPage(ctx)),
    },
    {
      method: 'GET',
      path: '/docs/guides',
      id: 'getGuides',
      summary: 'All guides',
      answers: { 200: PAGE },
      handle: (ctx) => sendDocs(ctx, guidesPage()),
    },
    {
      method: 'GET',
      path: '/docs/guides/:name',
      id: 'getGuide',
      summary: 'A guide',
      answers: { 200: PAGE, 404: { ...PAGE, description: 'There is no such guide' } },
      handle: async (ctx) => {
        const name = ctx.params.name!;
        await sendDocs(ctx, isGuide(name) ? await guidePage(name) : answerUnknownPage(ctx));
      },
    },
    {
      method: 'GET',
      path: '/docs/search',
      id: 'searchDocs',
      summary: 'Where words stand in guides, references, errors, settings and routes',
      query: {
        q: {
          description: `Words; the first ${SEARCH_CHARS} characters count`,
          schema: { type: 'string', examples: ['private'] },
        },
      },
      answers: { 200: PAGE, 400: { description: 'It is asked for more than once', types: jsonTypes(REFUSED) } },
      handle: async (ctx, { search }) => {
        const words = (readInput<{ query: { q?: string } }>(ctx).query.q ?? '').trim().slice(0, SEARCH_CHARS);
        await sendDocs(ctx, searchPage(words, words === '' ? [] : await search.find(words)));
      },
    },
    reference('flowFormat', 'getFlowFormat'),
    reference('expressions', 'getExpressions'),
    reference('services', 'getServices'),
    reference('testFiles', 'getTestFiles'),
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

function reference(name: ReferenceName, id: string): Route<Docs> {
  const { path, title, about } = REFERENCES[name];
  const answers = { 200: PAGE };
  const handle = (ctx: Context) => sendDocs(ctx, makeReference(name));
  return { method: 'GET', path, id, summary: `${title}: ${about}`, answers, handle };
}

async function sendDocs(ctx: Context, page: DocsPage): Promise<void> {
  await sendPage(ctx, frameDocs(page, ctx.path));
  await packPage(ctx);
}

async function sendDocsPage(ctx: Context): Promise<void> {
  if (!swaggerFolder()) {
    ctx.status = 503;
    return sendPage(ctx, messagePage('The documentation was not built', html`<p>Run npm run build.</p>`));
  }
  await sendPage(ctx, SWAGGER_PAGE);
}

function answerUnknownPage(ctx: Context): PageContent {
  ctx.status = 404;
  return messagePage('There is no such page', html`<p>See all <a href="/docs/guides">guides</a>.</p>`);
}

function makeServed(type: string, content: string | Buffer): Served {
  return { type, content, etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"` };
}
