// Merge patches (RFC 7396) and JSON patches (RFC 6902), applied to a copy.

import { COMMON_LIMITS } from '../../common-limits.ts';
import { isObject } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { applyJsonPatch, type Operation } from '../../json/patch.ts';
import { flawOfMade } from '../../json/reader.ts';
import type { Schema } from '../../json/schema.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { invalid, refuse } from '../problems.ts';
import { checkShape } from '../schema/check.ts';

export type Patch = { readonly type: 'merge'; readonly patch: Json } | { readonly type: 'json'; readonly patch: Json };

const OPERATIONS: Schema = {
  type: 'array',
  maxItems: DOMAIN_LIMITS.patchOperations,
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
export async function applyPatch(target: JsonObject, { type, patch }: Patch): Promise<JsonObject> {
  const after = type === 'merge' ? mergePatch(target, patch) : await applyOperations(target, patch);
  if (!isObject(after)) throw invalid('A record is an object.', [{ field: '/', error: 'must be an object' }]);
  const flaw = flawOfMade(after as JsonObject);
  if (flaw) throw refuse('invalid', `After the patch, the record ${flaw.words}, so nothing was changed.`);
  return after as JsonObject;
}

function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, mergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

async function applyOperations(target: JsonObject, patch: Json): Promise<Json> {
  const operations = await checkShape<Operation[]>(OPERATIONS, patch, 'The JSON Patch');
  const result = applyJsonPatch(target, operations, { copyBytes: COMMON_LIMITS.documentBytes });
  if ('value' in result) return result.value;
  const { kind, at, error } = result.fault;
  const { op, path } = operations[at]!;
  const field = `/${at}`;
  if (kind === 'test')
    throw refuse('test-failed', `The test of ${path} does not hold, so nothing was changed.`, {
      details: [{ field, error }],
    });
  throw refuse('invalid', `Operation ${at} of the JSON Patch cannot be applied, so nothing was changed.`, {
    details: [{ field, error: `"${op}" at ${path}: ${error}` }],
  });
}
