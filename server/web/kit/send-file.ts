// Compressed answers for clients that accept them: files, compressed once, and pages of documentation.

import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { Context } from 'koa';

export interface Served {
  readonly type: string;
  readonly content: string | Buffer;
  /** Brotli, for clients that accept it. */
  readonly brotli?: Buffer;
  readonly etag: string;
}

/** Answers with a file, or with 304. */
export function sendFile(ctx: Context, { type, content, brotli, etag }: Served, caching: string): void {
  const isPacked = brotli !== undefined && takesBrotli(ctx);
  ctx.set({ 'Content-Type': type, 'Cache-Control': caching, ETag: isPacked ? etag.replace(/"$/, '-br"') : etag });
  if (brotli) ctx.vary('Accept-Encoding');
  if (isPacked) ctx.set('Content-Encoding', 'br');
  ctx.body = isPacked ? brotli : content;
  if (ctx.fresh) ctx.status = 304;
}

const takesBrotli = (ctx: Context) => ctx.acceptsEncodings('br', 'identity') === 'br';

/** Shorter texts fit into the first packets uncompressed. */
const PACKED_CHARS = 4_096;

/** Compresses a page without secrets. Do not use it for others: the compressed length leaks contents (BREACH). */
export async function packPage(ctx: Context): Promise<void> {
  const { body } = ctx;
  if (typeof body !== 'string' || body.length < PACKED_CHARS) return;
  ctx.vary('Accept-Encoding');
  if (!takesBrotli(ctx)) return;
  ctx.body = await compress(body, QUICK);
  ctx.set({ 'Content-Encoding': 'br', 'Content-Type': 'text/html; charset=utf-8' });
}

/** Ten percent larger than the best level in a tenth of the time. */
const [GOOD, QUICK] = [9, 4];

const pack = promisify(brotliCompress);

function compress(text: string, quality: number): Promise<Buffer> {
  return pack(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
  });
}

/** Caches compressed texts by name; a changed text replaces its predecessor. */
export function textPacker(): (
  name: string,
  text: { readonly text: string; readonly hash: string },
) => Promise<Buffer> {
  const packed = new Map<string, { readonly hash: string; readonly brotli: Promise<Buffer> }>();
  return (name, { text, hash }) => {
    const cached = packed.get(name);
    if (cached?.hash === hash) return cached.brotli;
    const brotli = compress(text, GOOD);
    packed.set(name, { hash, brotli });
    return brotli;
  };
}
