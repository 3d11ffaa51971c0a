// Answers to requests that may come twice: with an Idempotency-Key, the second one is told what the first was.

import type { Context } from 'koa';
import type { Caller } from '../../lib/domain/caller.ts';
import type { Idempotency } from '../../lib/domain/idempotency.ts';
import type { JsonObject } from '../../lib/store/store.ts';
import type { JsonBody } from '../http/json-body.ts';

/** What is answered, and kept for a repeated request. */
export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: JsonObject;
}

export interface RepeatOptions {
  readonly idempotency: Idempotency;
  readonly caller: Caller;
  readonly body: Pick<JsonBody, 'text'>;
}

/** The Idempotency-Key of a request, if it has one. */
export function keyOf(ctx: Pick<Context, 'get'>): string | undefined {
  const key = ctx.get('idempotency-key');
  return key === '' ? undefined : key;
}

/** Answers the request with what `work` gives, once per Idempotency-Key. `work` gets the DID that is reserved for it. */
export async function answerOnce(
  ctx: Context,
  { idempotency, caller, body }: RepeatOptions,
  work: (did?: string) => Promise<Answer>,
): Promise<void> {
  const key = keyOf(ctx);
  const scope = [caller.tenant, caller.principal, ctx.method, ctx.path];
  const once = async (did: string) => ({ ...(await work(did)) });
  const {
    status,
    headers,
    body: answer,
  } = key === undefined ? await work() : await idempotency.once({ scope, key, content: body.text }, once);
  ctx.status = status;
  ctx.set({ ...headers });
  ctx.body = answer;
}
