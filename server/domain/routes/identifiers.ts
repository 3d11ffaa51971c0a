// GET and POST /1.0/identifiers/{did}: public DID resolution by the HTTP binding of W3C DID Resolution.

import type { Resolution, ResolutionRequest, Resolver } from '../../../lib/domain/did/resolution.ts';
import { type GivenOptions, makeFailure } from '../../../lib/domain/did/resolution-options.ts';
import { refuse } from '../../../lib/domain/problems.ts';
import { cutText } from '../../../lib/errors.ts';
import { record, type Schema } from '../../../lib/json/schema.ts';
import type { Parameter, Reply, ReplyRoute, RouteAnswer, RouteGroup, RouteRequest } from '../../http/route-table.ts';
import { readCaller } from '../api-keys.ts';
import { domainGroup, ID_EXAMPLE, JSON_TYPE, readBody } from '../requests.ts';
import { answerTo } from '../resolution-answer.ts';

export interface IdentifierDeps {
  readonly resolve: Resolver;
  /** Reports an internal error. */
  readonly onFault: (error: unknown, request: Pick<RouteRequest, 'state'>) => void;
}

/** Everything below it is a DID or a DID URL, slashes included. */
export const IDENTIFIER_PREFIX = '/1.0/identifiers/';

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
  'application/json': { anyOf: [RESULT, DEREFERENCED] },
};
const DOCUMENTS = {
  'application/did': OBJECT,
  'application/did+ld+json': OBJECT,
  'application/did+json': OBJECT,
};
const failure = (description: string): RouteAnswer => ({ description, types: RESULTS });

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
    400: failure('INVALID_DID, INVALID_DID_URL or INVALID_OPTIONS'),
    404: failure('NOT_FOUND'),
    406: failure('REPRESENTATION_NOT_SUPPORTED'),
    410: failure('It was deactivated'),
    500: failure('INTERNAL_ERROR'),
    501: failure('METHOD_NOT_SUPPORTED or FEATURE_NOT_SUPPORTED'),
  },
  reply: answerResolution,
} satisfies Partial<ReplyRoute<IdentifierDeps>>;

/** Twins and protocols by their DIDs. */
export const IDENTIFIER_ROUTES: RouteGroup<IdentifierDeps> = domainGroup({
  tag: 'DID resolution',
  owns: ['/1.0'],
  description: 'W3C DID Resolution over HTTP. No key is needed; a request with one sees only its own tenant.',
  access: 'public',
  parameters: {
    did: {
      description: 'A DID or DID URL',
      schema: { type: 'string', examples: [`did:ixo:entity:${ID_EXAMPLE}`] },
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
        example: { noCache: true },
      },
      problems: ['bad-request', 'too-large', 'unsupported-media-type'],
    },
  ],
});

// No key is required, but a request with one sees only its own tenant.
async function answerResolution(request: RouteRequest, { resolve, onFault }: IdentifierDeps): Promise<Reply> {
  const options = await readOptions(request);
  const tenant = request.state.caller ? readCaller(request).tenant : undefined;
  const outcome = await attempt({ identifier: identifierIn(request), options, tenant });
  const { status, type, body, location } = answerTo(outcome, (types) => request.accepts(...types));
  const headers = { 'Content-Type': type, 'Cache-Control': 'no-cache', Vary: 'Accept, Authorization' };
  return {
    status,
    headers: location === undefined ? headers : { ...headers, Location: location },
    body: body && JSON.stringify(body),
  };

  async function attempt(resolution: ResolutionRequest): Promise<Resolution> {
    try {
      return await resolve(resolution);
    } catch (error) {
      onFault(error, request);
      return makeFailure('INTERNAL_ERROR', 'Something went wrong here. Try again in a moment.');
    }
  }
}

// Text that cannot be decoded is no DID either way.
function identifierIn({ path }: Pick<RouteRequest, 'path'>): string {
  const text = path.slice(IDENTIFIER_PREFIX.length);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function readOptions(request: RouteRequest): Promise<GivenOptions> {
  const inQuery = [...new URLSearchParams(request.querystring)];
  return request.method === 'POST' ? [...inQuery, ...(await optionsInBody(request))] : inQuery;
}

async function optionsInBody(request: RouteRequest): Promise<GivenOptions> {
  const { value, text } = await readBody(request, { optional: true });
  if (text.trim() === '') return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('bad-request', 'The options are no JSON object.');
  return Object.entries(value).map(([name, option]) => {
    // Converting an object to text may fail, as for {"toString":1}.
    if (typeof option === 'object' && option !== null)
      throw refuse('bad-request', `The option ${JSON.stringify(cutText(name, 64))} is no text, number or flag.`);
    return [name, String(option)] as const;
  });
}
