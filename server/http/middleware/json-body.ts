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

/** Reads objects and lists only, at most 1 MiB; what is no JSON by its type, or missing, is an empty object. */
export function jsonBody(): Middleware {
  return async (ctx, next) => {
    const { body } = ctx.request as { body?: unknown };
    if (body === undefined) ctx.request.body = ctx.is(TYPES) ? await readObject(ctx) : {};
    return next();
  };
}

async function readObject(ctx: Parameters<typeof readJsonBody>[0]): Promise<unknown> {
  try {
    const { value, text } = await readJsonBody(ctx, { types: TYPES, optional: true });
    if (text.trim() === '') return {};
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    const { kind, fault, flaw } = error;
    if (fault !== 'syntax') throw new Refusal(kind, flaw && `The body ${wordsAt(flaw)}`);
  }
  throw new Refusal('bad-request', 'The body is no valid JSON object or list');
}
