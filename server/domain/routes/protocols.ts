// Routes of protocols: /v1/protocols. A change writes a new version; the versions before it stay.

import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Clock } from '../../../lib/clock.ts';
import { requireRole } from '../../../lib/domain/caller.ts';
import { pathSegment } from '../../../lib/domain/did/did.ts';
import type { Idempotency } from '../../../lib/domain/idempotency.ts';
import { refuse } from '../../../lib/domain/problems.ts';
import {
  type Protocol,
  type Protocols,
  protocolView,
  requireController,
} from '../../../lib/domain/protocol/protocol.ts';
import { revisionOrMoment } from '../../../lib/domain/twin/history.ts';
import { lineageOf } from '../../../lib/domain/twin/inheritance.ts';
import { patched } from '../../../lib/domain/twin/patch.ts';
import type { JsonObject } from '../../../lib/store/store.ts';
import { callerOf } from '../authenticate.ts';
import { PATCH_TYPES, readBody } from '../body.ts';
import { expectedRevision, spareKnown } from '../conditional.ts';
import { answerPage, readPage } from '../paging.ts';
import { readView } from '../parameters.ts';
import { answerOnce } from '../repeat.ts';

export interface ProtocolDeps {
  readonly protocols: Protocols;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
}

const PATH = '/v1/protocols';
const CHANGEABLE = [
  ...['name', 'alsoKnownAs', 'parent', 'controller', 'metadata', 'properties', 'relationships'],
  ...['linkedResource', 'linkedClaim', 'linkedEntity', 'accordedRight'],
];

/** Adds the routes; `ctx.state.caller` is known. */
export function protocolRoutes(router: Router, { protocols, idempotency, clock }: ProtocolDeps): void {
  const show = (ctx: Context, protocol: Protocol) => {
    ctx.set('ETag', `"${protocol.version}"`);
    ctx.body = protocolView(protocol);
  };

  router.post(PATH, async (ctx) => {
    const caller = callerOf(ctx);
    requireRole(caller, 'create twins');
    const body = await readBody(ctx);
    await answerOnce(ctx, { idempotency, caller, body }, async (did) => {
      const protocol = await protocols.create(caller, body.value, did);
      const headers = { Location: `${PATH}/${pathSegment(protocol.body.did)}`, ETag: `"${protocol.version}"` };
      return { status: 201, headers, body: protocolView(protocol) };
    });
  });

  router.get(PATH, async (ctx) => {
    const { items, next } = await protocols.list(callerOf(ctx), readPage(ctx.query));
    answerPage(ctx, { items: items.map(protocolView), next });
  });

  router.get(`${PATH}/:did`, async (ctx) => {
    const present = await protocols.get(callerOf(ctx), ctx.params.did!);
    const { at, view } = readView(ctx.query);
    const protocol = at === undefined ? present : await versionOf(protocols, present, { at, now: clock.now() });
    if (view === 'composed') {
      ctx.body = await composed(protocols, protocol);
      return;
    }
    show(ctx, protocol);
    spareKnown(ctx, `"${protocol.version}"`);
  });

  router.patch(`${PATH}/:did`, async (ctx) => {
    const caller = callerOf(ctx);
    const present = await protocols.get(caller, ctx.params.did!);
    requireRole(caller, 'change twins');
    requireController(caller, present.body.controllers);
    const { type, value } = await readBody(ctx, { types: PATCH_TYPES });
    const expected = expectedRevision(ctx, present.version);
    if (expected === undefined)
      throw refuse('precondition-required', 'Send If-Match with the ETag of the version that you have seen.');
    if (expected !== present.version)
      throw refuse(
        'revision-changed',
        `The protocol is at version ${present.version}, not ${expected}. Read it again.`,
      );
    const view = protocolView(present);
    const base = Object.fromEntries(CHANGEABLE.map((field) => [field, view[field] ?? null]));
    const after = patched(base, { type: type === 'application/json-patch+json' ? 'json' : 'merge', patch: value });
    const body = Object.fromEntries(Object.entries(after).filter(([, part]) => part !== null));
    show(ctx, await protocols.change(caller, present.body.did, { expected, body }));
  });
}

async function versionOf(
  protocols: Protocols,
  { body }: Protocol,
  { at, now }: { at: string; now: number },
): Promise<Protocol> {
  const wanted = revisionOrMoment(at);
  const found =
    'revision' in wanted
      ? await protocols.at(body.did, wanted.revision)
      : wanted.moment <= now && (await protocols.asOf(body.did, wanted.moment));
  if (found) return found;
  throw refuse('not-found', `${body.did} has no version ${JSON.stringify(at)}.`);
}

async function composed(protocols: Protocols, protocol: Protocol): Promise<JsonObject> {
  const { properties, relationships, protocols: chain } = await lineageOf(protocols, protocol);
  const classChain = chain.map(({ body, version }) => ({ did: body.did, version, name: body.name }));
  return { ...protocolView(protocol), properties, relationships, composed: true, classChain };
}
