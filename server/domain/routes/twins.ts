// Routes of domains and entities: /v1/domains and /v1/entities, which are two doors to one registry.

import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Clock } from '../../../lib/clock.ts';
import { type Caller, requireRole } from '../../../lib/domain/caller.ts';
import { pathSegment } from '../../../lib/domain/did/did.ts';
import type { Idempotency } from '../../../lib/domain/idempotency.ts';
import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import { refuse } from '../../../lib/domain/problems.ts';
import { requireController } from '../../../lib/domain/protocol/protocol.ts';
import type { Registry } from '../../../lib/domain/registry.ts';
import type { Direction } from '../../../lib/domain/twin/graph.ts';
import type { ListQuery } from '../../../lib/domain/twin/list.ts';
import { type Domain, domainView } from '../../../lib/domain/twin/record.ts';
import { SHARED_LIMITS } from '../../../lib/shared-limits.ts';
import type { JsonObject } from '../../../lib/store/store.ts';
import { callerOf } from '../authenticate.ts';
import { PATCH_TYPES, readBody } from '../body.ts';
import { etagOf, expectedRevision, spareKnown } from '../conditional.ts';
import { answerPage } from '../paging.ts';
import { LIMIT, once, readView, wholeNumber } from '../parameters.ts';
import { answerOnce } from '../repeat.ts';

export interface TwinDeps {
  readonly registry: Registry;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
}

const LIST_FIELDS = [
  'type',
  'class',
  'status',
  'controller',
  'name',
  'externalId',
  'validAt',
  'filter',
  'sort',
  'cursor',
] as const;

/** Adds the routes; `ctx.state.caller` is known. */
export function twinRoutes(router: Router, { registry, idempotency, clock }: TwinDeps): void {
  const show = (ctx: Context, domain: Domain, body: JsonObject = domainView(domain, clock.now())) => {
    ctx.set('ETag', etagOf(domain, clock.now()));
    ctx.set('Cache-Control', 'private, no-cache');
    ctx.body = body;
  };

  for (const [path, wanted] of [
    ['/v1/domains', 'class'],
    ['/v1/entities', 'protocol'],
  ] as const) {
    router.post(path, async (ctx) => {
      const caller = callerOf(ctx);
      requireRole(caller, 'create twins');
      const body = await readBody(ctx);
      await answerOnce(ctx, { idempotency, caller, body }, async (did) => {
        const domain = await registry.create(caller, { body: body.value, wanted, ...(did !== undefined && { did }) });
        const location = `${path}/${pathSegment(domain.id)}`;
        const headers = { Location: location, ETag: etagOf(domain, clock.now()) };
        return { status: 201, headers, body: domainView(domain, clock.now()) };
      });
    });

    router.get(path, async (ctx) => {
      const query = listQuery(ctx);
      const { items, next } = await registry.list(callerOf(ctx), query);
      answerPage(ctx, { items: items.map((item) => domainView(item, clock.now())), next });
    });

    router.get(`${path}/:did`, async (ctx) => {
      const caller = callerOf(ctx);
      const { did } = ctx.params as { did: string };
      const { at, view } = readView(ctx.query);
      const domain = at === undefined ? await registry.get(caller, did) : await registry.at(caller, did, at);
      if (view === 'composed') {
        ctx.body = await registry.composed(domain);
        return;
      }
      show(ctx, domain);
      spareKnown(ctx, etagOf(domain, clock.now()));
    });

    router.patch(`${path}/:did`, async (ctx) => {
      const caller = callerOf(ctx);
      const present = await registry.get(caller, ctx.params.did!);
      mayChange(caller, present);
      const { type, value } = await readBody(ctx, { types: PATCH_TYPES });
      const patch = { type: type === 'application/json-patch+json' ? 'json' : 'merge', patch: value } as const;
      const expected = expectedRevision(ctx, present.revision);
      show(ctx, await registry.patch(caller, { did: present.id, patch, expected }));
    });

    router.post(`${path}/:did/transfer`, async (ctx) => {
      const caller = callerOf(ctx);
      const present = await registry.get(caller, ctx.params.did!);
      mayChange(caller, present);
      const { value } = await readBody(ctx);
      const expected = expectedRevision(ctx, present.revision);
      show(ctx, await registry.transfer(caller, { did: present.id, body: value, expected }));
    });

    router.delete(`${path}/:did`, async (ctx) => {
      const caller = callerOf(ctx);
      const present = await registry.get(caller, ctx.params.did!);
      const expected = expectedRevision(ctx, present.revision);
      show(ctx, await registry.deactivate(caller, { did: present.id, expected }));
    });

    router.get(`${path}/:did/history`, async (ctx) => {
      const limit = wholeNumber(ctx.query.limit, { ...LIMIT, most: 200 });
      const before = ctx.query.cursor === undefined ? undefined : historyCursor(String(ctx.query.cursor));
      const page = await registry.history(callerOf(ctx), {
        did: ctx.params.did!,
        limit,
        ...(before !== undefined && { before }),
      });
      answerPage(ctx, page);
    });

    router.get(`${path}/:did/graph`, async (ctx) => {
      const { rel, direction } = once(ctx.query, ['rel', 'direction']);
      ctx.body = await registry.graph(callerOf(ctx), {
        did: ctx.params.did!,
        depth: wholeNumber(ctx.query.depth, { name: 'depth', least: 1, most: DOMAIN_LIMITS.graphDepth, usual: 1 }),
        ...(rel !== undefined && { relation: rel }),
        ...(direction !== undefined && { direction: direction as Direction }),
      });
    });
  }
}

// Before the body is read, which tells a stranger less.
function mayChange(caller: Caller, { body }: Domain): void {
  requireRole(caller, 'change twins');
  requireController(caller, body.controllers);
}

function listQuery(ctx: Context): ListQuery {
  const fields = once(ctx.query, LIST_FIELDS);
  const limit = wholeNumber(ctx.query.limit, { ...LIMIT, most: SHARED_LIMITS.pageSizeMax });
  return { ...fields, limit };
}

function historyCursor(cursor: string): number {
  if (/^\d{1,10}$/.test(cursor)) return Number(cursor);
  throw refuse('bad-cursor', 'The cursor is damaged. Send `next` back as it came.');
}
