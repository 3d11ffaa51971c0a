// The property types that a protocol declares: names of types or untrusted JSON Schemas, bounded in cost and compiled. Loaded with the
// first of them, for its compiler takes as long to load as all else of the domain.

import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { Detail } from '../../errors.ts';
import { isObject } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { type Container, childAt, isContainer, parsePointer } from '../../json/patch.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { replaceUniqueItems } from '../schema/validate.ts';

/** What checks may still cost; shared by the properties of one record. */
export interface WorkBudget {
  left: number;
}

/** What is wrong with a value, in words; empty when nothing. */
export type PropertyCheck = ((value: Json, budget?: WorkBudget) => readonly Detail[]) & {
  /** Schemas in the declared one, as often as references lead to each. */
  readonly branches: number;
};

// Untrusted patterns run in linear time.
const regExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    // ajv takes two patterns with the same text for one.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  },
  { code: 'regExp' },
);

// References and names reach beyond the schema that they stand in.
const REFUSED = [
  ...['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'],
  ...['$schema', '$vocabulary', '$async'],
];

/** The budget of one record. */
export function workBudget(): WorkBudget {
  return { left: DOMAIN_LIMITS.propertyWork };
}

/** What is wrong with a value by its declared type, in words. A protocol may be older than the rules for what it declares. */
export function checkProperty(declared: Json, value: Json, budget: WorkBudget): readonly Detail[] {
  let check: PropertyCheck;
  try {
    check = compileProperty(declared);
  } catch (error) {
    return [{ field: '', error: `cannot be checked: what the protocol declares ${(error as Error).message}` }];
  }
  return check(value, budget);
}

/** Compiles one declared type; an Error says what is wrong with it. */
export function compileProperty(declared: Json): PropertyCheck {
  const text = JSON.stringify(declared);
  const cached = checks.get(text);
  if (cached) return cached;
  const schema = typeof declared === 'string' ? { type: declared } : (declared as JsonObject);
  checkForm(schema);
  const cost = measureCost(schema);
  const validate = compileFirst(schema);
  let validateAll: ValidateFunction | undefined;

  const check = (value: Json, budget = workBudget()): readonly Detail[] => {
    const work = countWork(cost, value);
    budget.left -= work;
    if (budget.left < 0) return [{ field: '', error: 'is too large to be checked as the protocol declares it' }];
    if (validate(value)) return [];
    if (work > ALL_ERRORS_WORK) return (validate.errors ?? []).slice(0, 1).map(makeDetail);
    validateAll ??= compileAll(schema);
    validateAll(value);
    return (validateAll.errors ?? []).map(makeDetail);
  };
  const propertyCheck = Object.assign(check, { branches: cost.branches });
  checks.set(text, propertyCheck);
  return propertyCheck;
}

const checks = new LRUCache<string, PropertyCheck>({ max: DOMAIN_LIMITS.propertyChecksKept });

// Above this, only the first error is reported.
const ALL_ERRORS_WORK = 50_000;

function makeDetail({ instancePath, message }: ErrorObject): Detail {
  return { field: instancePath, error: message ?? 'is not what the protocol declares' };
}

// An instance of ajv takes some milliseconds to make and retains every schema that it has compiled, so it is replaced after these.
const COMPILED_MAX = 500;

function compiler(allErrors: boolean): (schema: JsonObject) => ValidateFunction {
  let ajv: Ajv2020 | undefined;
  let compiled = 0;
  return (schema) => {
    if (!ajv || ++compiled >= COMPILED_MAX) {
      compiled = 0;
      ajv = new Ajv2020({ allErrors, strict: false, code: { regExp } });
      ajvFormats.default(ajv);
      replaceUniqueItems(ajv);
    }
    return ajv.compile(schema);
  };
}

const compileFirst = compiler(false);
const compileAll = compiler(true);

function checkForm(schema: JsonObject): void {
  const text = JSON.stringify(schema);
  if (Buffer.byteLength(text) > DOMAIN_LIMITS.propertySchemaBytes)
    throw new Error(`has ${Buffer.byteLength(text)} bytes; ${DOMAIN_LIMITS.propertySchemaBytes} are allowed`);
  for (const stack: [Json, number][] = [[schema, 1]]; stack.length; ) {
    const [part, depth] = stack.pop()!;
    if (typeof part !== 'object' || part === null) continue;
    if (depth > DOMAIN_LIMITS.propertySchemaDepth)
      throw new Error(`has more than ${DOMAIN_LIMITS.propertySchemaDepth} levels`);
    const refused = REFUSED.find((keyword) => Object.hasOwn(part, keyword));
    if (refused) throw new Error(`uses the keyword ${refused}, which is not allowed here`);
    const { $ref } = part as JsonObject;
    if ($ref !== undefined && !(typeof $ref === 'string' && $ref.startsWith('#')))
      throw new Error('has a $ref that points outside of it; use #/$defs/…');
    for (const child of Object.values(part)) stack.push([child, depth + 1]);
  }
}

/** The cost of one schema. Checking a value takes about `weight` × its nodes + `steps` × its characters. */
export interface SchemaCost {
  /** Schemas, each as often as references lead to it. */
  readonly branches: number;
  /** Branches, allowed values and required names. */
  readonly weight: number;
  /** Steps of patterns and formats for each character. */
  readonly steps: number;
  /** Characters of patterns. */
  readonly patternChars: number;
}

const MAPS = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const SINGLE = [
  ...['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else'],
  ...['unevaluatedItems', 'unevaluatedProperties', 'additionalItems'],
];
// Their values are compared with every value that is checked.
const COMPARED = ['enum', 'const', 'required', 'dependentRequired'];
// Steps for each character of what is checked.
const STEPS: { readonly [keyword: string]: number } = { format: 20, minLength: 1, maxLength: 1, uniqueItems: 8 };

/** The cost of a schema. Throws an Error that says which limit it breaks, or that a `$ref` leads nowhere or back to itself. */
export function measureCost(schema: JsonObject): SchemaCost {
  const costs = new Map<Json, SchemaCost>();
  const entered = new Set<Json>();

  function walk(value: Json): SchemaCost {
    if (!isObject(value)) return ONE;
    const part = value as JsonObject;
    const before = costs.get(part);
    if (before) return before;
    if (entered.has(part)) throw new Error('has a $ref that leads back to where it stands');
    entered.add(part);
    const cost = [measureOwnCost(part), ...subschemas(part, schema).map(walk)].reduce(add);
    requireSmall(cost);
    entered.delete(part);
    costs.set(part, cost);
    return cost;
  }
  return walk(schema);
}

const ONE: SchemaCost = { branches: 1, weight: 1, steps: 0, patternChars: 0 };

function add(a: SchemaCost, b: SchemaCost): SchemaCost {
  return {
    branches: a.branches + b.branches,
    weight: a.weight + b.weight,
    steps: a.steps + b.steps,
    patternChars: a.patternChars + b.patternChars,
  };
}

function requireSmall({ branches, steps, patternChars }: SchemaCost): void {
  if (branches > DOMAIN_LIMITS.propertyBranches)
    throw new Error(`is more than ${DOMAIN_LIMITS.propertyBranches} schemas when its references are followed`);
  if (patternChars > DOMAIN_LIMITS.propertyPatternChars)
    throw new Error(`has patterns of more than ${DOMAIN_LIMITS.propertyPatternChars} characters together`);
  if (steps > DOMAIN_LIMITS.propertyPatternSteps)
    throw new Error(
      `has patterns of more than ${DOMAIN_LIMITS.propertyPatternSteps} steps together; use smaller counts`,
    );
}

/** The schemas that a validation with this one applies. */
function subschemas(schema: JsonObject, root: JsonObject): Json[] {
  const { $ref } = schema;
  return [
    ...SINGLE.flatMap((keyword) => (Object.hasOwn(schema, keyword) ? [schema[keyword]!] : [])),
    ...LISTS.flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : [])),
    ...MAPS.flatMap((keyword) => (isObject(schema[keyword]) ? Object.values(schema[keyword] as JsonObject) : [])),
    ...(typeof $ref === 'string' ? [resolveRef(root, $ref)] : []),
  ];
}

function resolveRef(root: JsonObject, reference: string): Json {
  let part: Json | undefined = root;
  for (const step of parsePointer(decode(reference.slice(1))) ?? [''])
    part = isContainer(part) ? childAt(part as Container, step) : undefined;
  if (part === undefined) throw new Error(`has a $ref to ${reference}, which is not there`);
  return part;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function measureOwnCost(schema: JsonObject): SchemaCost {
  const patterns = [
    ...(typeof schema.pattern === 'string' ? [schema.pattern] : []),
    ...(isObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : []),
  ];
  const patternChars = patterns.reduce((sum, pattern) => sum + pattern.length, 0);
  requireSmall({ ...ONE, patternChars });
  const fixed = Object.keys(STEPS).reduce((sum, name) => sum + (Object.hasOwn(schema, name) ? STEPS[name]! : 0), 0);
  return {
    branches: 1,
    weight: COMPARED.reduce((sum, keyword) => sum + countNodes(schema[keyword]), 1),
    steps: patterns.reduce((sum, pattern) => sum + RE2JS.compile(pattern).programSize(), fixed),
    patternChars,
  };
}

function countNodes(value: Json | undefined): number {
  if (value === undefined) return 0;
  return isContainer(value) ? Object.values(value).reduce((sum: number, part) => sum + countNodes(part), 1) : 1;
}

/** What checking this value against a schema of this cost takes. */
function countWork({ weight, steps }: SchemaCost, value: Json): number {
  let [nodes, chars] = [0, 0];
  for (const stack: Json[] = [value]; stack.length; nodes++) {
    const part = stack.pop()!;
    if (typeof part === 'string') chars += part.length;
    else if (Array.isArray(part)) for (const item of part) stack.push(item);
    else if (isContainer(part))
      for (const [name, item] of Object.entries(part)) {
        chars += name.length;
        stack.push(item);
      }
  }
  return weight * nodes + steps * chars;
}
