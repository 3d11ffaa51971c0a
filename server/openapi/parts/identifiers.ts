// The resolution of DIDs, as OpenAPI describes it.

import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { record } from '../../../lib/domain/schema/twin-answers.ts';
import type { Answered, Parameter, RouteDescription, RouteGroup } from '../../http/route-table.ts';
import { domainPart, JSON_TYPE } from './domain-part.ts';

const TEXT: Schema = { type: 'string' };
const OBJECT: Schema = { type: 'object', additionalProperties: true };

const DID_DOCUMENT: Schema = {
  type: 'object',
  description: 'A DID document (W3C DID Core, method did:ixo)',
  required: ['@context', 'id'],
  properties: {
    '@context': { type: 'array', items: TEXT },
    id: { type: 'string', format: 'did' },
    controller: { type: 'array', items: TEXT },
    service: { type: 'array', items: OBJECT },
  },
  additionalProperties: true,
};
const ERROR = record('Why there is none', {
  type: { type: 'string', format: 'uri' },
  status: { type: 'integer' },
  title: TEXT,
  detail: TEXT,
});
const ABOUT: Schema = { type: 'object', properties: { contentType: TEXT, error: ERROR } };
const METADATA: Schema = {
  type: 'object',
  properties: {
    versionId: TEXT,
    nextVersionId: TEXT,
    created: TEXT,
    updated: TEXT,
    deactivated: { type: 'boolean' },
  },
};

/** A result of W3C DID Resolution. */
const RESULT = record(
  'A DID resolution result',
  {
    '@context': TEXT,
    didResolutionMetadata: ABOUT,
    didDocument: { oneOf: [DID_DOCUMENT, { type: 'null' }] },
    didDocumentMetadata: METADATA,
  },
  ['@context'],
);
const DEREFERENCED = record('A DID URL dereferencing result', {
  dereferencingMetadata: ABOUT,
  content: { oneOf: [OBJECT, { type: 'null' }] },
  contentStream: {
    oneOf: [OBJECT, { type: 'null' }],
    description: 'The same as `content`, by its name in DID Core 1.0',
  },
  contentMetadata: METADATA,
});

const RESULTS = {
  'application/did-resolution': RESULT,
  'application/ld+json;profile="https://w3id.org/did-resolution"': RESULT,
  'application/did-url-dereferencing': DEREFERENCED,
};
const DOCUMENTS = {
  'application/did': OBJECT,
  'application/did+ld+json': OBJECT,
  'application/did+json': OBJECT,
};
const failed = (description: string): Answered => ({ description, types: RESULTS });

const OPTION = (description: string): Parameter => ({ description, schema: TEXT });
const OPTIONS = {
  versionId: OPTION('A revision'),
  versionTime: OPTION('A moment (RFC 3339)'),
  service: OPTION('The id of a service: answer where it is'),
  serviceType: OPTION('The type of a service: answer where it is'),
  relativeRef: OPTION('A path to follow from the service on'),
};

const SHARED = {
  query: OPTIONS,
  answers: {
    200: {
      description: 'The document, or for a DID URL the part of it that it names; as a result with metadata on demand',
      types: { ...DOCUMENTS, ...RESULTS },
    },
    303: { description: 'The address of the service', headers: { Location: 'Where the service is' } },
    400: failed('INVALID_DID, INVALID_DID_URL or INVALID_OPTIONS'),
    404: failed('NOT_FOUND'),
    406: failed('REPRESENTATION_NOT_SUPPORTED'),
    410: failed('It was deactivated'),
    500: failed('INTERNAL_ERROR'),
    501: failed('METHOD_NOT_SUPPORTED or FEATURE_NOT_SUPPORTED'),
  },
} satisfies Partial<RouteDescription>;

export const IDENTIFIERS_PART: RouteGroup = domainPart({
  tag: 'DID resolution',
  owns: ['/1.0'],
  description: 'W3C DID Resolution over HTTP. Nobody needs a key; whoever sends one is told only of its own tenant.',
  access: 'public',
  parameters: {
    did: {
      description: 'A DID or DID URL',
      schema: { type: 'string', examples: ['did:ixo:entity:4c73552dbf8a4343016e7f7952836014'] },
    },
  },
  schemas: { DidDocument: DID_DOCUMENT, DidResolution: RESULT, DidUrlDereferencing: DEREFERENCED },
  routes: [
    { method: 'GET', path: '/1.0/identifiers/:did', id: 'resolve', summary: 'Resolve a DID', ...SHARED },
    {
      method: 'POST',
      path: '/1.0/identifiers/:did',
      id: 'resolveWithOptions',
      summary: 'Resolve a DID, with the options in the body',
      ...SHARED,
      body: {
        types: { [JSON_TYPE]: { type: 'object', additionalProperties: { type: ['string', 'boolean', 'number'] } } },
        required: false,
      },
      problems: ['bad-request', 'too-large', 'unsupported-media-type'],
    },
  ],
});
