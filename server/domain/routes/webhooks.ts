// Routes of webhooks: /v1/webhooks. A secret is only ever shown in the answer to the request that made it.

import type Router from '@koa/router';
import type { Context } from 'koa';
import { requireRole } from '../../../lib/domain/caller.ts';
import { refuse } from '../../../lib/domain/problems.ts';
import { deadLetterView, webhookView } from '../../../lib/domain/webhook/record.ts';
import type { Shown, Webhooks } from '../../../lib/domain/webhook/webhooks.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { JSON_TYPES } from '../../http/json-body.ts';
import { callerOf } from '../authenticate.ts';
import { readBody } from '../body.ts';
import { expectedRevision } from '../conditional.ts';
import { answerPage } from '../paging.ts';
import { LIMIT, wholeNumber } from '../parameters.ts';

const PATH = '/v1/webhooks';
const CHANGE_TYPES = ['application/merge-patch+json', ...JSON_TYPES];

/** Adds the routes; `ctx.state.caller` is known. */
export function webhookRoutes(router: Router, { webhooks }: { webhooks: Webhooks }): void {
  const show = (ctx: Context, { webhook, progress, secret }: Shown) => {
    ctx.set('ETag', `"${webhook.revision}"`);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { ...webhookView(webhook, progress?.body), ...(secret !== undefined && { secret }) };
  };

  router.post(PATH, async (ctx) => {
    const caller = callerOf(ctx);
    requireRole(caller, 'manage webhooks');
    const made = await webhooks.create(caller, (await readBody(ctx)).value);
    ctx.status = 201;
    ctx.set('Location', `${PATH}/${made.webhook.id}`);
    show(ctx, made);
  });

  router.get(PATH, async (ctx) => {
    const page = await paged(webhooks.list(callerOf(ctx), pageOf(ctx)));
    const items = page.items.map(({ webhook, progress }) => webhookView(webhook, progress?.body));
    answerPage(ctx, { items, next: page.next });
  });

  router.get(`${PATH}/:id`, async (ctx) => show(ctx, await webhooks.get(callerOf(ctx), ctx.params.id!)));

  router.patch(`${PATH}/:id`, async (ctx) => {
    const caller = callerOf(ctx);
    const { webhook } = await webhooks.get(caller, ctx.params.id!);
    const { value } = await readBody(ctx, { types: CHANGE_TYPES });
    const expected = expectedRevision(ctx, webhook.revision);
    show(ctx, await webhooks.change(caller, webhook.id, { body: value, expected }));
  });

  router.delete(`${PATH}/:id`, async (ctx) => show(ctx, await webhooks.remove(callerOf(ctx), ctx.params.id!)));

  router.get(`${PATH}/:id/deliveries`, async (ctx) => {
    const page = await paged(webhooks.letters(callerOf(ctx), { id: ctx.params.id!, ...pageOf(ctx) }));
    answerPage(ctx, { items: page.items.map(deadLetterView), next: page.next });
  });

  router.post(`${PATH}/:id/deliveries/:seq/retry`, async (ctx) => {
    const { id, seq } = ctx.params as { id: string; seq: string };
    ctx.body = deadLetterView(await webhooks.retry(callerOf(ctx), { id, seq }));
  });
}

function pageOf(ctx: Context): { limit: number; cursor?: string | undefined } {
  const limit = wholeNumber(ctx.query.limit, { ...LIMIT, most: 200 });
  return { limit, cursor: ctx.query.cursor === undefined ? undefined : String(ctx.query.cursor) };
}

async function paged<T>(page: Promise<T>): Promise<T> {
  try {
    return await page;
  } catch (error) {
    if (!(error instanceof TwinlineError) || error.code !== 'ERR_INPUT') throw error;
    throw refuse('bad-cursor', 'The cursor is damaged. Send `next` back as it came.');
  }
}
