// Ajv with the formats and the words of the domain. It takes as long to load as all else of the domain, so the first check loads this file.

import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { Detail } from '../../errors.ts';
import { isPublicUrl } from '../../http/hosts.ts';
import { Identities } from '../../json/compare.ts';
import type { Json } from '../../json/json.ts';
import { escapeStep } from '../../json/reader.ts';
import type { Schema } from '../../json/schema.ts';
import { isDid, isFragmentOrUri, isReference, isUri } from '../did/did.ts';

/** What the schema says against the value, by field; empty when it is valid. */
export function validate(schema: Schema, value: unknown): Detail[] {
  const check = compile(schema as object);
  if (check(value)) return [];
  const errors = check.errors ?? [];
  // Of the alternatives in `oneOf`, those of another type are left out where one of the value's own type has errors.
  const places = placesOfOwnType(errors);
  const details = errors
    .filter((error) => error.keyword !== 'oneOf' && !(isOtherType(error) && places.has(error.instancePath)))
    .map(makeDetail);
  return details.length ? details : [{ field: '/', error: 'has none of the allowed forms' }];
}

function isOtherType({ keyword, schemaPath }: ErrorObject): boolean {
  return keyword === 'type' && schemaPath.includes('/oneOf/');
}

/** The paths, with all their parents, of errors other than a wrong type in `oneOf`. */
function placesOfOwnType(errors: readonly ErrorObject[]): Set<string> {
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

let ajv: Ajv2020 | undefined;
const compiled = new WeakMap<object, ValidateFunction>();

function compile(schema: object): ValidateFunction {
  ajv ??= makeAjv();
  const check = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, check);
  return check;
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

function makeDetail(error: ErrorObject): Detail {
  const { additionalProperty, missingProperty } = error.params;
  const name = error.keyword === 'additionalProperties' ? additionalProperty : missingProperty;
  const field = name === undefined ? error.instancePath : `${error.instancePath}/${escapeStep(String(name))}`;
  return { field: field || '/', error: WORDS[error.keyword]?.(error) ?? error.message ?? 'is not allowed' };
}

const uniqueItems: ((isWanted: boolean, list: readonly Json[]) => boolean) & { errors?: object[] } = (
  isWanted,
  list,
) => {
  const identities = new Identities();
  const places = new Map<number, number>();
  for (const [i, item] of isWanted ? list.entries() : []) {
    const id = identities.identify(item);
    const j = places.get(id);
    if (j !== undefined) {
      const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`;
      uniqueItems.errors = [{ keyword: 'uniqueItems', params: { i, j }, message }];
      return false;
    }
    places.set(id, i);
  }
  return true;
};

/** Replaces ajv's `uniqueItems`, which compares every item with every other, by a linear one with the same message. */
export function replaceUniqueItems(ajv: Ajv2020): void {
  ajv.removeKeyword('uniqueItems');
  const validate = uniqueItems;
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', errors: true, validate });
}

/** Characters of the longest date and time that is read. */
const MOMENT_MOST = 64;

function makeAjv(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: true });
  ajvFormats.default(ajv, ['date-time', 'json-pointer']);
  // All problems are wanted, so formats see texts of any length, and this one splits its text at every space first.
  const isMoment = ajvFormats.default.get('date-time') as { readonly validate: (text: string) => boolean };
  ajv.addFormat('date-time', (text) => text.length <= MOMENT_MOST && isMoment.validate(text));
  replaceUniqueItems(ajv);
  ajv.addFormat('did', isDid);
  ajv.addFormat('did-reference', isReference);
  ajv.addFormat('alias', isUri);
  ajv.addFormat('fragment-or-uri', isFragmentOrUri);
  // `{id}` stands for the DID of the twin.
  ajv.addFormat('safe-url', (text) => isUri(text.replaceAll('{id}', 'did:ixo:id')) && isPublicUrl(text));
  return ajv;
}
