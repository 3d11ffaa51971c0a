// Puts JSON bodies into `ctx.request.body`, for routes that read them there.

import type { Middleware } from 'koa';
import { wordsAt } from '../../../lib/json/reader.ts';
import { Refusal } from '../errors.ts';
import { BodyError, readJsonBody } from '../json-body.ts';

// Other bodies are left to the routes.
const TYPES = [
  ...['application/json', 'application/json-patch+json', 'application/vnd.api+json'],
  ...['application/csp-report', 'application/scim+json'],
];

/**
 * Reads objects and lists only; what is no JSON by its type, or missing, is an empty object. `limits`: path → most bytes, where
 * they are not SERVER_LIMITS.jsonBodyBytes.
 */
export function jsonBody(limits: ReadonlyMap<string, number> = new Map()): Middleware {
  return async (ctx, next) => {
    const { body } = ctx.request as { body?: unknown };
    if (body === undefined) ctx.request.body = ctx.is(TYPES) ? await readObject(ctx, limits.get(ctx.path)) : {};
    return next();
  };
}

async function readObject(ctx: Parameters<typeof readJsonBody>[0], most: number | undefined): Promise<unknown> {
  try {
    const { value, text } = await readJsonBody(ctx, { types: TYPES, optional: true, ...(most && { maxBytes: most }) });
    if (text.trim() === '') return {};
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    const { kind, fault, flaw } = error;
    if (fault !== 'syntax') throw new Refusal(kind, flaw && `The body ${wordsAt(flaw)}`);
  }
  throw new Refusal('bad-request', 'The body is no valid JSON object or list');
}
