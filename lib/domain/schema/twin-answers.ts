// What the domain service answers about twins and protocols, as JSON Schemas.

import { record, type Schema } from '../../json/schema.ts';
import { STATUSES } from '../twin/record.ts';
import { INHERITED_LISTS, LISTS, TIME } from './parts.ts';

const DID: Schema = { type: 'string', format: 'did', examples: ['did:ixo:entity:4c73552dbf8a4343016e7f7952836014'] };
const TEXT: Schema = { type: 'string' };
const NAMED: Schema = { type: 'object' };
const REVISION: Schema = { type: 'integer', minimum: 1, description: 'Counts the writes of this record; the ETag' };
const MAYBE_DID: Schema = { type: ['string', 'null'], format: 'did' };
const MAYBE_TIME: Schema = { type: ['string', 'null'], format: 'date-time' };
const CONTROLLERS: Schema = {
  description: 'Who may change it; a list when there are several',
  oneOf: [TEXT, { type: 'array', items: TEXT }],
};
const LINKS: Schema = {
  type: 'object',
  description: 'Where more about it is, by name',
  additionalProperties: { type: 'string', format: 'uri-reference' },
};

const DOMAIN_FIELDS: { readonly [name: string]: Schema } = {
  did: DID,
  type: { type: 'string', examples: ['Organisation', 'Device'] },
  canonicalClass: { type: 'string', description: 'What a twin of its type stands for' },
  controller: CONTROLLERS,
  class: { type: 'string', description: 'The protocol, as it was named when this was made' },
  protocol: { type: 'string', description: 'The same as `class`' },
  classVersion: { type: 'integer', minimum: 1, description: 'The version of the protocol that it is bound to' },
  status: { enum: STATUSES },
  entityVerified: { type: 'boolean', description: 'Whether the status is Verified' },
  validity: { enum: ['notYetValid', 'valid', 'expired'], description: 'By the clock of the server' },
  metadata: NAMED,
  properties: NAMED,
  relationships: NAMED,
  ...LISTS,
  parent: MAYBE_DID,
  subDomains: { type: 'array', items: DID },
  alsoKnownAs: { type: 'array', items: TEXT },
  externalId: { type: ['string', 'null'] },
  validFrom: MAYBE_TIME,
  validUntil: MAYBE_TIME,
  revision: REVISION,
  created: TIME,
  updated: TIME,
  links: LINKS,
};

const CLASS_CHAIN: Schema = {
  type: 'array',
  description: 'The protocol and its ancestors, the nearest first',
  items: record('A protocol', { did: DID, version: REVISION, name: { type: ['string', 'null'] } }),
};

export const DOMAIN_ANSWER = record('A domain or entity: a digital twin', DOMAIN_FIELDS);

/** `?view=composed`: together with what it inherits. */
export const COMPOSED_DOMAIN = record('A twin together with what it inherits from its protocol', {
  ...DOMAIN_FIELDS,
  composed: { const: true },
  classChain: CLASS_CHAIN,
});

const PROTOCOL_FIELDS: { readonly [name: string]: Schema } = {
  type: { const: 'Protocol' },
  did: DID,
  name: { type: ['string', 'null'] },
  alsoKnownAs: { type: 'array', items: TEXT },
  parent: MAYBE_DID,
  parentVersion: { type: ['integer', 'null'], minimum: 1 },
  metadata: NAMED,
  properties: { type: 'object', description: 'Name → the name of a type, or a JSON Schema' },
  relationships: { type: 'object', additionalProperties: TEXT, description: 'Role → the type of twin that fills it' },
  ...INHERITED_LISTS,
  controller: CONTROLLERS,
  version: REVISION,
  revision: { ...(REVISION as object), description: 'The same as `version`' },
  created: TIME,
  updated: TIME,
  links: LINKS,
};

export const PROTOCOL_ANSWER = record('A protocol: the template of twins', PROTOCOL_FIELDS);

export const COMPOSED_PROTOCOL = record('A protocol together with what it inherits', {
  ...PROTOCOL_FIELDS,
  composed: { const: true },
  classChain: CLASS_CHAIN,
});

const OPERATION: Schema = {
  type: 'object',
  required: ['op', 'path'],
  properties: {
    op: { enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
    path: TEXT,
    from: TEXT,
    value: true,
  },
};

/** The body of a patch in RFC 6902. */
export const JSON_PATCH: Schema = {
  type: 'array',
  items: OPERATION,
  description: 'Operations of RFC 6902',
  examples: [[{ op: 'add', path: '/metadata', value: { name: 'A new name' } }]],
};

export const HISTORY_ITEM = record('A write of a twin', {
  revision: REVISION,
  at: TIME,
  by: { type: 'string', description: 'The principal that asked for it; `system` for what happens by itself' },
  action: TEXT,
  changes: { type: 'array', items: OPERATION, description: 'What differs from the revision before (RFC 6902)' },
});

export const GRAPH_ANSWER = record('The twins around one, and the edges between them', {
  root: DID,
  nodes: {
    type: 'array',
    items: record(
      'A twin; what is not in this registry has only its DID',
      {
        did: TEXT,
        type: TEXT,
        canonicalClass: TEXT,
        status: { enum: STATUSES },
        name: true,
      },
      ['type', 'canonicalClass', 'status', 'name'],
    ),
  },
  edges: { type: 'array', items: record('An edge', { from: TEXT, relation: TEXT, to: TEXT }) },
  truncated: { type: 'boolean', description: 'Something was left out because the graph is too large' },
});
