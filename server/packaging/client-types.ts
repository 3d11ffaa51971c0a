// The types of `twinline/client`, from the OpenAPI document of the routes that take an API key or an invocation.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AGENT_ROUTES } from '../agent/routes.ts';
import { DOMAIN_ROUTES } from '../domain/door.ts';
import { openApiDocument } from '../openapi/document.ts';

/** A JSON Schema as far as the document uses it. */
interface SchemaObject {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly oneOf?: readonly SchemaObject[];
  readonly anyOf?: readonly SchemaObject[];
  readonly items?: SchemaObject;
  readonly properties?: { readonly [name: string]: SchemaObject };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaObject;
  readonly description?: string;
}

interface Content {
  readonly content?: { readonly [mediaType: string]: { readonly schema: SchemaObject } };
}

interface DocumentedOperation {
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: SchemaObject;
  }[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: { readonly [status: string]: Content };
}

/** Writes the declarations into the folder `dist` that is being built. */
export function writeClientTypes(dist: string): void {
  const document = openApiDocument({ groups: [...DOMAIN_ROUTES, AGENT_ROUTES], version: '' });
  const file = join(dist, 'lib/client/api.d.ts');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, clientTypes(document));
}

/** The declarations of `lib/client/api.ts` for a document. */
export function clientTypes({
  paths,
  components,
}: Pick<ReturnType<typeof openApiDocument>, 'paths' | 'components'>): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { summary, ...described } = operation as DocumentedOperation;
      return { name: `${method.toUpperCase()} ${path}`, description: summary, type: operationType(described) };
    }),
  );
  const schemas = Object.entries(components.schemas).map(([name, schema]) =>
    member(name, schema as SchemaObject, true),
  );
  return `// The build writes these types from the OpenAPI document.

/** What a request of one route carries, and what its answer holds. */
export type RouteShape = Routes[keyof Routes];

/** Each route by its line, such as \`GET /v1/domains/{did}\`. */
export interface Routes ${writeMembers(operations)}

/** The named schemas of the document. */
export interface ApiSchemas ${writeMembers(schemas)}
`;
}

function operationType({ parameters = [], requestBody, responses }: Omit<DocumentedOperation, 'summary'>): string {
  const inside = (place: string) => {
    const own = parameters.filter((parameter) => parameter.in === place);
    if (own.length === 0) return [];
    const members = own.map(({ name, description, schema, required = false }) => ({
      ...member(name, schema, required),
      type: `${schemaType(schema)}${required ? '' : ' | undefined'}`,
      description,
    }));
    const isOptional = !own.some(({ required }) => required);
    return [{ name: place === 'header' ? 'headers' : place, isOptional, type: writeMembers(members) }];
  };
  const bodies = Object.values(requestBody?.content ?? {}).map(({ schema }) => schemaType(schema));
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'));
  return writeMembers([
    ...['path', 'query', 'header'].flatMap(inside),
    ...(requestBody ? [{ name: 'body', isOptional: requestBody.required === false, type: union(bodies) }] : []),
    { name: 'answer', type: answerType(success?.[1] ?? {}) },
  ]);
}

function answerType({ content = {} }: Content): string {
  const json = content['application/json'];
  if (json) return schemaType(json.schema);
  return Object.keys(content).length > 0 ? 'string' : 'undefined';
}

interface TypeMember {
  readonly name: string;
  readonly type: string;
  readonly isOptional?: boolean;
  readonly description?: string | undefined;
}

function member(name: string, schema: SchemaObject, isRequired: boolean): TypeMember {
  return { name, type: schemaType(schema), isOptional: !isRequired, description: schema.description };
}

function writeMembers(members: readonly TypeMember[]): string {
  const lines = members.map(({ name, type, isOptional, description }) => {
    const comment = description === undefined ? '' : `/** ${description.replaceAll('*/', '*\\/')} */\n`;
    return `${comment}readonly ${/^[a-z_]\w*$/i.test(name) ? name : `'${name}'`}${isOptional ? '?' : ''}: ${type};`;
  });
  return `{\n${lines.join('\n').replace(/^/gm, '  ')}\n}`;
}

const union = (types: readonly string[]) => [...new Set(types)].join(' | ') || 'never';

function schemaType(schema: SchemaObject | boolean): string {
  if (typeof schema === 'boolean') return schema ? 'unknown' : 'never';
  const { $ref, enum: values, oneOf, anyOf, type, properties } = schema;
  if ($ref !== undefined) return `ApiSchemas[${JSON.stringify($ref.split('/').at(-1))}]`;
  if ('const' in schema) return JSON.stringify(schema.const);
  if (values) return union(values.map((value) => JSON.stringify(value)));
  const choices = oneOf ?? anyOf;
  // Beside properties, choices say no more than which of these are needed.
  if (choices && !properties) return union(choices.map(schemaType));
  if (type === undefined) return 'unknown';
  return union([type].flat().map((one) => plainType(one, schema)));
}

function plainType(
  type: string,
  { items = {}, properties, required = [], additionalProperties }: SchemaObject,
): string {
  if (type === 'integer') return 'number';
  if (type === 'array') return `readonly (${schemaType(items)})[]`;
  if (type !== 'object') return type;
  const members = Object.entries(properties ?? {}).map(([name, schema]) =>
    member(name, schema, required.includes(name)),
  );
  const rest = typeof additionalProperties === 'object' ? schemaType(additionalProperties) : 'unknown';
  const others = `{ readonly [name: string]: ${rest} }`;
  if (members.length === 0) return additionalProperties === false ? 'Record<string, never>' : others;
  return additionalProperties ? `${writeMembers(members)} & ${others}` : writeMembers(members);
}
