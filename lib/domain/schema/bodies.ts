// The bodies that the domain service takes, as JSON Schemas: one per request.

import {
  ALIASES,
  CONTROLLER,
  DID_REFERENCE,
  INHERITED_LISTS,
  LISTS,
  METADATA,
  PROPERTIES,
  RELATIONSHIPS,
  type Schema,
  TIME,
  text,
} from './parts.ts';

const TYPE = text(64, 'Such as Organisation, Project, Device, Asset, Oracle or Request', {
  pattern: '^[A-Za-z][A-Za-z0-9]*(/[A-Za-z0-9]+)*$',
});

/** What a twin's controller may set at creation and change later. */
const CHANGEABLE = {
  class: DID_REFERENCE,
  protocol: DID_REFERENCE,
  metadata: METADATA,
  properties: PROPERTIES,
  relationships: RELATIONSHIPS,
  alsoKnownAs: ALIASES,
  validFrom: { ...(TIME as object), type: ['string', 'null'] },
  validUntil: { ...(TIME as object), type: ['string', 'null'] },
  ...LISTS,
} satisfies Record<string, Schema>;

/** A new domain or entity. */
export const NEW_TWIN: Schema = {
  type: 'object',
  required: ['type'],
  properties: {
    type: TYPE,
    controller: CONTROLLER,
    externalId: text(256, 'The name of this twin in the system that it comes from; unique per tenant'),
    parent: DID_REFERENCE,
    ...CHANGEABLE,
  },
  additionalProperties: false,
};

/** A twin as a patch may leave it: the changeable fields. */
export const CHANGED_TWIN: Schema = { type: 'object', properties: CHANGEABLE, additionalProperties: false };

const PROPERTY: Schema = {
  description: 'The name of a type, or a JSON Schema',
  oneOf: [{ enum: ['string', 'number', 'object', 'boolean', 'array', 'integer'] }, { type: 'object' }],
};

const PROTOCOL_PARTS = {
  name: text(256, 'The name that is shown'),
  alsoKnownAs: ALIASES,
  parent: { oneOf: [DID_REFERENCE, { type: 'null' }] },
  controller: CONTROLLER,
  metadata: METADATA,
  properties: { type: 'object', additionalProperties: PROPERTY, maxProperties: 256 },
  relationships: {
    type: 'object',
    description: 'Role → the type of twin that fills it, such as OracleEntity',
    additionalProperties: text(64, 'A type of twin, with or without the suffix Entity'),
    maxProperties: 256,
  },
  ...INHERITED_LISTS,
} satisfies Record<string, Schema>;

export const NEW_PROTOCOL: Schema = {
  type: 'object',
  required: ['type'],
  properties: { type: { const: 'Protocol' }, ...PROTOCOL_PARTS },
  additionalProperties: false,
};

export const CHANGED_PROTOCOL: Schema = { type: 'object', properties: PROTOCOL_PARTS, additionalProperties: false };

export const TRANSFER: Schema = {
  type: 'object',
  required: ['controller'],
  properties: { controller: CONTROLLER },
  additionalProperties: false,
};
