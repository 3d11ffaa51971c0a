// JSON bodies of all doors but the USSD one: parsed by koa-bodyparser, refused in our own words.

import type { Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { flawOfJson, wordsAt } from '../../../lib/json/reader.ts';
import type { Json } from '../../../lib/store/store.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { Refusal, type RefusalKind } from '../errors.ts';

const KINDS: Readonly<Record<string, RefusalKind>> = {
  'entity.too.large': 'too-large',
  'encoding.unsupported': 'unsupported-media-type',
  'charset.unsupported': 'unsupported-media-type',
};

/**
 * Puts the parsed body into `ctx.request.body`: objects and lists only, at most 1 MiB. Refused: what could not be kept as
 * it was sent; see lib/json/reader.ts.
 */
export function jsonBody(): Middleware {
  const parse = bodyParser({
    enableTypes: ['json'],
    jsonLimit: String(SERVER_LIMITS.jsonBodyBytes),
    // The parser's own words quote the body.
    onerror: (error) => {
      const { type, status } = error as { type?: string; status?: number };
      const kind = (type !== undefined && KINDS[type]) || (status === 415 ? 'unsupported-media-type' : 'bad-request');
      throw new Refusal(kind, kind === 'bad-request' ? 'The body is no valid JSON object or list' : undefined);
    },
  });
  return (ctx, next) =>
    parse(ctx, () => {
      const { body, rawBody } = ctx.request as { body?: unknown; rawBody?: string };
      const flaw = rawBody ? flawOfJson(rawBody, body as Json) : undefined;
      if (flaw) throw new Refusal('bad-request', `The body ${wordsAt(flaw)}`);
      return next();
    });
}
