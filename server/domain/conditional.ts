// Conditional requests (RFC 9110): ETags are revisions.

import type { Context } from 'koa';
import { type Domain, validityOf } from '../../lib/domain/twin/record.ts';

const TAG = /^"([1-9]\d*)(?:-[\w.-]+)?"$/;

/** The ETag of a record: its revision, and what else of the answer may change without one. */
export function etagOf({ revision, body }: Pick<Domain, 'revision' | 'body'>, now: number): string {
  const validity = validityOf(body, now);
  return validity === 'valid' ? `"${revision}"` : `"${revision}-${validity}"`;
}

/**
 * The revision that If-Match asks for: `present` for `*` or when it is one of several, another one (which will not
 * match) for what is no ETag of ours, undefined without the header.
 */
export function expectedRevision(ctx: Context, present: number): number | undefined {
  const header = ctx.get('if-match').trim();
  if (header === '') return undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  const revisions = tags.map((tag) => Number(TAG.exec(tag)?.[1] ?? Number.NaN));
  if (tags.includes('*') || revisions.includes(present)) return present;
  return Number.isInteger(revisions[0]) ? revisions[0]! : 0;
}

/** Answers 304 in place of the body when the client has this version already. */
export function spareKnown(ctx: Context, etag: string): void {
  const tags = ctx
    .get('if-none-match')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''));
  if (!tags.includes(etag) && !tags.includes('*')) return;
  ctx.status = 304;
  ctx.body = null;
}
