// Bodies of the domain service: JSON, also when curl calls it a form; a patch says which kind of patch it is.

import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { refuse, refuseFlaw } from '../../lib/domain/problems.ts';
import { flawOfJson } from '../../lib/json/reader.ts';
import type { Json } from '../../lib/store/store.ts';
import { SERVER_LIMITS } from '../config/limits.ts';

/** Media types that a route reads; '' is a body without a type. */
export const JSON_TYPES = ['application/json', 'application/x-www-form-urlencoded', ''] as const;
export const PATCH_TYPES = ['application/merge-patch+json', 'application/json-patch+json', ...JSON_TYPES] as const;

/** Of every route that takes patches. */
export const ACCEPT_PATCH = PATCH_TYPES.slice(0, 2).join(', ');

const parse = bodyParser({
  enableTypes: ['json'],
  detectJSON: () => true,
  jsonLimit: String(SERVER_LIMITS.jsonBodyBytes),
  strict: false,
  // The parser's own words quote the body.
  onerror: (error, ctx) => {
    const { type, status, body } = error as { type?: string; status?: number; body?: unknown };
    if (isForm(mediaType(ctx)) && typeof body === 'string' && !LOOKS_LIKE_JSON.test(body)) throw noForms();
    if (type === 'entity.too.large')
      throw refuse(
        'too-large',
        `The body is larger than ${SERVER_LIMITS.jsonBodyBytes} bytes. Use /v1/bulk for many twins.`,
      );
    if (status === 415)
      throw refuse('unsupported-media-type', 'The encoding or character set of the body is not read.');
    throw refuse('bad-request', 'The body is no valid JSON.');
  },
});

export interface Body {
  /** The media type, in lower case, without parameters. */
  readonly type: string;
  readonly value: Json;
  /** As it came, to tell two requests apart. */
  readonly text: string;
}

/** Reads the body; throws `unsupported-media-type`, `too-large` or `bad-request`. */
export async function readBody(ctx: Context, types: readonly string[] = JSON_TYPES): Promise<Body> {
  const type = mediaType(ctx);
  if (!types.includes(type)) {
    if (ctx.method === 'PATCH') ctx.set('Accept-Patch', ACCEPT_PATCH);
    const known = types.filter((name) => name !== '' && !name.includes('form')).join(' or ');
    throw refuse('unsupported-media-type', `A body of type ${JSON.stringify(type)} is not read here. Send ${known}.`);
  }
  await parse(ctx, async () => {});
  const { body: value, rawBody: text = '' } = ctx.request as { body?: unknown; rawBody?: string };
  if (isForm(type) && !LOOKS_LIKE_JSON.test(text)) throw noForms();
  if (text === '') throw refuse('bad-request', 'The body is empty.');
  const flaw = flawOfJson(text, value as Json);
  if (flaw) throw refuseFlaw(flaw, 'The body');
  return { type, value: value as Json, text };
}

const LOOKS_LIKE_JSON = /^\s*[{[]/;

/** The type that the body of a request is said to have: in lower case, without parameters, '' when it says none. */
export function mediaType(ctx: Pick<Context, 'get'>): string {
  return ctx.get('content-type').split(';')[0]!.trim().toLowerCase();
}

function isForm(type: string): boolean {
  return type === 'application/x-www-form-urlencoded';
}

function noForms() {
  return refuse(
    'unsupported-media-type',
    'Forms are not read here. Send JSON: curl -H "Content-Type: application/json" -d \'{…}\'.',
  );
}
