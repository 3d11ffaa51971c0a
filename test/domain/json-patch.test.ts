// JSON Patch against the test suite of the standard, and against patches that want too much or lead astray.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import { applyPatch } from '../../lib/domain/twin/patch.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { applyJsonPatch, type Operation } from '../../lib/json/patch.ts';
import { rejection } from '../engine/support.ts';

const test = suite('JSON Patch');

interface Vector {
  readonly comment?: string;
  readonly doc: Json;
  readonly patch: readonly Operation[];
  readonly expected?: Json;
  readonly error?: string;
  readonly disabled?: boolean;
}

const resolve = createRequire(import.meta.url).resolve;
const vectors = ['json-patch-test-suite/tests.json', 'json-patch-test-suite/spec_tests.json'].flatMap(
  (name) => JSON.parse(readFileSync(resolve(name), 'utf8')) as Vector[],
);
const KNOWN = ['add', 'remove', 'replace', 'move', 'copy', 'test'];
// What is no patch at all is refused before anything is applied; see the schema in lib/domain/twin/patch.ts.
const isPatch = ({ patch }: Vector) =>
  patch.every(({ op, path, from }) => {
    const needsFrom = op === 'move' || op === 'copy';
    return KNOWN.includes(op) && typeof path === 'string' && (!needsFrom || typeof from === 'string');
  });

test('the vectors of the standard', () => {
  const used = vectors.filter((vector) => !vector.disabled && isPatch(vector));
  assert.ok(used.length > 80, String(used.length));
  for (const { comment, doc, patch, expected, error } of used) {
    const before = JSON.stringify(doc);
    const result = applyJsonPatch(doc, patch, { copyBytes: 10_000 });
    const name = comment ?? JSON.stringify(patch);
    if (error !== undefined) assert.ok('fault' in result, `${name}: ${error}`);
    else assert.ok('value' in result, `${name}: ${JSON.stringify(result)}`);
    if (expected !== undefined && 'value' in result) assert.equal(result.value, expected, name);
    assert.is(JSON.stringify(doc), before, 'the target stays');
  }
});

const refusalOf = (target: JsonObject, patch: Json): Promise<TwinlineError> =>
  rejection(applyPatch(target, { type: 'json', patch }));

test('what is no patch is refused with the place of the fault', async () => {
  for (const patch of [
    [{ op: 'spam', path: '/a' }],
    [{ op: 'copy', path: '/a' }],
    [{ op: 'move', path: '/a' }],
    [{ op: 'add' }],
    [{ op: 'add', path: 'a', value: 1 }],
    [{ op: 'add', path: '/a~2', value: 1 }],
    [{ op: 'add', path: '/a' }],
    { op: 'add', path: '/a', value: 1 },
  ] as Json[]) {
    const { reason, details } = await refusalOf({ a: 1 }, patch);
    assert.is(reason, 'invalid', JSON.stringify(patch));
    assert.ok(details.length > 0);
  }
});

test('a patch that copies what it copied ends at the size of a record', async () => {
  const operations = Array.from({ length: 60 }, (_, at) => ({
    op: 'copy',
    from: '/metadata',
    path: `/metadata/c${at}`,
  }));
  const { reason, details } = await refusalOf({ metadata: { name: 'x'.repeat(400) } }, operations);
  assert.is(reason, 'invalid');
  assert.match(details[0]!.error, 'copies more than a record may hold');
  assert.match(details[0]!.field, /^\/1\d$/, 'after a few operations, not at the end');
});

test('copies that are taken away again count all the same', async () => {
  const operations = Array.from({ length: 50 }, () => [
    { op: 'copy', from: '/list', path: '/copy' },
    { op: 'remove', path: '/copy' },
  ]).flat();
  const list = Array.from({ length: 50_000 }, (_, at) => at);
  assert.match((await refusalOf({ list }, operations)).details[0]!.error, 'copies more than');
});

test('a patch has at most so many operations', async () => {
  const of = (count: number) => Array.from({ length: count }, () => ({ op: 'test', path: '/a', value: 1 }));
  assert.equal(await applyPatch({ a: 1 }, { type: 'json', patch: of(DOMAIN_LIMITS.patchOperations) }), { a: 1 });
  assert.match(
    (await refusalOf({ a: 1 }, of(DOMAIN_LIMITS.patchOperations + 1))).details[0]!.error,
    'must NOT have more than 100',
  );
});

test('patch after patch does not nest a record deeper than a body may', async () => {
  let record: JsonObject = { a: {} };
  const nest = async () => {
    let path = '';
    for (let at: Json | undefined = record; at !== undefined; at = (at as JsonObject).a) path += '/a';
    record = await applyPatch(record, { type: 'json', patch: [{ op: 'add', path, value: {} }] });
  };
  const nestAll = async () => {
    for (let round = 0; round <= COMMON_LIMITS.jsonBodyDepth; round++) await nest();
  };
  assert.match((await rejection(nestAll())).message, 'nests deeper than 64 levels');
});

test('a pointer leads through own members only, and never through __proto__', async () => {
  const target = { metadata: { list: [1] } };
  for (const path of ['/metadata/__proto__/x', '/metadata/__proto__', '/__proto__/x', '/metadata/list/__proto__/x'])
    for (const op of ['add', 'replace', 'remove', 'test'] as const) {
      const { reason, details } = await refusalOf(target, [{ op, path, value: 1 }]);
      assert.is(reason, 'invalid', `${op} ${path}`);
      assert.match(details[0]!.error, path);
    }
  for (const from of ['/metadata/__proto__', '/metadata/constructor', '/metadata/list/length'])
    for (const op of ['copy', 'move'])
      assert.match((await refusalOf(target, [{ op, from, path: '/metadata/x' }])).details[0]!.error, from);
  for (const path of ['/metadata/constructor/prototype/x', '/metadata/toString/x', '/metadata/list/length', '/a/b'])
    for (const op of ['add', 'replace', 'remove'])
      assert.match((await refusalOf(target, [{ op, path, value: 1 }])).details[0]!.error, path);
  assert.not.ok('x' in {}, 'nothing of it reaches other objects');
});

test('a merge patch makes members of its own, whatever they are called', async () => {
  const patch = JSON.parse('{"metadata":{"__proto__":{"x":1},"constructor":{"y":2},"toString":null}}');
  assert.match(
    (await rejection(applyPatch({ metadata: {} }, { type: 'merge', patch }))).message,
    'has the name __proto__',
  );
  const after = await applyPatch({ metadata: {} }, { type: 'merge', patch: { metadata: { constructor: { y: 2 } } } });
  assert.is(JSON.stringify(after), '{"metadata":{"constructor":{"y":2}}}');
  assert.not.ok('x' in {});
});

test.run();
