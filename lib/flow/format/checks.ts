// Validates values against the schemas of flows and tests. The build replaces this module with precompiled validators, because compiling
// a schema takes longer than everything else in lint.

import { Ajv, type CodeOptions, type ErrorObject } from 'ajv';
import { SCHEMAS, type SchemaName } from './schemas.ts';

/** Whether a value conforms to the schema; `errors` holds the violations. */
export interface SchemaCheck {
  (value: unknown): boolean;
  errors?: readonly ErrorObject[] | null;
}

export const checkFlow: SchemaCheck = compileWhenUsed('flow');
export const checkFlowTests: SchemaCheck = compileWhenUsed('test');

/** An Ajv instance with all schemas by name. */
export function schemaCompiler(code: CodeOptions = {}): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    discriminator: true,
    strict: true,
    allowUnionTypes: true,
    verbose: true,
    code,
  });
  ajv.addKeyword('defaultSnippets');
  for (const [name, schema] of Object.entries(SCHEMAS)) ajv.addSchema(schema, name);
  return ajv;
}

function compileWhenUsed(name: SchemaName): SchemaCheck {
  let compiled: SchemaCheck | undefined;
  const check: SchemaCheck = (value) => {
    compiled ??= schemaCompiler().getSchema(name)!;
    const isValid = compiled(value);
    check.errors = compiled.errors ?? null;
    return isValid;
  };
  return check;
}
