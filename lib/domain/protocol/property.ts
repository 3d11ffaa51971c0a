// The property types that a protocol declares: names of types or JSON Schemas of strangers, made safe and compiled.

import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { Detail } from '../../errors.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { replaceUniqueItems } from '../schema/unique-items.ts';
import { costOf, workOf } from './cost.ts';

/** What checks may still cost; shared by the properties of one record. */
export interface WorkBudget {
  left: number;
}

/** What is wrong with a value, in words; empty when nothing. */
export type PropertyCheck = ((value: Json, budget?: WorkBudget) => readonly Detail[]) & {
  /** Schemas in the declared one, as often as references lead to each. */
  readonly branches: number;
};

// Patterns of strangers run in linear time.
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

/** Compiles one declared type; an Error says what is wrong with it. */
export function compileProperty(declared: Json): PropertyCheck {
  const text = JSON.stringify(declared);
  const known = checks.get(text);
  if (known) return known;
  const schema = typeof declared === 'string' ? { type: declared } : (declared as JsonObject);
  checkForm(schema);
  const cost = costOf(schema);
  const validate = FIRST.compile(schema);
  let validateAll: ValidateFunction | undefined;

  const check = (value: Json, budget = workBudget()): readonly Detail[] => {
    const work = workOf(cost, value);
    budget.left -= work;
    if (budget.left < 0) return [{ field: '', error: 'is too large to be checked as the protocol declares it' }];
    if (validate(value)) return [];
    if (work > ALL_ERRORS_WORK) return (validate.errors ?? []).slice(0, 1).map(detailOf);
    validateAll ??= ALL.compile(schema);
    validateAll(value);
    return (validateAll.errors ?? []).map(detailOf);
  };
  const made = Object.assign(check, { branches: cost.branches });
  checks.set(text, made);
  return made;
}

const checks = new LRUCache<string, PropertyCheck>({ max: DOMAIN_LIMITS.propertyChecksKept });

// With more, a list of everything that is wrong would be too long to be of use.
const ALL_ERRORS_WORK = 50_000;

function detailOf({ instancePath, message }: ErrorObject): Detail {
  return { field: instancePath, error: message ?? 'is not what the protocol declares' };
}

// Making one takes some milliseconds, and it keeps every schema that it has seen: now and then it is made anew.
const COMPILED_MAX = 500;

class Compiler {
  readonly #allErrors: boolean;
  #ajv: Ajv2020 | undefined;
  #compiled = 0;

  constructor(allErrors: boolean) {
    this.#allErrors = allErrors;
  }

  compile(schema: JsonObject): ValidateFunction {
    if (!this.#ajv || ++this.#compiled >= COMPILED_MAX) {
      this.#compiled = 0;
      this.#ajv = new Ajv2020({ allErrors: this.#allErrors, strict: false, code: { regExp } });
      formats.default(this.#ajv);
      replaceUniqueItems(this.#ajv);
    }
    return this.#ajv.compile(schema);
  }
}

/** Ends at the first error. */
const FIRST = new Compiler(false);
const ALL = new Compiler(true);

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
