// Maps the outcome of a DID resolution to HTTP: representation, status and body.

import type { Resolution } from '../../lib/domain/did/resolution.ts';
import { type Failed, makeFailure, RESOLUTION_ERRORS } from '../../lib/domain/did/resolution-options.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { RESOLUTION_STATUS } from '../http/errors.ts';

export interface ResolutionAnswer {
  readonly status: number;
  readonly type: string;
  /** Empty with a `location`. */
  readonly body: JsonObject | '';
  readonly location?: string;
}

/** The client's preferred one of these types, or false. */
export type Accepts = (types: readonly string[]) => string | false;

const RESULT = 'application/did-resolution';
const OLD_RESULT = 'application/ld+json;profile="https://w3id.org/did-resolution"';
const DEREFERENCED = 'application/did-url-dereferencing';
/** Requested by clients that know nothing of DIDs: they get the result, like from other resolvers. */
const PLAIN_JSON = 'application/json';
const URI_LIST = 'text/uri-list';
/** The first is the default. */
const DOCUMENT_TYPES = ['application/did', 'application/did+ld+json', 'application/did+json'];

/** The answer of the HTTP binding of W3C DID Resolution. */
export function answerTo(outcome: Resolution, accepts: Accepts): ResolutionAnswer {
  const types = listTypes(outcome);
  const type = accepts(types);
  if (outcome.kind === 'failed') return failure(outcome, type);
  if (!type) return failure(makeFailure('REPRESENTATION_NOT_SUPPORTED', `Accept one of ${types.join(', ')}.`), type);
  if (type === URI_LIST) return address(outcome.kind === 'document' ? outcome.endpoints : []);
  const { metadata } = outcome;
  const content = outcome.kind === 'part' ? outcome.part : outcome.document;
  if (type === PLAIN_JSON && outcome.kind === 'part')
    return { status: metadata.deactivated ? 410 : 200, ...result(DEREFERENCED, content, metadata), type };
  const isPlain = DOCUMENT_TYPES.includes(type);
  // A deactivated DID has a result that says so, but no current document.
  if (metadata.deactivated) return { status: 410, ...result(isPlain ? RESULT : type, content, metadata) };
  return isPlain && content
    ? { status: 200, type, body: content }
    : { status: 200, ...result(type, content, metadata) };
}

function listTypes(outcome: Resolution): string[] {
  if (outcome.kind === 'part') return [...DOCUMENT_TYPES, DEREFERENCED, PLAIN_JSON];
  const selects = outcome.kind === 'document' && outcome.endpoints !== undefined;
  return [...DOCUMENT_TYPES, RESULT, OLD_RESULT, DEREFERENCED, PLAIN_JSON, ...(selects ? [URI_LIST] : [])];
}

function failure(failure: Failed, accepted: string | false): ResolutionAnswer {
  const status = RESOLUTION_STATUS[failure.code];
  if (accepted === DEREFERENCED) {
    // Dereferencing takes a DID URL, so an invalid DID is an invalid DID URL.
    const code = failure.code === 'INVALID_DID' ? 'INVALID_DID_URL' : failure.code;
    return {
      status,
      type: DEREFERENCED,
      body: makeDereferenced({ error: resolutionError({ ...failure, code }) }, null, {}),
    };
  }
  const error = resolutionError(failure);
  const type = accepted === OLD_RESULT || accepted === PLAIN_JSON ? accepted : RESULT;
  return { status, type, body: { didResolutionMetadata: { error }, didDocument: null, didDocumentMetadata: {} } };
}

// The `error` of a result: a problem (RFC 9457) with the type that the standard gives it.
function resolutionError({ code, detail }: Failed): JsonObject {
  const { title } = RESOLUTION_ERRORS[code];
  return { type: `https://www.w3.org/ns/did#${code}`, status: RESOLUTION_STATUS[code], title, detail };
}

function address([location]: readonly string[] = []): ResolutionAnswer {
  if (location === undefined)
    return failure(makeFailure('NOT_FOUND', 'The document has no such service with a public address.'), URI_LIST);
  return { status: 303, type: URI_LIST, body: '', location };
}

function result(type: string, content: JsonObject | null, metadata: JsonObject): { type: string; body: JsonObject } {
  const about = content ? { contentType: DOCUMENT_TYPES[type === OLD_RESULT ? 1 : 0]! } : {};
  if (type === DEREFERENCED) return { type, body: makeDereferenced(about, content, metadata) };
  const context = type === OLD_RESULT ? { '@context': 'https://w3id.org/did-resolution/v1' } : {};
  return {
    type,
    body: { ...context, didResolutionMetadata: about, didDocument: content, didDocumentMetadata: metadata },
  };
}

// DID Core 1.0 and its test suite call the content `contentStream`; DID Resolution calls it `content`.
function makeDereferenced(about: JsonObject, content: JsonObject | null, metadata: JsonObject): JsonObject {
  return { dereferencingMetadata: about, content, contentStream: content, contentMetadata: metadata };
}
