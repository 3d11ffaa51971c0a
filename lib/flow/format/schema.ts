// The JSON Schema of flow files, and readable messages for its violations: the place, the value, and what to write instead.

import type { ErrorObject } from 'ajv';
import type { Json } from '../../json/json.ts';
import { findNearest, suggest } from '../expression/suggest.ts';
import { nameKind } from '../expression/values.ts';
import { checkFlow } from './checks.ts';
import { capitalize, describePlace, type Finding, type Mend, showValue } from './problem.ts';
import { SCHEMAS } from './schemas.ts';
import { parsePointer, pointerTo } from './source.ts';

/** The keywords of JSON Schema that messages and references use. */
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
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

/** The whole schema. */
export const FLOW_SCHEMA: SchemaPart = SCHEMAS.flow;
/** The schema of test files. */
export const FLOW_TEST_SCHEMA: SchemaPart = SCHEMAS.test;

/** All violations of the schema by `value`. */
function schemaErrors(value: unknown): readonly ErrorObject[] {
  return checkFlow(value) ? [] : (checkFlow.errors ?? []);
}

/** The part of a schema for the place at `pointer` in `value`; empty if there is none. @default schema the schema of flows */
export function schemaAt(pointer: string, value: unknown, schema: SchemaPart = FLOW_SCHEMA): SchemaPart {
  let part = resolvePart(schema, value, schema);
  let here: unknown = value;
  for (const step of parsePointer(pointer)) {
    here = here !== null && typeof here === 'object' ? (here as { [key: string]: unknown })[step] : undefined;
    part = resolvePart(findChild(part, step), here, schema);
  }
  return part;
}

/** The types of screens, in the order of the schema. */
export function screenTypes(): string[] {
  const kinds = FLOW_SCHEMA.definitions?.screen?.oneOf ?? [];
  return kinds.map((kind) => String(resolvePart(kind, undefined, FLOW_SCHEMA).properties?.type?.const));
}

function findChild(part: SchemaPart, step: string): SchemaPart {
  if (part.items && /^\d+$/.test(step)) return part.items;
  if (part.properties && Object.hasOwn(part.properties, step)) return part.properties[step]!;
  const pattern = Object.keys(part.patternProperties ?? {}).find((source) => new RegExp(source).test(step));
  if (pattern !== undefined) return part.patternProperties![pattern]!;
  return typeof part.additionalProperties === 'object' ? part.additionalProperties : {};
}

// Keywords beside a $ref override those of its target.
function resolvePart(part: SchemaPart, value: unknown, schema: SchemaPart): SchemaPart {
  const { $ref, ...own } = part;
  const target = $ref === undefined ? undefined : schema.definitions?.[$ref.replace('#/definitions/', '')];
  const whole: SchemaPart = target ? { ...resolvePart(target, value, schema), ...own } : part;
  const type = (value as { type?: unknown } | null | undefined)?.type;
  const kind = whole.oneOf
    ?.map((one) => resolvePart(one, undefined, schema))
    .find((one) => one.properties?.type?.const === type);
  return kind ?? whole;
}

interface SchemaFinding extends Finding {
  readonly code: 'unknown-key' | 'missing-key' | 'wrong-type' | 'bad-value' | 'too-many-screens';
}

interface SchemaFault {
  readonly pointer: string;
  readonly value: unknown;
  readonly params: { readonly [name: string]: unknown };
  /** The schema of the place, and of a key in it. */
  readonly part: SchemaPart;
  readonly schemaPart: (key: string) => SchemaPart;
}

/** All violations of the schema by `root`, one finding per mistake. */
export function schemaFindings(root: unknown): SchemaFinding[] {
  const errors = schemaErrors(root);
  const misspelt = findMisspelt(errors);
  const findings = errors.map((error) => (WORDS[error.keyword] ?? describeOther)(readFault(error, root)));
  return findings.filter(({ code, pointer }) => code !== 'missing-key' || !misspelt.has(pointer));
}

function readFault({ instancePath: pointer, params, data }: ErrorObject, root: unknown): SchemaFault {
  const schemaPart = (key: string) => schemaAt(pointer + pointerTo(key), root);
  return { pointer, value: data, params, part: schemaAt(pointer, root), schemaPart };
}

// A misspelt key causes two violations, an unknown key and a missing one, but is one mistake.
function findMisspelt(errors: readonly ErrorObject[]): Set<string> {
  const missing = new Map<string, string[]>();
  for (const { keyword, instancePath, params } of errors) {
    if (keyword !== 'required') continue;
    missing.set(instancePath, [...(missing.get(instancePath) ?? []), params.missingProperty]);
  }
  const misspelt = new Set<string>();
  for (const { keyword, instancePath, params } of errors) {
    if (keyword !== 'additionalProperties') continue;
    const key = missing.get(instancePath)?.find((one) => suggest(params.additionalProperty, [one]) !== '');
    if (key !== undefined) misspelt.add(instancePath + pointerTo(key));
  }
  return misspelt;
}

function mendName(name: unknown, names: readonly string[]): { readonly mend?: Mend } {
  if (typeof name !== 'string') return {};
  const nearest = findNearest(name, names);
  return nearest?.isAlone ? { mend: { old: name, text: nearest.name } } : {};
}

const UNQUOTED: { readonly [type: string]: RegExp } = {
  integer: /^-?\d{1,15}$/,
  number: /^-?\d{1,15}(\.\d{1,15})?$/,
  boolean: /^(true|false)$/,
};

// A quoted number or boolean.
function mendQuoted({ value, part }: SchemaFault): { readonly mend?: Mend } {
  const [type = '', ...others] = [part.type ?? []].flat();
  const fits = typeof value === 'string' && !others.length && UNQUOTED[type]?.test(value);
  return fits ? { mend: { old: JSON.stringify(value), text: value } } : {};
}

const WORDS: { readonly [keyword: string]: (fault: SchemaFault) => SchemaFinding } = {
  required: ({ pointer, params, part, schemaPart }) => {
    const key = String(params.missingProperty);
    const type = part.properties?.type?.const;
    const message = `${capitalize(describePlace(pointer))}${type === undefined ? '' : ` (${type})`} has no "${key}".`;
    return {
      code: 'missing-key',
      pointer: pointer + pointerTo(key),
      message,
      fix: formatAdvice('Add', key, schemaPart(key)),
    };
  },
  additionalProperties: ({ pointer, params, part }) => {
    const key = String(params.additionalProperty);
    const keys = Object.keys(part.properties ?? {});
    const message = `"${key}" is not a key of ${describePlace(pointer)}.${suggest(key, keys)}`;
    const instead = keys.length ? `, or write one of: ${keys.join(', ')}.` : `. ${part.description ?? ''}`;
    const place = pointer + pointerTo(key);
    const mend = mendName(key, keys);
    return { code: 'unknown-key', pointer: place, at: 'key', message, fix: `Remove "${key}"${instead}`, ...mend };
  },
  type: (fault) => {
    const { pointer, value, part } = fault;
    const kind =
      (value === null ? 'null' : nameKind(value as Json)) +
      (value === null || typeof value === 'object' ? '' : `, ${showValue(value)}`);
    const message = `${capitalize(describePlace(pointer))} is ${kind}; it must be ${formatTypes(part)}.`;
    return {
      code: 'wrong-type',
      pointer,
      message,
      fix: adviseUnquoted(fault) ?? adviseValue(fault),
      ...mendQuoted(fault),
    };
  },
  enum: (fault) => {
    const values = fault.part.enum ?? [];
    const near = typeof fault.value === 'string' ? suggest(fault.value, values.map(String)) : '';
    const { message, ...finding } = describeBadValue(fault, `cannot be ${showValue(fault.value)}`);
    const mend = mendName(fault.value, values.map(String));
    return { ...finding, message: message + near, fix: `Write one of: ${values.map(showValue).join(', ')}.`, ...mend };
  },
  discriminator: ({ pointer, params }) => {
    const types = screenTypes();
    const tag = params.tagValue;
    const owner = capitalize(describePlace(pointer));
    const fix = `Write "type" as one of: ${types.join(', ')}.`;
    if (tag === undefined)
      return { code: 'missing-key', pointer: `${pointer}/type`, message: `${owner} has no "type".`, fix };
    const near = typeof tag === 'string' ? suggest(tag, types) : '';
    const message = `${owner} has the type ${showValue(tag)}, which does not exist.${near}`;
    return { code: 'bad-value', pointer: `${pointer}/type`, message, fix, ...mendName(tag, types) };
  },
  pattern: (fault) => {
    const finding = describeOther(fault);
    const isSeconds = /^(?:[1-9]|[1-5]\d|60)$/.test(String(fault.value));
    const fits = isSeconds && new RegExp(String(fault.params.pattern)).test(`${fault.value}s`);
    return { ...finding, ...(fits && { mend: { text: JSON.stringify(`${fault.value}s`) } }) };
  },
  minimum: (fault) => describeBadValue(fault, `is ${showValue(fault.value)}, and ${fault.params.limit} is the least`),
  maximum: (fault) => describeBadValue(fault, `is ${showValue(fault.value)}, and ${fault.params.limit} is the most`),
  minLength: (fault) => describeBadValue(fault, 'is an empty text'),
  maxLength: (fault) => describeBadValue(fault, `is longer than ${fault.params.limit} characters`),
  minItems: (fault) => describeBadValue(fault, 'is an empty list'),
  maxItems: (fault) => describeBadValue(fault, `has more than ${fault.params.limit} items`),
  minProperties: (fault) => describeBadValue(fault, 'is empty'),
  maxProperties: (fault) => {
    const finding = describeBadValue(fault, `has more than ${fault.params.limit} entries`);
    if (fault.pointer !== '/screens') return finding;
    const fix = 'Split it into several flows, which call each other by screens of the type "flow".';
    return { ...finding, code: 'too-many-screens', fix };
  },
  uniqueItems: ({ pointer, value, params }) => {
    const at = Math.max(Number(params.i), Number(params.j));
    const twice = showValue((value as readonly unknown[])[at]);
    const message = `${capitalize(describePlace(pointer))} has ${twice} twice.`;
    return { code: 'bad-value', pointer: `${pointer}/${at}`, message, fix: `Remove one ${twice}.` };
  },
};

function describeOther(fault: SchemaFault): SchemaFinding {
  return describeBadValue(fault, `cannot be ${showValue(fault.value)}`);
}

function describeBadValue(fault: SchemaFault, why: string): SchemaFinding {
  const message = `${capitalize(describePlace(fault.pointer))} ${why}.`;
  return { code: 'bad-value', pointer: fault.pointer, message, fix: adviseValue(fault) };
}

// The most frequent mistake is a quoted number.
function adviseUnquoted({ value, part }: SchemaFault): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const types = [part.type ?? []].flat();
  const isNumber = (types.includes('integer') || types.includes('number')) && Number.isFinite(Number(value));
  const isFlag = types.includes('boolean') && (value === 'true' || value === 'false');
  return isNumber || isFlag ? `Remove the quotes: ${value.trim()}.` : undefined;
}

function adviseValue({ pointer, part }: SchemaFault): string {
  return formatAdvice('Write', parsePointer(pointer).at(-1) ?? '', part);
}

function formatAdvice(verb: string, key: string, { description = '', ...part }: SchemaPart): string {
  const example = part.examples?.[0] ?? part.default ?? part.enum?.[0];
  const name = key === '' || /^\d+$/.test(key) ? '' : `"${key}"`;
  if (example === undefined) return `${verb} ${name || 'another value'}. ${description}`.trim();
  return `${verb} ${name && `${name}: `}${JSON.stringify(example)}, for example. ${description}`.trim();
}

const TYPES: { readonly [type: string]: string } = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object { }',
  array: 'a list [ ]',
};

function formatTypes({ type, not }: SchemaPart): string {
  const names = [type ?? []].flat().map((name) => {
    if (name === 'boolean' && not && 'const' in not) return String(!not.const);
    return TYPES[name] ?? name;
  });
  return names.join(' or ');
}
