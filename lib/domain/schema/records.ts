// Lines of imports and exports, and the records in them, as JSON Schemas: an import takes only what the service could have written itself.

import { closedObject, record, type Schema } from '../../json/schema.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { STATUSES } from '../twin/record.ts';
import { NEW_PROTOCOL, NEW_TWIN } from './bodies.ts';
import { INHERITED_LISTS, LISTS, METADATA, text } from './parts.ts';

const KINDS = ['protocol', 'domain', 'proposal', 'credit'];
const MS: Schema = {
  type: 'integer',
  minimum: 0,
  maximum: 8_640_000_000_000_000,
  description: 'Milliseconds since 1970',
};
const TEXTS: Schema = { type: 'array', items: text(1_024, 'A text'), maxItems: 1_000 };
const OBJECT: Schema = { type: 'object' };
const NULL: Schema = { type: 'null' };
const DID = text(512, 'A DID', { format: 'did' });
const NAME = text(1_024, 'A name');
const MOMENT = text(64, 'A moment, RFC 3339', { format: 'date-time' });
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, NULL] });

const EVENT = closedObject({ type: text(64, 'A type of event'), data: OBJECT }, ['type', 'data']);
const JOURNAL = closedObject(
  { at: MS, by: NAME, action: NAME, events: { type: 'array', maxItems: 16, items: EVENT } },
  ['at', 'by', 'action', 'events'],
);

type Properties = { readonly [name: string]: Schema };

/** An object with all of these, and the optional ones; later versions of the service may add others. */
function body(properties: Properties, optional: Properties = {}): Schema {
  const all = { ...properties, journal: JOURNAL };
  return { type: 'object', required: Object.keys(all), properties: { ...all, ...optional } };
}

const TIMES = { created: MS, updated: MS };

/** Kind of line → the stored form, without the tenant; `revision`: what is kept of earlier proposals. */
export const STORED = {
  protocol: body({
    did: DID,
    name: orNull(NAME),
    alsoKnownAs: TEXTS,
    parent: orNull(DID),
    parentVersion: orNull({ type: 'integer', minimum: 1 }),
    controllers: TEXTS,
    metadata: METADATA,
    properties: OBJECT,
    relationships: { type: 'object', additionalProperties: text(64, 'A type of twin') },
    ...INHERITED_LISTS,
    ...TIMES,
  }),
  domain: body(
    {
      did: DID,
      type: text(64, 'A type of twin'),
      controllers: { ...(TEXTS as object), minItems: 1 },
      classReference: NAME,
      class: DID,
      classVersion: { type: 'integer', minimum: 1 },
      status: { enum: STATUSES },
      verification: OBJECT,
      metadata: METADATA,
      properties: OBJECT,
      relationships: OBJECT,
      ...LISTS,
      parent: orNull(DID),
      subDomains: {
        type: 'array',
        maxItems: DOMAIN_LIMITS.partsPerTwin,
        items: { type: 'object', required: ['did', 'type'], properties: { did: DID, type: NAME } },
      },
      alsoKnownAs: TEXTS,
      externalId: orNull(NAME),
      validFrom: orNull(MOMENT),
      validUntil: orNull(MOMENT),
      edges: TEXTS,
      targets: TEXTS,
      provisionalSince: orNull(MS),
      ...TIMES,
    },
    { leaving: { const: true }, found: TEXTS },
  ),
  proposal: body({
    subject: DID,
    kind: NAME,
    status: NAME,
    openFor: orNull(NAME),
    proposer: NAME,
    created: MS,
    machine: OBJECT,
  }),
  credit: body(
    {
      did: DID,
      amount: NAME,
      issuer: NAME,
      about: OBJECT,
      state: { enum: ['checking', 'issued', 'revoked'] },
      created: MS,
    },
    { seen: { type: 'string' } },
  ),
  revision: body({}),
  place: closedObject(
    {
      did: DID,
      verifiedBy: { type: 'string', maxLength: 256, description: 'The proposal that verified the domain, or nothing' },
      issuer: DID,
      list: { type: 'string', pattern: '^[0-9a-f]{32}$' },
      index: { type: 'integer', minimum: 0, maximum: DOMAIN_LIMITS.statusListBits - 1 },
    },
    ['did', 'verifiedBy', 'issuer', 'list', 'index'],
  ),
} as const satisfies { readonly [kind: string]: Schema };

export const RECORD_LINE: Schema = {
  ...closedObject(
    {
      import: { const: true },
      kind: { enum: [...KINDS, 'revision', 'place'] },
      of: { enum: KINDS },
      earlier: { type: 'integer', minimum: 1, description: 'Lines of earlier revisions that come before the record' },
      id: text(256, 'The id of the record', { pattern: '^[\\x21-\\x7e]+$' }),
      did: DID,
      revision: { type: 'integer', minimum: 1, maximum: 1_000_000 },
      body: OBJECT,
    },
    ['import', 'kind', 'id', 'did', 'revision', 'body'],
  ),
  if: { properties: { kind: { const: 'revision' } } },
  // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
  then: { required: ['of'], properties: { of: true, earlier: false } },
  else: { properties: { of: false } },
};

const HEAD: Schema = {
  type: 'object',
  required: ['import', 'kind', 'format', 'version'],
  properties: {
    import: { const: true },
    kind: { const: 'export' },
    format: { type: 'integer' },
    version: { type: 'string', description: 'Of Twinline' },
  },
};
const END: Schema = {
  type: 'object',
  required: ['import', 'kind', 'records', 'sha256', 'leftOut'],
  properties: {
    import: { const: true },
    kind: { const: 'end' },
    records: { type: 'object', description: 'How many lines there are between the first and this one, by kind' },
    sha256: { type: 'string', description: 'Over all lines before this one, each with a line feed' },
    leftOut: {
      type: 'array',
      items: { type: 'string' },
      description: 'What a server keeps and an export does not hold',
    },
  },
};

/** A line of an export: its first, a record, its last. */
export const EXPORT_LINE: Schema = { anyOf: [HEAD, RECORD_LINE, END] };

const IDEMPOTENCY_KEY = text(
  DOMAIN_LIMITS.idempotencyKeyChars,
  'A word that names this line: again, it changes nothing',
);

// What a line says besides what it makes.
function line(body: Schema, kinds: readonly string[]): Schema {
  const { properties, ...rest } = body as { properties: object };
  return { ...rest, properties: { ...properties, kind: { enum: kinds }, idempotencyKey: IDEMPOTENCY_KEY } };
}

/** A line of an import. */
export const BULK_LINE: Schema = {
  description: 'A new domain, entity or protocol, or a line of an export',
  anyOf: [line(NEW_TWIN, ['domain', 'entity']), line(NEW_PROTOCOL, ['protocol']), EXPORT_LINE],
};

/** What became of a line. */
export const BULK_ROW = record(
  'What became of a line',
  {
    line: { type: 'integer', minimum: 1 },
    status: { type: 'integer', description: '201: made; 200: it was there already; else why not' },
    did: { type: 'string', format: 'did' },
    differs: {
      type: 'array',
      items: { type: 'string', format: 'json-pointer' },
      description:
        'Of what was there already: fields of the line that say something else than the record; /status when it was deactivated',
    },
    warning: { type: 'string', description: 'What cannot be seen of the file that begins here' },
    error: record('Why not', {
      code: { type: 'string', description: 'The type of a problem' },
      message: { type: 'string' },
      details: {
        type: 'array',
        items: record('A field', { field: { type: 'string' }, error: { type: 'string' } }),
      },
    }),
  },
  ['did', 'differs', 'warning', 'error'],
);
