// GET /pages/…: the style sheets and the scripts of pages, each under its name.

import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { PLAIN_ANSWERS, UNKNOWN } from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { CHAT_STYLE } from '../chat/style.ts';
import { INSPECTOR_STYLE } from '../inspector/style.ts';
import { SIMULATOR_STYLE } from '../simulator/style.ts';
import { COUNTDOWN_SCRIPT } from './countdown.ts';
import { GUIDE_STYLE } from './docs-style.ts';
import { isPageModule, moduleCaching, pageModule } from './page-modules.ts';
import { PAGE_STYLE } from './style.ts';

const TEXT: Schema = { type: 'string' };
const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

const FILES = new Map([
  ['page.css', { type: CSS, text: PAGE_STYLE }],
  ['simulator.css', { type: CSS, text: SIMULATOR_STYLE }],
  ['guide.css', { type: CSS, text: GUIDE_STYLE }],
  ['inspector.css', { type: CSS, text: INSPECTOR_STYLE }],
  ['chat.css', { type: CSS, text: CHAT_STYLE }],
  ['countdown.js', { type: JAVASCRIPT, text: COUNTDOWN_SCRIPT }],
]);

/** Whether this path is that of a file of pages. */
export function isPageFile(path: string): boolean {
  const [, folder, name, ...rest] = path.split('/');
  return folder === 'pages' && name !== undefined && rest.length === 0 && (isPageModule(name) || FILES.has(name));
}

export const PAGE_FILE_ROUTES: RouteGroup<unknown> = {
  tag: 'Documentation',
  description: 'What you are reading. Nobody needs a key.',
  parameters: { file: { description: 'The name of a file', schema: TEXT } },
  answers: { 429: PLAIN_ANSWERS[429] },
  routes: [
    {
      method: 'GET',
      path: '/pages/:file',
      rate: 'none',
      id: 'getPageFile',
      summary: 'The style and the script of pages',
      answers: {
        200: { description: 'The file', types: { 'text/css': TEXT, 'text/javascript': TEXT } },
        304: { description: 'What you have is what there is' },
        404: UNKNOWN,
      },
      handle: sendPageFile,
    },
  ],
};

async function sendPageFile(ctx: Context): Promise<void> {
  const name = ctx.params.file!;
  const file = isPageModule(name) ? { type: JAVASCRIPT, text: await pageModule(name) } : FILES.get(name);
  if (!file) throw new Refusal('not-found');
  const etag = `"${createHash('sha256').update(file.text).digest('base64url').slice(0, 16)}"`;
  const caching = isPageModule(name) ? moduleCaching(ctx.query.v) : 'public, max-age=300';
  ctx.set({ 'Content-Type': file.type, 'Cache-Control': caching, ETag: etag });
  ctx.body = file.text;
  if (ctx.fresh) ctx.status = 304;
}
