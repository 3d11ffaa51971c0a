// The JSON Schema of flow files: found, compiled once, and asked what it says about a place in a flow.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { stepsOf } from './source.ts';

/** A part of the schema, as far as messages need it. */
export interface SchemaPart {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly not?: SchemaPart;
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: SchemaPart };
  readonly patternProperties?: { readonly [pattern: string]: SchemaPart };
  readonly additionalProperties?: boolean | SchemaPart;
  readonly items?: SchemaPart;
  readonly oneOf?: readonly SchemaPart[];
  readonly $ref?: string;
  readonly definitions?: { readonly [name: string]: SchemaPart };
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

interface Loaded {
  readonly schema: SchemaPart;
  readonly validate: ValidateFunction;
}

let loaded: Loaded | undefined;

/** The whole schema. */
export function flowSchema(): SchemaPart {
  return load().schema;
}

/** What the schema says against `value`, all at once; empty when nothing. */
export function schemaErrors(value: unknown): readonly ErrorObject[] {
  const { validate } = load();
  return validate(value) ? [] : (validate.errors ?? []);
}

/** What the schema says about the place at `pointer` in `value`; empty where it knows nothing. */
export function schemaAt(pointer: string, value: unknown): SchemaPart {
  let part = resolved(load().schema, value);
  let here: unknown = value;
  for (const step of stepsOf(pointer)) {
    here = here !== null && typeof here === 'object' ? (here as { [key: string]: unknown })[step] : undefined;
    part = resolved(childOf(part, step), here);
  }
  return part;
}

/** The types of screens, in the order of the schema. */
export function screenTypes(): string[] {
  const kinds = load().schema.definitions?.screen?.oneOf ?? [];
  return kinds.map((kind) => String(resolved(kind, undefined).properties?.type?.const));
}

function childOf(part: SchemaPart, step: string): SchemaPart {
  if (part.items && /^\d+$/.test(step)) return part.items;
  if (part.properties && Object.hasOwn(part.properties, step)) return part.properties[step]!;
  const pattern = Object.keys(part.patternProperties ?? {}).find((source) => new RegExp(source).test(step));
  if (pattern !== undefined) return part.patternProperties![pattern]!;
  return typeof part.additionalProperties === 'object' ? part.additionalProperties : {};
}

// What stands beside a $ref wins: it says what the value means there.
function resolved(part: SchemaPart, value: unknown): SchemaPart {
  const { $ref, ...own } = part;
  const target = $ref === undefined ? undefined : load().schema.definitions?.[$ref.replace('#/definitions/', '')];
  const whole: SchemaPart = target ? { ...resolved(target, value), ...own } : part;
  const type = (value as { type?: unknown } | null | undefined)?.type;
  const kind = whole.oneOf?.map((one) => resolved(one, undefined)).find((one) => one.properties?.type?.const === type);
  return kind ?? whole;
}

function load(): Loaded {
  if (loaded) return loaded;
  const path = fileURLToPath(import.meta.resolve('#menus/flow.schema.json'));
  const schema = JSON.parse(readFileSync(path, 'utf8')) as SchemaPart;
  const ajv = new Ajv({ allErrors: true, discriminator: true, strict: true, allowUnionTypes: true, verbose: true });
  ajv.addKeyword('defaultSnippets');
  loaded = { schema, validate: ajv.compile(schema) };
  return loaded;
}
