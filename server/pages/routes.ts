// GET /pages/…: the style and the script of pages, each under its name.

import { createHash } from 'node:crypto';
import type Router from '@koa/router';
import { Refusal } from '../errors.ts';
import { COUNTDOWN_SCRIPT } from './countdown.ts';
import { PAGE_STYLE } from './style.ts';

const FILES = new Map(
  [
    { name: 'page.css', type: 'text/css; charset=utf-8', text: PAGE_STYLE },
    { name: 'countdown.js', type: 'text/javascript; charset=utf-8', text: COUNTDOWN_SCRIPT },
  ].map((file) => [
    file.name,
    { ...file, etag: `"${createHash('sha256').update(file.text).digest('base64url').slice(0, 16)}"` },
  ]),
);

export function pageRoutes(router: Router): void {
  router.get('/pages/:file', (ctx) => {
    const file = FILES.get(ctx.params.file!);
    if (!file) throw new Refusal('not-found');
    ctx.set({ 'Content-Type': file.type, 'Cache-Control': 'public, max-age=300', ETag: file.etag });
    ctx.body = file.text;
    if (ctx.fresh) ctx.status = 304;
  });
}
