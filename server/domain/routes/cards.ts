// Verifiable credentials over HTTP: cards of domains with a key, the status lists that they name for everybody.

import { isIPv6 } from 'node:net';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import { cardOf, type Issuer, statusListUrl } from '../../../lib/domain/credential/card.ts';
import { placeOf, type StatusLists, type StatusPurpose } from '../../../lib/domain/credential/status-list.ts';
import { refuse } from '../../../lib/domain/problems.ts';
import type { Registry } from '../../../lib/domain/registry.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { callerOf } from '../authenticate.ts';

export interface CardDeps {
  readonly registry: Registry;
  readonly documents: DocumentStore;
  readonly issuer: Issuer;
  readonly statusLists: StatusLists;
  readonly clock: Clock;
  /** How others reach this server, without a slash at the end; undefined: by the address that it listens on. */
  readonly publicUrl: string | undefined;
}

/** Below this path no key is asked for: whoever is shown a card must be able to check it. */
export const STATUS_PREFIX = '/v1/status/';

const LIST = /^([1-9]\d{0,8})-(revocation|suspension)$/;
/** The first one is for clients that take anything. */
const TYPES = ['application/vc', 'application/ld+json', 'application/json'];

export function cardRoutes(router: Router, deps: CardDeps): void {
  const { registry, documents, issuer, statusLists, clock } = deps;
  const signed = new LRUCache<string, string>({
    max: SERVER_LIMITS.cardsKept,
    maxSize: SERVER_LIMITS.cardBytesKept,
    sizeCalculation: (card, key) => card.length + key.length,
  });
  const baseOf = (ctx: Context) => deps.publicUrl ?? addressOf(ctx);

  router.get('/v1/domains/:did/card', async (ctx) => {
    const domain = await registry.get(callerOf(ctx), ctx.params.did!);
    const type = acceptedType(ctx);
    const place = await placeOf(documents, domain);
    const base = baseOf(ctx);
    // What a card says changes with the revision only.
    const key = JSON.stringify([domain.id, domain.revision, place, base]);
    const issue = async () => JSON.stringify(await issuer.issue(cardOf(domain, { place, base }), clock.now()));
    const card = signed.get(key) ?? (await issue());
    signed.set(key, card);
    ctx.set('Cache-Control', 'private, no-cache');
    send(ctx, type, card);
  });

  router.get(`${STATUS_PREFIX}:list`, async (ctx) => {
    const type = acceptedType(ctx);
    const [, number, purpose] = LIST.exec(ctx.params.list!) ?? [];
    const list = Number(number);
    const url = number && statusListUrl(baseOf(ctx), list, purpose as StatusPurpose);
    const found = url && (await statusLists.credential({ list, purpose: purpose as StatusPurpose, url }));
    if (!found) throw refuse('not-found', `There is no status list ${JSON.stringify(ctx.params.list)}.`);
    ctx.set('Cache-Control', 'public, no-cache');
    send(ctx, type, JSON.stringify(found));
  });
}

// Never what a request says: its headers would be signed, and lead whoever checks a card to lists of its own.
function addressOf({ req: { socket } }: Context): string {
  const address = socket.localAddress?.replace(/^::ffff:/, '') ?? '';
  return `http://${isIPv6(address) ? `[${address}]` : address}:${socket.localPort}`;
}

function acceptedType(ctx: Context): string {
  const type = ctx.accepts(...TYPES);
  ctx.vary('Accept');
  if (type) return type;
  throw refuse('not-acceptable', `A credential is one of ${TYPES.join(', ')}. Accept one of these.`);
}

function send(ctx: Context, type: string, credential: string): void {
  ctx.set('Content-Type', type);
  ctx.body = credential;
}
