// Merge patches (RFC 7396) and JSON patches (RFC 6902), applied to a copy.

import { applyPatch, type Operation } from 'rfc6902';
import { isObject } from '../shape.ts';
import type { Json, JsonObject } from '../store/store.ts';
import { refuse } from './problems.ts';
import { checked } from './schema/check.ts';
import type { Schema } from './schema/parts.ts';

export type Patch = { readonly type: 'merge'; readonly patch: Json } | { readonly type: 'json'; readonly patch: Json };

const OPERATIONS: Schema = {
  type: 'array',
  maxItems: 1_000,
  items: {
    type: 'object',
    required: ['op', 'path'],
    properties: {
      op: { enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
      path: { type: 'string', format: 'json-pointer' },
      from: { type: 'string', format: 'json-pointer' },
    },
  },
};

/** `target` after the patch; `target` itself stays. Throws `invalid` or `test-failed`; then nothing has changed. */
export function patched(target: JsonObject, { type, patch }: Patch): Json {
  return type === 'merge' ? merged(target, patch) : operated(target, patch);
}

function merged(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, merged(result.get(key), value));
  }
  return Object.fromEntries(result);
}

function operated(target: JsonObject, patch: Json): Json {
  const operations = checked<Operation[]>(OPERATIONS, patch, 'The JSON Patch');
  const result = structuredClone(target);
  const failed = applyPatch(result, operations, {}).findIndex((error) => error !== null);
  if (failed < 0) return result;
  const { op, path } = operations[failed]!;
  const field = `/${failed}`;
  if (op === 'test')
    throw refuse('test-failed', `The test of ${path} does not hold, so nothing was changed.`, {
      details: [{ field, error: 'does not hold' }],
    });
  throw refuse('invalid', `Operation ${failed} of the JSON Patch cannot be applied, so nothing was changed.`, {
    details: [{ field, error: `"${op}" at ${path}: there is no such place` }],
  });
}
