// What checks a value against the schemas of flows and of their tests. The build replaces this module by the compiled checks: compiling
// a schema takes longer than all else that lint does.

import { Ajv, type CodeOptions, type ErrorObject } from 'ajv';
import { SCHEMAS, type SchemaName } from './schemas.ts';

/** Says whether the value keeps the schema; `errors` is what stands against it. */
export interface SchemaCheck {
  (value: unknown): boolean;
  errors?: readonly ErrorObject[] | null;
}

export const checkFlow: SchemaCheck = compileWhenUsed('flow');
export const checkFlowTests: SchemaCheck = compileWhenUsed('test');

/** Knows the schemas by their names. */
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
