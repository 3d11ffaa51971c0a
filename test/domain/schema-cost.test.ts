// Schemas of authors and bodies of strangers: what they may cost is counted, and what would cost too much is refused.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import { invalid } from '../../lib/domain/problems.ts';
import { NEW_PROTOCOL, NEW_TWIN, TRANSFER } from '../../lib/domain/schema/bodies.ts';
import { checkShape, listProblems } from '../../lib/domain/schema/check.ts';
import { compileProperty, measureCost } from '../../lib/domain/twin/property.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';

const test = suite('cost of schemas');

const chain = (levels: number, branch: (ref: string) => Json): JsonObject => {
  const names = Array.from({ length: levels }, (_, at) => [`a${at}`, branch(`#/$defs/a${at + 1}`)] as const);
  return { $ref: '#/$defs/a0', $defs: Object.fromEntries([...names, [`a${levels}`, { type: 'number' }]]) };
};
const twice = ($ref: string): Json => ({ anyOf: [{ $ref }, { $ref }] });
const why = (schema: Json): string => {
  try {
    compileProperty(schema);
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing';
};

test('schemas that lead back to themselves are refused, however they spell it', () => {
  const back = /leads back to where it stands/;
  assert.match(why({ $ref: '#' }), back);
  assert.match(why({ properties: { a: { $ref: '#' } } }), back);
  assert.match(why({ $ref: '#/%24defs/a', $defs: { a: { items: { $ref: '#/$defs/a' } } } }), back);
  assert.match(
    why({ $defs: { a: { not: { $ref: '#/$defs/b' } }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }),
    back,
  );
  assert.match(why({ $recursiveRef: '#' }), /\$recursiveRef, which is not allowed/);
  assert.match(why({ $dynamicRef: '#' }), /\$dynamicRef, which is not allowed/);
  assert.match(why({ $ref: '#/$defs/none' }), /which is not there/);
});

test('references count as often as they are followed', () => {
  assert.is(measureCost(chain(3, twice)).branches, 1 + 15 + 8 + 6);
  assert.match(why(chain(18, twice)), /more than 500 schemas when its references are followed/);
  assert.match(why(chain(200, twice)), /more than 500 schemas/, 'and counting them costs nothing');
  assert.is(why(chain(3, twice)), 'nothing');
  assert.equal(compileProperty(chain(3, twice))(1), []);
  assert.ok(compileProperty(chain(3, twice))('s').length > 0);
});

test('patterns are counted by their characters and by the steps that they compile to', () => {
  assert.match(
    why({ pattern: 'a'.repeat(DOMAIN_LIMITS.propertyPatternChars + 1) }),
    /patterns of more than 1000 characters/,
  );
  assert.match(why({ pattern: '((a{1,30}){1,30}){1,30}' }), /steps together|invalid repeat|bad repetition/i);
  assert.match(why({ patternProperties: { 'x{1000}y{1000}z{1000}': {}, 'x{1000}y{500}': {} } }), /steps together/);
});

test('a value that is too large for its schema is refused before it is checked', () => {
  const numbers = Array.from({ length: 100_000 }, (_, at) => at);
  const wide = compileProperty({ type: 'array', items: { enum: numbers.slice(0, 1_000) } });
  assert.match(wide(numbers)[0]!.error, 'too large to be checked');
  assert.equal(wide([1, 2, 3]), []);
  const budget = { left: 5_000 };
  assert.equal(compileProperty('array')(numbers.slice(0, 4_000), budget), []);
  assert.match(
    compileProperty('array')(numbers.slice(0, 4_000), budget)[0]!.error,
    'too large',
    'all share one budget',
  );
});

test('unique items are found among many, by value and not by the order of members', () => {
  const unique = compileProperty({ type: 'array', uniqueItems: true });
  const objects = Array.from({ length: 20_000 }, (_, a) => ({ a, b: [a] }));
  assert.equal(unique(objects), []);
  const doubled = [...objects, { b: [7], a: 7 }];
  assert.match(unique(doubled)[0]!.error, 'items ## 7 and 20000 are identical');
  assert.equal(unique([1, '1', true, 'true', null, 'null', [], {}, [1], ['1']]), []);
  assert.is(compileProperty({ uniqueItems: false })([1, 1]).length, 0);
});

const LONG: { readonly [what: string]: Json } = {
  'equal objects': Array.from({ length: 100_000 }, () => ({ a: 1 })),
  'different objects': Array.from({ length: 100_000 }, (_, a) => ({ a })),
  strings: Array.from({ length: 100_000 }, (_, at) => `did:x:${at}`),
};

test('a list that is too long is one problem, whatever is in it', async () => {
  for (const [what, list] of Object.entries(LONG)) {
    for (const field of ['alsoKnownAs', 'controller', 'services'])
      assert.equal(
        (await listProblems(NEW_TWIN, { type: 'Project', [field]: list })).map((problem) => problem.field),
        [`/${field}`],
        what,
      );
    assert.is((await listProblems(TRANSFER, { controller: list })).length, 1);
    assert.is((await listProblems(NEW_TWIN, { type: 'Project', relationships: { r: list } })).length, 1);
    assert.is((await listProblems(NEW_PROTOCOL, { type: 'Protocol', linkedClaim: list })).length, 1);
  }
  const names = Object.fromEntries((LONG.strings as string[]).map((name) => [name, 1]));
  assert.match((await listProblems(NEW_TWIN, names))[0]!.error, 'has 100000 fields that are not known');
  assert.match(
    (await listProblems(NEW_TWIN, { type: 'Project', relationships: names }))[0]!.error,
    'more than 256 properties',
  );
});

test('a refusal lists a hundred problems at most, and says how many more there are; long texts are cut', async () => {
  try {
    await checkShape(NEW_TWIN, { type: 'Project', services: Array.from({ length: 256 }, () => ({})) }, 'The twin');
    assert.unreachable();
  } catch (error) {
    const { message, details } = error as TwinlineError;
    assert.is(details.length, COMMON_LIMITS.problemDetails);
    assert.match(message, '768 problems');
    assert.match(message, 'The list ends after 100; 668 more are not in it.');
  }
  const long = invalid('x'.repeat(1_000_000), [{ field: '😀'.repeat(500_000), error: 'y'.repeat(1_000_000) }]);
  assert.ok(Buffer.byteLength(JSON.stringify([long.message, long.details])) < 10_000);
  assert.ok((long.details[0]!.field as string & { isWellFormed(): boolean }).isWellFormed());
});

test.run();
