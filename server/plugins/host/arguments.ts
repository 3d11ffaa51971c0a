// Arguments of tools held against their schemas, before any handler sees them.

import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonObject } from '../../../lib/store/store.ts';

export type ArgumentCheck =
  /** Gives what is wrong with arguments, in words; '' when nothing is. */
  | { readonly kind: 'check'; readonly wrongWith: (args: JsonObject) => string }
  /** The schema is none; why. */
  | { readonly kind: 'broken'; readonly why: string };

const DRAFT_7 = /draft-07/;

/** Compiles a schema: JSON Schema 2020-12, or draft 7 where its `$schema` says so. */
export function argumentCheck(schema: JsonObject): ArgumentCheck {
  const ajv = new (DRAFT_7.test(String(schema.$schema)) ? Ajv : Ajv2020)({ strict: false, allErrors: true });
  formats.default(ajv);
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(schema);
  } catch (error) {
    return { kind: 'broken', why: (error as Error).message };
  }
  return {
    kind: 'check',
    wrongWith: (args) => (validate(args) ? '' : ajv.errorsText(validate.errors, { dataVar: 'arguments' })),
  };
}
