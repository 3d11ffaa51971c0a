// What a JSON Schema of a stranger costs: how many schemas and pattern steps it is when all its references are expanded.

import { RE2JS } from 're2js';
import { type Container, childAt, isContainer, parsePointer } from '../../json/patch.ts';
import { isObject } from '../../shape.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import { DOMAIN_LIMITS } from '../limits.ts';

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

/** The cost; an Error says which limit it breaks, or that a `$ref` leads nowhere or back to itself. */
export function costOf(schema: JsonObject): SchemaCost {
  const known = new Map<Json, SchemaCost>();
  const entered = new Set<Json>();

  function walk(part: Json): SchemaCost {
    if (!isObject(part)) return ONE;
    const before = known.get(part as JsonObject);
    if (before) return before;
    if (entered.has(part as JsonObject)) throw new Error('has a $ref that leads back to where it stands');
    entered.add(part as JsonObject);
    const children = partsOf(part as JsonObject, schema).map(walk);
    const cost = [ownCost(part as JsonObject), ...children].reduce(add);
    requireSmall(cost);
    entered.delete(part as JsonObject);
    known.set(part as JsonObject, cost);
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

/** The schemas that are asked when this one is. */
function partsOf(schema: JsonObject, root: JsonObject): Json[] {
  const { $ref } = schema;
  return [
    ...SINGLE.flatMap((keyword) => (Object.hasOwn(schema, keyword) ? [schema[keyword]!] : [])),
    ...LISTS.flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : [])),
    ...MAPS.flatMap((keyword) => (isObject(schema[keyword]) ? Object.values(schema[keyword] as JsonObject) : [])),
    ...(typeof $ref === 'string' ? [partAt(root, $ref)] : []),
  ];
}

function partAt(root: JsonObject, reference: string): Json {
  let part: Json | undefined = root;
  for (const step of parsePointer(decoded(reference.slice(1))) ?? [''])
    part = isContainer(part) ? childAt(part as Container, step) : undefined;
  if (part === undefined) throw new Error(`has a $ref to ${reference}, which is not there`);
  return part;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function ownCost(schema: JsonObject): SchemaCost {
  const patterns = [
    ...(typeof schema.pattern === 'string' ? [schema.pattern] : []),
    ...(isObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : []),
  ];
  const patternChars = patterns.reduce((sum, pattern) => sum + pattern.length, 0);
  requireSmall({ ...ONE, patternChars });
  const fixed = Object.keys(STEPS).reduce((sum, name) => sum + (Object.hasOwn(schema, name) ? STEPS[name]! : 0), 0);
  return {
    branches: 1,
    weight: COMPARED.reduce((sum, keyword) => sum + nodesIn(schema[keyword]), 1),
    steps: patterns.reduce((sum, pattern) => sum + RE2JS.compile(pattern).programSize(), fixed),
    patternChars,
  };
}

function nodesIn(value: Json | undefined): number {
  if (value === undefined) return 0;
  return isContainer(value) ? Object.values(value).reduce((sum: number, part) => sum + nodesIn(part), 1) : 1;
}

/** What checking this value against a schema of this cost takes. */
export function workOf({ weight, steps }: SchemaCost, value: Json): number {
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
