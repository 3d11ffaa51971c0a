// The bodies that the routes of the domain service take, as JSON Schemas: one per request.

import { closedObject, type Schema } from '../../json/schema.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { PROPOSAL_KINDS } from '../voting/proposal.ts';
import {
  ALIASES,
  CONTROLLER,
  DID_REFERENCE,
  INHERITED_LISTS,
  LISTS,
  METADATA,
  PROPERTIES,
  RELATIONSHIPS,
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
export const NEW_TWIN: Schema = closedObject(
  {
    type: TYPE,
    controller: CONTROLLER,
    externalId: text(256, 'The name of this twin in the system that it comes from; unique per tenant'),
    parent: DID_REFERENCE,
    ...CHANGEABLE,
  },
  ['type'],
);

/** The changeable fields of a twin after a patch. */
export const CHANGED_TWIN: Schema = { ...closedObject(CHANGEABLE), examples: [{ metadata: { name: 'A new name' } }] };

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

export const NEW_PROTOCOL: Schema = closedObject({ type: { const: 'Protocol' }, ...PROTOCOL_PARTS }, ['type']);

export const CHANGED_PROTOCOL: Schema = {
  ...closedObject(PROTOCOL_PARTS),
  examples: [{ metadata: { name: 'A new name' } }],
};

export const TRANSFER: Schema = {
  ...closedObject({ controller: CONTROLLER }, ['controller']),
  examples: [{ controller: 'did:ixo:entity:4c73552dbf8a4343016e7f7952836014' }],
};

/** A new proposal. */
export const NEW_PROPOSAL: Schema = closedObject(
  {
    kind: { enum: PROPOSAL_KINDS, description: 'What is proposed to happen to the domain' },
    package: {
      type: 'object',
      description: `The entity package that is voted on, kept as sent: at most ${DOMAIN_LIMITS.packageBytes} bytes of JSON`,
    },
  },
  ['kind'],
);

/** A ballot. */
export const NEW_VOTE: Schema = closedObject(
  {
    vote: { enum: ['yes', 'no', 'abstain'] },
    rationale: text(DOMAIN_LIMITS.rationaleChars, 'Why; kept in the history of the proposal'),
  },
  ['vote'],
);

/** Why a proposal is vetoed. */
export const VETO: Schema = {
  ...closedObject({ reason: text(DOMAIN_LIMITS.rationaleChars, 'Shown with the proposal') }),
  type: ['object', 'null'],
  examples: [{ reason: 'The photographs are missing.' }],
};

/** An amount, and any other fields that the issuer keeps with it. */
export const NEW_CREDIT: Schema = {
  type: 'object',
  required: ['amount'],
  properties: {
    amount: {
      type: 'string',
      // More than nothing: some digit is not 0.
      pattern: '^(?=.*[1-9])(0|[1-9][0-9]{0,29})(\\.[0-9]{1,18})?$',
      description: 'A decimal number above 0, as text: up to 30 digits, and 18 after the point',
      examples: ['12.5'],
    },
    unit: { type: 'string', maxLength: 32, examples: ['tCO2e'] },
    id: false,
    did: false,
    issuer: false,
    status: false,
    issued: false,
  },
  additionalProperties: true,
  maxProperties: 64,
};

const URL_TEXT = text(2_048, 'Where events are sent to: https, and on the public internet');
const EVENTS: Schema = {
  type: 'array',
  description: 'Types of events such as domain.verified, or families such as proposal.*; empty or left out: all',
  items: text(64, 'A type of event'),
  maxItems: DOMAIN_LIMITS.eventTypes,
};
const SECRET_WORDS =
  'What requests are signed with: whsec_ and base64 of the key, as the libraries of Standard Webhooks read it. Other text is the key as it stands, which they verify only when told so, as with { format: "raw" }';
const SECRET = text(256, SECRET_WORDS, {
  minLength: 16,
  pattern: '^(whsec_[A-Za-z0-9+/]{16,248}={0,2}|(?!whsec_)[\\x21-\\x7e]+)$',
});

export const NEW_WEBHOOK: Schema = closedObject({ url: URL_TEXT, events: EVENTS, secret: SECRET }, ['url']);

export const CHANGED_WEBHOOK: Schema = {
  ...closedObject({
    url: URL_TEXT,
    events: EVENTS,
    secret: { description: 'null: a new one is made, and shown once', anyOf: [SECRET, { type: 'null' }] },
    status: { enum: ['active', 'paused'] },
  }),
  examples: [{ status: 'paused' }],
};
