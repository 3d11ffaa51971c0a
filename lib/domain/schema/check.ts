// Checks bodies against their schemas: everything that is wrong at once, in words, field by field.

import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Detail } from '../../errors.ts';
import { isPublicUrl } from '../../http/hosts.ts';
import { escapeStep } from '../../json/patch.ts';
import { isDid, isReference } from '../did/did.ts';
import { isFragmentOrUri, isUri } from '../did/uri.ts';
import { invalid } from '../problems.ts';
import { lengthProblems } from './lengths.ts';
import type { Schema } from './parts.ts';
import { replaceUniqueItems } from './unique-items.ts';

const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: true });
formats.default(ajv, ['date-time', 'json-pointer']);
replaceUniqueItems(ajv);
ajv.addFormat('did', isDid);
ajv.addFormat('did-reference', isReference);
ajv.addFormat('alias', isUri);
ajv.addFormat('fragment-or-uri', isFragmentOrUri);
// `{id}` stands for the DID of the twin.
ajv.addFormat('safe-url', (text) => isUri(text.replaceAll('{id}', 'did:ixo:id')) && isPublicUrl(text));

const compiled = new WeakMap<object, ValidateFunction>();

/** What is wrong with `value`; empty when nothing. Where something is too long, only that. */
export function problemsOf(schema: Schema, value: unknown): Detail[] {
  const tooLong = lengthProblems(schema, value);
  if (tooLong.length) return tooLong;
  const validate = compiledOf(schema as object);
  if (validate(value)) return [];
  const errors = validate.errors ?? [];
  const looked = placesOfTheirType(errors);
  const details = errors.filter((error) => isTold(error, looked)).map(detailOf);
  return details.length ? details : [{ field: '/', error: 'has none of the allowed forms' }];
}

// Of the ways that a value may take, those that are of another type than it has say nothing where one of its type does.
function isTold(error: ErrorObject, looked: ReadonlySet<string>): boolean {
  if (error.keyword === 'oneOf') return false;
  return !isOtherType(error) || !looked.has(error.instancePath);
}

function isOtherType({ keyword, schemaPath }: ErrorObject): boolean {
  return keyword === 'type' && schemaPath.includes('/oneOf/');
}

/** Where, or below where, an error is that says more than that a value is of another type. */
function placesOfTheirType(errors: readonly ErrorObject[]): Set<string> {
  const places = new Set<string>();
  for (const error of errors) {
    if (error.keyword === 'oneOf' || isOtherType(error)) continue;
    for (let path = error.instancePath; !places.has(path); path = path.slice(0, path.lastIndexOf('/'))) {
      places.add(path);
      if (path === '') break;
    }
  }
  return places;
}

/** The value as what the schema describes; throws `invalid` with every problem. */
export function checked<T>(schema: Schema, value: unknown, what: string): T {
  const all = problemsOf(schema, value);
  if (!all.length) return value as T;
  throw invalid(`${what} cannot be taken: ${all.length} problem${all.length > 1 ? 's' : ''}, see the details.`, all);
}

function compiledOf(schema: object): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const made = ajv.compile(schema);
  compiled.set(schema, made);
  return made;
}

const WORDS: { readonly [keyword: string]: (error: ErrorObject) => string } = {
  additionalProperties: ({ params }) => `has no field ${JSON.stringify(params.additionalProperty)}; remove it`,
  required: ({ params }) => `needs the field ${JSON.stringify(params.missingProperty)}`,
  const: ({ params }) => `must be ${JSON.stringify(params.allowedValue)}`,
  enum: ({ params }) => `must be one of ${params.allowedValues.join(', ')}`,
  format: ({ params }) => FORMATS[params.format as string] ?? `must be a ${params.format}`,
};

const FORMATS: { readonly [format: string]: string } = {
  'date-time': 'must be a moment such as 2026-01-01T00:00:00Z',
  did: 'must be a DID such as did:ixo:entity:4c73552dbf8a4343016e7f7952836014',
  'json-pointer': 'must be a JSON pointer such as /metadata/name',
  'did-reference': 'must be a DID, or a DID URL such as did:ixo:protocol/clean-cooking',
  alias: 'must be a DID, a DID URL or another URI, in ASCII (RFC 3986)',
  'fragment-or-uri': 'must be a fragment such as #data, or a whole URI, in ASCII (RFC 3986)',
  'safe-url': 'must be a URL with a public host and one of the schemes https, http, wss, ws, mqtts, ipfs',
};

function detailOf(error: ErrorObject): Detail {
  const missing =
    error.keyword === 'additionalProperties' ? error.params.additionalProperty : error.params.missingProperty;
  const field = missing === undefined ? error.instancePath : `${error.instancePath}/${escapeStep(String(missing))}`;
  return { field: field || '/', error: WORDS[error.keyword]?.(error) ?? error.message ?? 'is not allowed' };
}
