// Pages of lists: which one is asked for, and how an answer tells of the next.

import type { Context } from 'koa';
import { LIMITS } from '../../lib/limits.ts';
import { LIMIT, once, wholeNumber } from './parameters.ts';

/** The page that a query asks for; throws `bad-limit` or `bad-cursor`. */
export function readPage(query: Context['query']): { readonly limit: number; readonly cursor?: string } {
  return { limit: wholeNumber(query.limit, { ...LIMIT, most: LIMITS.pageSizeMax }), ...once(query, ['cursor']) };
}

/** Answers with a page; a Link leads to the next one, by the same query with another cursor. */
export function answerPage(
  ctx: Context,
  { items, next }: { items: readonly object[]; next?: string | undefined },
): void {
  if (next !== undefined) {
    const query = new URLSearchParams(ctx.querystring);
    query.set('cursor', next);
    ctx.set('Link', `<${ctx.path}?${query}>; rel="next"`);
  }
  ctx.body = { items, next: next ?? null };
}
