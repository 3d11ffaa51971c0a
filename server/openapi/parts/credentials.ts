// Cards of domains and the status lists that they name, as OpenAPI describes them.

import type { Schema } from '../../../lib/domain/schema/parts.ts';
import type { Answered, RouteGroup } from '../../http/route-table.ts';
import { DID, domainPart } from './domain-part.ts';

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

const SHOWN: Answered = {
  description: 'The credential',
  types: { 'application/vc': CREDENTIAL, 'application/ld+json': CREDENTIAL, 'application/json': CREDENTIAL },
};

export const CARDS_PART: RouteGroup = domainPart({
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
    },
  ],
});

export const STATUS_LISTS_PART: RouteGroup = domainPart({
  tag: 'Status lists',
  description: 'By which cards are checked. Nobody needs a key.',
  access: 'public',
  problems: [],
  parameters: {
    list: {
      description: 'The number of a list and its purpose',
      schema: { type: 'string', examples: ['1-revocation'] },
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
    },
  ],
});
