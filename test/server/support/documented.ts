// Holds answers of a server against what its OpenAPI document says of them: status, media type, headers, every field.

import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isDid, isReference } from '../../../lib/domain/did/did.ts';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import type { Answer } from './serve.ts';

/** Of routes that tests add, which describe no answers. */
export const TEST_TAG = 'Test';

interface DocumentedAnswer {
  readonly content?: { readonly [type: string]: { readonly schema: object & { readonly 'x-lines'?: object } } };
  readonly headers?: { readonly [name: string]: object };
}

export interface Documented {
  /** What is wrong with an answer to `GET /v1/domains/{did}`; empty when nothing. Remembers what it was shown. */
  problemsOf(operation: string, answer: Answer): string[];
  /** Operations of the document, as `GET /v1/domains/{did}`. */
  readonly operations: readonly string[];
  /** The operation that a request goes to; undefined where none is documented for it, or only by a route of a test. */
  operationOf(method: string, path: string): string | undefined;
  /** Operation → statuses that were seen. */
  readonly seen: ReadonlyMap<string, ReadonlySet<number>>;
}

/** Reads a document; a field that it does not name counts as a problem. */
export function documented(document: OpenApiDocument): Documented {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addFormat('did', isDid);
  ajv.addFormat('did-reference', isReference);
  for (const name of ['alias', 'fragment-or-uri', 'safe-url']) ajv.addFormat(name, true);
  const components = closed(document.components) as object;
  const compiled = new Map<object, ValidateFunction>();
  const seen = new Map<string, Set<number>>();

  const validatorOf = (schema: object): ValidateFunction => {
    const known = compiled.get(schema) ?? ajv.compile({ ...(closed(schema) as AnySchemaObject), components });
    compiled.set(schema, known);
    return known;
  };

  const problemsOf: Documented['problemsOf'] = (operation, { status, headers, text }) => {
    const [method, path] = operation.split(' ') as [string, string];
    const route = document.paths[path]?.[method.toLowerCase()] as { responses: Record<string, DocumentedAnswer> };
    if (!route) return [`${operation} is not documented`];
    seen.set(operation, (seen.get(operation) ?? new Set()).add(status));
    const answer = route.responses[status];
    if (!answer) return [`${operation} does not document ${status}: ${text.slice(0, 300)}`];
    const missing = Object.keys(answer.headers ?? {}).filter((name) => headers[name.toLowerCase()] === undefined);
    return [
      ...missing.map((name) => `${operation} ${status} has no header ${name}`),
      ...bodyProblems(answer, { type: headers['content-type'], text }).map(
        (problem) => `${operation} ${status} ${problem}`,
      ),
    ];
  };

  function bodyProblems({ content }: DocumentedAnswer, { type, text }: { type: string | undefined; text: string }) {
    if (!content) return text === '' ? [] : [`has a body: ${text.slice(0, 80)}`];
    const base = (name: string) => name.split(';')[0]!;
    const names = Object.keys(content);
    const name =
      names.find((one) => one === type) ?? names.find((one) => base(one) === base(type ?? '') || one === '*/*');
    if (name === undefined) return [`has the type ${type}, not one of ${names.join(', ')}`];
    const { schema } = content[name]!;
    if (schema['x-lines']) return lineProblems(schema['x-lines'], text);
    const validate = validatorOf(schema);
    const value = /json|application\/(did|vc)/.test(name) ? JSON.parse(text) : text;
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
    );
  }

  function lineProblems(schema: object, text: string): string[] {
    const validate = validatorOf(schema);
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.flatMap((line) =>
      validate(JSON.parse(line)) ? [] : [`has the line ${line}: ${ajv.errorsText(validate.errors)}`],
    );
  }

  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  // Of two routes that fit, the one with fewer parameters is meant.
  const patterns = operations
    .map((operation) => ({
      operation,
      pattern: new RegExp(`^${operation.replaceAll(/[.]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    }))
    .sort((one, other) => one.operation.split('{').length - other.operation.split('{').length);
  const isOfTest = (operation: string) => {
    const [method, path] = operation.split(' ') as [string, string];
    return (document.paths[path]![method.toLowerCase()] as { tags: readonly string[] }).tags.includes(TEST_TAG);
  };
  const operationOf = (method: string, path: string) => {
    const found = patterns.find(({ pattern }) => pattern.test(`${method} ${path}`))?.operation;
    return found && !isOfTest(found) ? found : undefined;
  };
  return { problemsOf, operations, operationOf, seen };
}

// Clients must bear fields that they do not know; tests need not.
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  const isOpen = parts.type === 'object' && 'properties' in parts && !('additionalProperties' in parts);
  return isOpen ? { ...parts, additionalProperties: false } : parts;
}
