// The OpenAPI document of a server, put together from the parts that its doors and plugins bring.

import { DID_PATTERNS, URI_PATTERNS } from '../../lib/domain/did/did.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Schema } from '../../lib/json/schema.ts';
import { INPUT_FORMATS } from '../http/check-input.ts';
import { PROBLEM, REFUSED } from '../http/common-answers.ts';
import { openApiPath, pathNames, type RouteGroup } from '../http/route-table.ts';
import { describeOperation, findAccess, pathParameter, securitySchemes } from './operation.ts';

export interface DocumentOptions {
  readonly groups: readonly RouteGroup[];
  readonly version: string;
  /** How others reach the server, without a slash at the end. @default where the document was read */
  readonly url?: string | undefined;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly paths: { readonly [path: string]: { readonly [method: string]: object } };
  readonly components: {
    readonly schemas: { readonly [name: string]: Schema };
    readonly securitySchemes: object;
  };
  readonly [field: string]: unknown;
}

const ABOUT = `Durable conversations behind four doors: a USSD gateway for telephones, a domain service for
digital twins and their verification by vote, an agent that chats, and a gateway to the queries of a chain.

How to use them is told in the [guides](/docs/guides). Problems are told as RFC 9457 documents; each \`type\` leads to [/docs/errors](/docs/errors).`;

/** Puts the document together; throws ERR_CONFIG when two parts document the same, or one what it does not explain. */
export function openApiDocument({ groups, version, url = '/' }: DocumentOptions): OpenApiDocument {
  const schemas = gatherSchemas([{ Problem: PROBLEM, Refused: REFUSED }, ...groups.map(({ schemas = {} }) => schemas)]);
  const names = new Map(Object.entries(schemas).map(([name, schema]) => [schema, name]));
  const byReference = Object.entries(schemas).map(([name, schema]) => [name, withReferences(schema, names, schema)]);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Twinline',
      version,
      summary: 'Phones, digital twins, agents and chain queries over HTTP',
      description: ABOUT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url }],
    tags: [...new Map(groups.map(({ tag, description }) => [tag, { name: tag, description }])).values()],
    paths: withReferences(describePaths(groups), names) as OpenApiDocument['paths'],
    components: {
      schemas: Object.fromEntries(byReference),
      securitySchemes: securitySchemes(
        groups.flatMap((group) => group.routes.map((route) => findAccess(route, group))),
      ),
    },
  };
}

function describePaths(groups: readonly RouteGroup[]): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, object>> = {};
  const ids = new Set<string>();
  for (const group of groups)
    for (const route of group.routes) {
      const { id } = route;
      const path = openApiPath(route.path);
      const method = route.method.toLowerCase();
      const unknown = pathNames(route.path).find((name) => pathParameter(route, group, name) === undefined);
      if (unknown) throw wrong(`${route.method} ${path}: the parameter ${unknown} is not described`);
      if (paths[path]?.[method]) throw wrong(`${route.method} ${path} is documented twice`);
      if (ids.has(id)) throw wrong(`${route.method} ${path}: another operation has the id ${id}, too`);
      ids.add(id);
      paths[path] = { ...paths[path], [method]: describeOperation(route, group, PROBLEM) };
    }
  return paths;
}

function gatherSchemas(all: readonly { readonly [name: string]: Schema }[]): { [name: string]: Schema } {
  const schemas: { [name: string]: Schema } = {};
  for (const [name, schema] of all.flatMap((some) => Object.entries(some))) {
    if (schemas[name] !== undefined && schemas[name] !== schema) throw wrong(`two schemas have the name ${name}`);
    schemas[name] = schema;
  }
  return schemas;
}

// A schema that has a name is written once and pointed at everywhere else.
function withReferences(value: unknown, names: ReadonlyMap<unknown, string>, self?: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const name = value === self ? undefined : names.get(value);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  if (Array.isArray(value)) return value.map((item) => withReferences(item, names));
  const parts = Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, VALUES.has(key) ? part : withReferences(part, names)]),
  );
  const pattern = typeof parts.format === 'string' ? PATTERNS[parts.format] : undefined;
  if (pattern !== undefined && !('pattern' in parts)) return { ...parts, pattern };
  // Generators of clients make an object without any members of one that does not say that it is open.
  const isObject = [parts.type].flat().includes('object');
  const isOpen = isObject && !('properties' in parts) && !('additionalProperties' in parts);
  return isOpen ? { ...parts, additionalProperties: true } : parts;
}

const VALUES = new Set(['example', 'examples']);

// Formats of this service, in words that every validator knows.
const PATTERNS: { readonly [format: string]: string } = {
  did: DID_PATTERNS.did,
  'did-reference': DID_PATTERNS.reference,
  alias: URI_PATTERNS.uri,
  'fragment-or-uri': URI_PATTERNS.fragmentOrUri,
  'safe-url': URI_PATTERNS.template,
  ...Object.fromEntries(Object.entries(INPUT_FORMATS).map(([name, { pattern }]) => [name, pattern.source])),
};

function wrong(problem: string): TwinlineError {
  return new TwinlineError('ERR_CONFIG', `The documentation of the routes cannot be put together: ${problem}.`);
}
