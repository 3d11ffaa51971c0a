// GET /pages/…: the scripts and the style sheets of pages, each under its name, compressed for clients that take it.

import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { Context } from 'koa';
import type { Schema } from '../../../lib/json/schema.ts';
import { PLAIN_ANSWERS, UNKNOWN } from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { ASSET_NAMES, isAsset, readAsset } from './assets.ts';

const TEXT: Schema = { type: 'string' };

export const PAGE_FILE_ROUTES: RouteGroup<unknown> = {
  tag: 'Documentation',
  access: 'public',
  owns: ['/pages'],
  description: 'What you are reading. Nobody needs a key.',
  parameters: { file: { description: 'The name of a file', schema: { enum: ASSET_NAMES } } },
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
  if (!isAsset(name)) throw new Refusal('not-found');
  const asset = await readAsset(name);
  const { text: content, hash } = asset;
  const type = `text/${name.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`;
  // Pages ask for one content; a request without it gets the present one.
  const caching = ctx.query.v === hash ? 'public, max-age=31536000, immutable' : 'no-cache';
  sendFile(ctx, { type, content, brotli: await packAsset(name, asset), etag: `"${hash}"` }, caching);
}

const packAsset = textPacker();

export interface Served {
  readonly type: string;
  readonly content: string | Buffer;
  /** The same, compressed, for those who take it. */
  readonly brotli?: Buffer;
  readonly etag: string;
}

/** Answers with a file, or that the client has it already. */
export function sendFile(ctx: Context, { type, content, brotli, etag }: Served, caching: string): void {
  const isPacked = brotli !== undefined && takesBrotli(ctx);
  ctx.set({ 'Content-Type': type, 'Cache-Control': caching, ETag: isPacked ? etag.replace(/"$/, '-br"') : etag });
  if (brotli) ctx.vary('Accept-Encoding');
  if (isPacked) ctx.set('Content-Encoding', 'br');
  ctx.body = isPacked ? brotli : content;
  if (ctx.fresh) ctx.status = 304;
}

const takesBrotli = (ctx: Context) => ctx.acceptsEncodings('br', 'identity') === 'br';

/** Shorter texts fit into the first packets as they are. */
const PACKED_CHARS = 4_096;

/** Compresses a page that holds nothing secret; what an answer of another kind holds could be guessed by its length. */
export async function packPage(ctx: Context): Promise<void> {
  const { body } = ctx;
  if (typeof body !== 'string' || body.length < PACKED_CHARS) return;
  ctx.vary('Accept-Encoding');
  if (!takesBrotli(ctx)) return;
  ctx.body = await compress(body, QUICK);
  ctx.set({ 'Content-Encoding': 'br', 'Content-Type': 'text/html; charset=utf-8' });
}

/** A tenth larger than the best, in a tenth of the time; and what each answer can wait for. */
const [GOOD, QUICK] = [9, 4];

const pack = promisify(brotliCompress);

function compress(text: string, quality: number): Promise<Buffer> {
  return pack(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
  });
}

/** Compresses texts that are sent again and again, each once; an edited one takes the place of the one before. */
function textPacker(): (name: string, text: { readonly text: string; readonly hash: string }) => Promise<Buffer> {
  const packed = new Map<string, { readonly hash: string; readonly brotli: Promise<Buffer> }>();
  return (name, { text, hash }) => {
    const known = packed.get(name);
    if (known?.hash === hash) return known.brotli;
    const brotli = compress(text, GOOD);
    packed.set(name, { hash, brotli });
    return brotli;
  };
}
