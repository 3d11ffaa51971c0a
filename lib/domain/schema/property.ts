// The property types that a protocol declares: names of types or JSON Schemas of strangers, made safe and compiled.

import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { RE2JS } from 're2js';
import type { Detail } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Json, JsonObject } from '../../store/store.ts';

/** What is wrong with a value, in words; empty when nothing. */
export type PropertyCheck = (value: Json) => readonly Detail[];

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
const REFUSED = ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$schema', '$vocabulary', '$async'];

/** Compiles one declared type; an Error says what is wrong with it. */
export function compileProperty(declared: Json): PropertyCheck {
  const schema = typeof declared === 'string' ? { type: declared } : (declared as JsonObject);
  checkForm(schema);
  const validate = compiler().compile(schema);
  return (value) => {
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => ({
      field: instancePath,
      error: message ?? 'is not what the protocol declares',
    }));
  };
}

// Making one takes some milliseconds, and it keeps every schema that it has seen: now and then it is made anew.
const COMPILED_MAX = 500;
let ajv: Ajv2020 | undefined;
let compiled = 0;

function compiler(): Ajv2020 {
  if (ajv && ++compiled < COMPILED_MAX) return ajv;
  compiled = 0;
  ajv = new Ajv2020({ allErrors: true, strict: false, code: { regExp } });
  formats.default(ajv);
  return ajv;
}

function checkForm(schema: JsonObject): void {
  const text = JSON.stringify(schema);
  if (Buffer.byteLength(text) > LIMITS.propertySchemaBytes)
    throw new Error(`has ${Buffer.byteLength(text)} bytes; ${LIMITS.propertySchemaBytes} are allowed`);
  for (const stack: [Json, number][] = [[schema, 1]]; stack.length; ) {
    const [part, depth] = stack.pop()!;
    if (typeof part !== 'object' || part === null) continue;
    if (depth > LIMITS.propertySchemaDepth) throw new Error(`has more than ${LIMITS.propertySchemaDepth} levels`);
    const refused = REFUSED.find((keyword) => Object.hasOwn(part, keyword));
    if (refused) throw new Error(`uses the keyword ${refused}, which is not allowed here`);
    const { $ref } = part as JsonObject;
    if ($ref !== undefined && !(typeof $ref === 'string' && $ref.startsWith('#')))
      throw new Error('has a $ref that points outside of it; use #/$defs/…');
    for (const child of Object.values(part)) stack.push([child, depth + 1]);
  }
}
