// The one reader of JSON texts: what it refuses, where it says it is, and that ordinary texts are read as ever.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { flawOfValue, readJson } from '../../lib/json/reader.ts';

const test = suite('the reader of JSON');

const flawOf = (text: string) => {
  const reading = readJson(text);
  return 'flaw' in reading ? `${reading.flaw.kind} ${reading.flaw.pointer}` : undefined;
};

const isPlain = (name: string) => !/__proto__|\0|\ufffd/.test(name);

test('numbers that a double cannot hold are refused with their place', () => {
  for (const [text, pointer] of [
    ['1e999', ''],
    ['-1e999', ''],
    ['{"a":[0,{"b":1E+400}]}', '/a/1/b'],
    ['{"a/b":{"~":-1e309}}', '/a~1b/~0'],
    ['{"say \\"1\\":":{"\\u0061":[[],{},1e999]}}', '/say "1":/a/2'],
    [`{"x":"1e999","y":${'9'.repeat(310)}}`, '/y'],
    ['{"n":9007199254740993}', '/n'],
    ['[-9007199254740993]', '/0'],
    ['{"list":[1,2],"n":123456789012345678901}', '/n'],
    ['[9007199254740993.0]', '/0'],
    ['[9007199254740993e0]', '/0'],
    ['[900719925474099.3e1]', '/0'],
    ['[9007199254740993.5]', '/0'],
    ['{"a":1e-400}', '/a'],
    [`{"a":-0.${'0'.repeat(400)}1}`, '/a'],
    [`[9007199254740993.${'0'.repeat(500_000)}1]`, '/0'],
  ] as const)
    assert.is(flawOf(text), `number ${pointer}`, text);
});

test('numbers that keep their value are read, and texts that look like numbers are texts', () => {
  for (const text of [
    '9007199254740991',
    '9007199254740992',
    '9007199254740994',
    '45325085002252890',
    '1e308',
    '1e20',
    '90071992547409920e-1',
    '9007199254740992.00',
    '1.7976931348623157e308',
    '5e-324',
    '0e-400',
    '0.0000000000000000000',
    '100000000000000000000',
    '0.1',
    '1234567890123456.5',
    '"9007199254740993"',
    '{"1e999":"-1e999","9007199254740993":["12345678901234567890"]}',
    '{"a":"\\\\","b":"\\"1e999"}',
  ]) {
    const reading = readJson(text);
    assert.ok('value' in reading, text);
    assert.equal(reading, { value: JSON.parse(text) });
  }
});

test('every other flaw has its kind and its place', () => {
  assert.is(flawOf('{'), 'syntax ');
  assert.is(flawOf(`${'['.repeat(65)}${']'.repeat(65)}`), 'depth ');
  assert.is(flawOf(`${'['.repeat(64)}${']'.repeat(64)}`), undefined);
  assert.is(flawOf('['.repeat(500_000)), 'syntax ');
  assert.is(flawOf('{"a":["\\ud800"]}'), 'text /a/0');
  assert.is(flawOf('{"a":"\\u0000"}'), 'text /a');
  assert.is(flawOf('{"\\udfff":1}'), 'text ');
  assert.is(flawOf('{"a":"\\ud83d\\ude00"}'), undefined);
  assert.is(flawOf(Buffer.from([0x22, 0xff, 0x22]).toString()), 'encoding ');
  assert.is(flawOf('{"a":{"__proto__":1}}'), 'name /a/__proto__');
  assert.is(flawOf('{"a":{"\\u005f_proto__":1}}'), 'name /a/__proto__');
  assert.is(flawOf('{"a":"__proto__"}'), undefined);
});

test('a name that an object has twice is refused with its place, however it is written', () => {
  assert.is(flawOf('{"a":1,"a":1}'), 'name /a');
  assert.is(flawOf('{"a":[{"b":{},"c":"x","b" : 2}]}'), 'name /a/0/b');
  assert.is(flawOf('{"a":1,"\\u0061":2}'), 'name /a');
  assert.is(flawOf('{"a/":{"~":0,"~":1}}'), 'name /a~1/~0');
  assert.is(flawOf('{"1":1,"\\"1":2,"1\\":":3}'), undefined);
  assert.is(flawOf('[{"a":1},{"a":"\\"a\\":1"}]'), undefined);
  const object = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(object, fc.nat(), (names, at) => {
      const members = names.filter(isPlain).map((name) => `${JSON.stringify(name)}:0`);
      if (!members.length) return;
      assert.is(flawOf(`{${members.join()}}`), undefined);
      const again = members[at % members.length]!;
      assert.match(flawOf(`{"x":[{${[...members, again].join()}}]}`)!, /^name \/x\/0\//);
    }),
    { numRuns: 200 },
  );
});

test('values that others have read are held to the same rules', () => {
  assert.equal(flawOfValue({ a: [1, Number.POSITIVE_INFINITY] })?.pointer, '/a/1');
  assert.equal(flawOfValue({ a: [Number.NaN] })?.kind, 'number');
  assert.equal(flawOfValue({ a: 'x\0' })?.kind, 'text');
  assert.is(flawOfValue({ a: [1, 'x', null, true, {}] }), undefined);
});

test('whatever JSON.stringify writes is read as it was, but for what could not be kept', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      const reading = readJson(text);
      if ('value' in reading) assert.is(JSON.stringify(reading.value), JSON.stringify(JSON.parse(text)));
      else assert.ok(['text', 'encoding', 'name'].includes(reading.flaw.kind), reading.flaw.kind);
    }),
    { numRuns: 500 },
  );
});

test.run();
