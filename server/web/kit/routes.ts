// GET /pages/…: the scripts and the style sheets of pages, each under its name.

import type Router from '@koa/router';
import { Refusal } from '../../http/errors.ts';
import { isAsset, readAsset } from './assets.ts';

/** Whether this path is that of a script or a style sheet of pages. */
export function isPageFile(path: string): boolean {
  const [, folder, name, ...rest] = path.split('/');
  return folder === 'pages' && name !== undefined && rest.length === 0 && isAsset(name);
}

export function pageRoutes(router: Router): void {
  router.get('/pages/:file', async (ctx) => {
    const name = ctx.params.file!;
    if (!isAsset(name)) throw new Refusal('not-found');
    const { text, hash } = await readAsset(name);
    ctx.set({
      'Content-Type': `text/${name.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
      // Pages ask for one content; whoever asks without it gets the present one.
      'Cache-Control': ctx.query.v === hash ? 'public, max-age=31536000, immutable' : 'no-cache',
      ETag: `"${hash}"`,
    });
    ctx.body = text;
    if (ctx.fresh) ctx.status = 304;
  });
}
