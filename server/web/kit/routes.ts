// GET /pages/…: scripts and style sheets of pages.

import type { Context } from 'koa';
import type { Schema } from '../../../lib/json/schema.ts';
import { PAGE_LIMITED, UNKNOWN } from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { ASSET_NAMES, isAsset, readAsset } from './assets.ts';
import { sendFile, textPacker } from './send-file.ts';

const TEXT: Schema = { type: 'string' };

export const PAGE_FILE_ROUTES: RouteGroup<unknown> = {
  tag: 'Documentation',
  access: 'public',
  owns: ['/pages'],
  description: 'What you are reading. Nobody needs a key.',
  parameters: { file: { description: 'The name of a file', schema: { enum: ASSET_NAMES } } },
  answers: { 429: PAGE_LIMITED },
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
  if (!isAsset(name)) throw new Refusal('not-found');
  const asset = await readAsset(name);
  const { text: content, hash } = asset;
  const type = `text/${name.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`;
  // Pages request a version by hash; a request without one gets the current version.
  const caching = ctx.query.v === hash ? 'public, max-age=31536000, immutable' : 'no-cache';
  sendFile(ctx, { type, content, brotli: await packAsset(name, asset), etag: `"${hash}"` }, caching);
}

const packAsset = textPacker();
