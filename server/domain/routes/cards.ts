// Verifiable credentials over HTTP: domain cards, which require a key, and public status lists.

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import { makeCard, statusListUrl } from '../../../lib/domain/credential/card.ts';
import type { StatusPurpose } from '../../../lib/domain/credential/places.ts';
import type { StatusLists } from '../../../lib/domain/credential/status-list.ts';
import { refuse } from '../../../lib/domain/problems.ts';
import type { Registry } from '../../../lib/domain/registry.ts';
import type { Schema } from '../../../lib/json/schema.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { localUrl } from '../../http/listen.ts';
import type { RouteAnswer, RouteGroup, RouteRequest } from '../../http/route-table.ts';
import { readCaller } from '../api-keys.ts';
import { DID, domainGroup, ID_EXAMPLE } from '../requests.ts';

export interface CardDeps {
  readonly registry: Registry;
  readonly statusLists: StatusLists;
  readonly signedCards: SignedCards;
  readonly clock: Clock;
  /** The public base URL without a trailing slash. @default the address that the server listens on */
  readonly publicUrl: string | undefined;
}

const LIST = /^([0-9a-f]{32})-(revocation|suspension)$/;
/** The first is the default. */
const TYPES = ['application/vc', 'application/ld+json', 'application/json'];

/** Recently signed cards, by their content. */
export type SignedCards = LRUCache<string, string>;

export function makeCardCache(): SignedCards {
  return new LRUCache({
    max: SERVER_LIMITS.cardsKept,
    maxSize: SERVER_LIMITS.cardBytesKept,
    sizeCalculation: (card, key) => card.length + key.length,
  });
}

const CREDENTIAL: Schema = {
  type: 'object',
  description: 'A verifiable credential (W3C VC 2.0) with a proof of the cryptosuite eddsa-rdfc-2022',
  required: ['@context', 'type', 'issuer', 'credentialSubject', 'proof'],
  properties: {
    '@context': { type: 'array' },
    id: { type: 'string' },
    type: { type: 'array', items: { type: 'string' } },
    issuer: { type: ['string', 'object'] },
    credentialSubject: { type: 'object', additionalProperties: true },
    proof: { type: 'object', additionalProperties: true },
  },
  additionalProperties: true,
};

const SHOWN: RouteAnswer = {
  description: 'The credential',
  types: { 'application/vc': CREDENTIAL, 'application/ld+json': CREDENTIAL, 'application/json': CREDENTIAL },
};

/** Domains as credentials. */
export const CARD_ROUTES: RouteGroup<CardDeps> = domainGroup({
  tag: 'Cards',
  description: 'Domains as verifiable credentials, signed by the service.',
  parameters: { did: DID },
  schemas: { Credential: CREDENTIAL },
  routes: [
    {
      method: 'GET',
      path: '/v1/domains/:did/card',
      id: 'getDomainCard',
      summary: 'The card of a domain',
      answers: { 200: SHOWN },
      problems: ['not-found', 'gone', 'not-acceptable'],
      reply: async (request, { registry, statusLists, signedCards, publicUrl, clock }) => {
        const domain = await registry.get(readCaller(request), request.params.did!);
        const type = chooseType(request);
        const place = await statusLists.place(domain);
        const base = publicUrl ?? localUrl(request.req.socket);
        // A card's content changes only with the revision.
        const key = JSON.stringify([domain.id, domain.revision, place, base]);
        const issue = () => statusLists.issuer.issue(makeCard(domain, { place, base }), clock.now());
        const card = signedCards.get(key) ?? JSON.stringify(await issue());
        signedCards.set(key, card);
        return { headers: { ...typeHeaders(type), 'Cache-Control': 'private, no-cache' }, body: card };
      },
    },
  ],
});

/** The status lists that cards name. Public, because any verifier must be able to check a card. */
export const STATUS_LIST_ROUTES: RouteGroup<CardDeps> = domainGroup({
  tag: 'Status lists',
  description: 'By which cards are checked. Nobody needs a key.',
  access: 'public',
  problems: [],
  parameters: {
    list: {
      description: 'The name of a list and its purpose',
      schema: { type: 'string', examples: [`${ID_EXAMPLE}-revocation`] },
    },
  },
  routes: [
    {
      method: 'GET',
      path: '/v1/status/:list',
      id: 'getStatusList',
      summary: 'A status list',
      answers: { 200: SHOWN },
      problems: ['not-found', 'not-acceptable'],
      reply: async (request, { statusLists, publicUrl }) => {
        const type = chooseType(request);
        const [, list, purpose] = (LIST.exec(request.params.list!) ?? []) as [string?, string?, StatusPurpose?];
        const base = publicUrl ?? localUrl(request.req.socket);
        const credential =
          list && purpose && (await statusLists.credential({ list, purpose, url: statusListUrl(base, list, purpose) }));
        if (!credential) throw refuse('not-found', `There is no status list ${JSON.stringify(request.params.list)}.`);
        const headers = { ...typeHeaders(type), 'Cache-Control': 'public, no-cache' };
        return { headers, body: JSON.stringify(credential) };
      },
    },
  ],
});

function chooseType(request: Pick<RouteRequest, 'accepts'>): string {
  const type = request.accepts(...TYPES);
  if (type) return type;
  throw refuse('not-acceptable', `A credential is one of ${TYPES.join(', ')}. Accept one of these.`);
}

const typeHeaders = (type: string) => ({ 'Content-Type': type, Vary: 'Accept' });
