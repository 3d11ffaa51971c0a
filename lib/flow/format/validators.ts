// The schemas of flows and of their tests, and what checks a value against them. A build has the checks as code, so that the compiler
// of schemas, which takes longer than all else that lint does, is not loaded; without a build they are compiled when first asked for.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Ajv, ValidateFunction } from 'ajv';
import { requireAjv } from '../../packages.ts';

/** `flow` for `menus/flow.schema.json`. */
export type SchemaName = 'flow' | 'test';

export const SCHEMA_NAMES: readonly SchemaName[] = ['flow', 'test'];

/** The text of a schema. */
export function readSchema(name: SchemaName): string {
  return readFileSync(fileURLToPath(import.meta.resolve(`#menus/${name}.schema.json`)), 'utf8');
}

/** Where a build keeps the check of a schema, beside this module. */
export const checkFile = (name: SchemaName) => `${name}.check.cjs`;

/** What checks a value against a schema. */
export function loadValidator(name: SchemaName): ValidateFunction {
  const built = fileURLToPath(new URL(checkFile(name), import.meta.url));
  return existsSync(built) ? createRequire(import.meta.url)(built) : compileSchema(name).validate;
}

/** Compiles the check of a schema, with its source. */
export function compileSchema(name: SchemaName): { readonly ajv: Ajv; readonly validate: ValidateFunction } {
  const ajv = new (requireAjv().Ajv)({
    allErrors: true,
    discriminator: true,
    strict: true,
    allowUnionTypes: true,
    verbose: true,
    code: { source: true },
  });
  ajv.addKeyword('defaultSnippets');
  return { ajv, validate: ajv.compile(JSON.parse(readSchema(name))) };
}
