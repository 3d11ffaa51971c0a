// Bodies of the domain service: JSON, refused in the words of its problems; a patch says which kind of patch it is.

import type { Context } from 'koa';
import { type Reason, refuse, refuseFlaw } from '../../lib/domain/problems.ts';
import { BodyError, JSON_TYPES, type JsonBody, type JsonBodyOptions, readJsonBody } from '../http/json-body.ts';

export const PATCH_TYPES = ['application/merge-patch+json', 'application/json-patch+json', ...JSON_TYPES] as const;

/** Of every route that takes patches. */
export const ACCEPT_PATCH = PATCH_TYPES.slice(0, 2).join(', ');

/** Reads the body; throws `unsupported-media-type`, `too-large`, `bad-request` or `invalid`. */
export async function readBody(ctx: Context, options: JsonBodyOptions = {}): Promise<JsonBody> {
  try {
    return await readJsonBody(ctx, options);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    const { fault, flaw, kind, message } = error;
    if (fault === 'type' && ctx.method === 'PATCH') ctx.set('Accept-Patch', ACCEPT_PATCH);
    if (flaw) throw refuseFlaw(flaw, 'The body');
    throw refuse(kind as Reason, fault === 'too-large' ? `${message} Use /v1/bulk for many twins.` : message);
  }
}
