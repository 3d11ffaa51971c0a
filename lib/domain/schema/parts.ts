// JSON Schemas of fields that several bodies share. Bodies are validated against them, and OpenAPI documents them.

import { closedObject, type Schema } from '../../json/schema.ts';
import { DOMAIN_LIMITS } from '../limits.ts';

export const text = (maxLength: number, description: string, more: object = {}): Schema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
  ...more,
});

export const DID_REFERENCE: Schema = {
  type: 'string',
  format: 'did-reference',
  description: 'A DID, or a DID URL such as did:ixo:protocol/clean-cooking',
  examples: ['did:ixo:entity:4c73552dbf8a4343016e7f7952836014', 'did:ixo:protocol/clean-cooking'],
};

export const TIME: Schema = {
  type: 'string',
  format: 'date-time',
  description: 'A moment, RFC 3339',
  examples: ['2026-01-01T00:00:00Z'],
};

const FRAGMENT = text(256, 'A fragment such as #data, or a whole URI', { format: 'fragment-or-uri' });
const KIND = text(128, 'A type name');
const WORDS = { type: 'string', maxLength: 2_000 };

/** A list of objects that each have an id of their own. */
function items(properties: { readonly [name: string]: Schema }, required: readonly string[]): Schema {
  return { type: 'array', maxItems: DOMAIN_LIMITS.itemsPerList, items: closedObject(properties, required) };
}

const LINKED: { readonly [name: string]: Schema } = {
  id: FRAGMENT,
  type: KIND,
  description: WORDS,
  serviceEndpoint: text(2_048, 'Where it is', { format: 'safe-url' }),
  proof: WORDS,
  encrypted: { type: ['string', 'boolean'], maxLength: 16 },
  right: { type: 'string', maxLength: 256 },
};

const TEXT_256: Schema = { type: 'string', maxLength: 256 };

/** The lists of a twin that a protocol has, too, and hands down. */
export const INHERITED_LISTS = {
  linkedResource: items({ ...LINKED, mediaType: text(256, 'A media type') }, ['id', 'type']),
  linkedClaim: items(LINKED, ['id', 'type']),
  linkedEntity: items(
    {
      id: DID_REFERENCE,
      type: KIND,
      relationship: text(64, 'How it is related, such as subsidiary'),
      service: TEXT_256,
    },
    ['id', 'type', 'relationship'],
  ),
  accordedRight: items({ id: FRAGMENT, type: KIND, mechanism: TEXT_256, message: WORDS, service: TEXT_256 }, [
    'id',
    'type',
  ]),
} as const satisfies Record<string, Schema>;

/** The lists of a twin that its DID document shows, by their field. */
export const LISTS = {
  services: items({ id: FRAGMENT, type: KIND, endpoint: text(2_048, 'A public URL', { format: 'safe-url' }) }, [
    'id',
    'type',
    'endpoint',
  ]),
  verifiableCredential: items({ type: KIND, issuer: DID_REFERENCE, id: FRAGMENT }, ['type', 'issuer']),
  ...INHERITED_LISTS,
} as const satisfies Record<string, Schema>;

const ALIAS = text(512, 'A DID, DID URL or other URI', { format: 'alias' });

export const ALIASES: Schema = {
  description: 'Other names under which this is found: one or a list',
  oneOf: [ALIAS, { type: 'array', items: ALIAS, maxItems: DOMAIN_LIMITS.aliasesPerTwin, uniqueItems: true }],
};

export const CONTROLLER: Schema = {
  description: 'Who may change this: one or several DIDs or accounts. Default: the principal of the API key',
  oneOf: [DID_REFERENCE, { type: 'array', items: DID_REFERENCE, minItems: 1, maxItems: 16, uniqueItems: true }],
};

export const METADATA: Schema = {
  type: 'object',
  description: 'Settings; `name` is shown to people',
  properties: { name: text(256, 'The name that is shown') },
  additionalProperties: true,
  maxProperties: DOMAIN_LIMITS.itemsPerList,
};

export const PROPERTIES: Schema = {
  type: 'object',
  description: 'Values of the properties that the protocol declares',
  maxProperties: DOMAIN_LIMITS.itemsPerList,
};

export const RELATIONSHIPS: Schema = {
  type: 'object',
  description: 'Role → the DID that fills it, or several',
  maxProperties: DOMAIN_LIMITS.itemsPerList,
  additionalProperties: {
    oneOf: [
      DID_REFERENCE,
      { type: 'array', items: DID_REFERENCE, maxItems: DOMAIN_LIMITS.itemsPerList, uniqueItems: true },
    ],
  },
};
