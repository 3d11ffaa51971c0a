// Pages of lists: which one is asked for, and how an answer tells of the next.

import type { Context } from 'koa';
import { SHARED_LIMITS } from '../../lib/shared-limits.ts';
import { uriReference } from './address.ts';
import { LIMIT, once, wholeNumber } from './parameters.ts';

/** The page that a query asks for; throws `bad-limit` or `bad-cursor`. */
export function readPage(query: Context['query']): { readonly limit: number; readonly cursor?: string } {
  return { limit: wholeNumber(query.limit, { ...LIMIT, most: SHARED_LIMITS.pageSizeMax }), ...once(query, ['cursor']) };
}

/** Answers with a page; a Link leads to the next one, by the same query with another cursor. */
export function answerPage(
  ctx: Context,
  { items, next }: { items: readonly object[]; next?: string | undefined },
): void {
  if (next !== undefined) {
    ctx.set('Link', `<${nextAddress(ctx, next)}>; rel="next"`);
  }
  ctx.body = { items, next: next ?? null };
}

// The query as it was sent. A colon is legal in a path and in a query (RFC 3986), so DIDs stand there as they are written.
function nextAddress({ path, querystring }: Context, cursor: string): string {
  const isCursor = (part: string) => new URLSearchParams(part).has('cursor');
  const kept = querystring.split('&').filter((part) => part !== '' && !isCursor(part));
  const query = [...kept, `cursor=${encodeURIComponent(cursor)}`].join('&');
  return uriReference(`${path}?${query}`).replaceAll(/%3A/gi, ':');
}
