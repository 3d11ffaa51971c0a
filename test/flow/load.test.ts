// From a file to a flow: every mistake in plain words at its place, all at once; folders of flows; the schema itself.

import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { ENGLISH } from '../../lib/flow/format/default-words.ts';
import { DEFAULT_KEYS, type Flow, type Migration, type Variable, type Way } from '../../lib/flow/format/flow.ts';
import { loadFlow, loadFlows, parseFlow } from '../../lib/flow/format/load.ts';
import { type Problem, problemLine } from '../../lib/flow/format/problem.ts';
import type { SchemaPart } from '../../lib/flow/format/schema.ts';
import { flowSource } from '../../lib/flow/format/source.ts';
import { durationMs } from '../../lib/flow/format/way.ts';
import { FLOW_LIMITS } from '../../lib/flow/limits.ts';
import { ACCEPT_RULES } from '../../lib/flow/run/accept.ts';
import { screenDefinitions } from '../../lib/flow/screens/kinds.ts';

const WALLET = readFileSync(new URL('./lint-cases/wallet.flow.json', import.meta.url), 'utf8');
const SCHEMA = JSON.parse(readFileSync(new URL('../../menus/flow.schema.json', import.meta.url), 'utf8')) as SchemaPart;

const test = suite('load');

const place = ({ line, column, code }: Problem) => `${line}:${column} ${code}`;
const words = ({ message, fix }: Problem) => `${message} ${fix}`;
const hello = (name = 'hello', text = 'Hello') => ({
  flow: name,
  version: 1,
  start: 'bye',
  screens: { bye: { type: 'end', text } },
});

test('the worked example is read as it is written', () => {
  const { flow, problems } = parseFlow(WALLET, 'menus/wallet.flow.json');
  assert.equal(problems, []);
  assert.equal(flow, JSON.parse(WALLET));
  assert.equal(parseFlow(`\uFEFF${WALLET.replaceAll('\n', '\r\n')}`, 'wallet.flow.json').flow, flow);
});

test('a text that is no JSON is explained at the spot of the slip', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['', '1:1', 'empty'],
    ['{"a":', '1:6', 'the { of line 1, column 1 is not closed'],
    ['{\n  "a": [1, 2', '2:13', 'the [ of line 2, column 8 is not closed'],
    ['{"a": "b', '1:9', 'the " of line 1, column 7 is not closed'],
    ['{"a": 1,\n}', '2:1', 'Remove the comma after the last entry'],
    ['{"a": [1,]}', '1:10', 'Remove the comma after the last entry'],
    ['{"a": }', '1:7', 'Write a value after the colon'],
    ['{"a": 1\n "b": 2}', '2:2', '"b" right after another value. Add a comma'],
    ['{"a" 1}', '1:6', '"1" right after another value'],
    ["{'a': 1}", '1:2', 'straight double quotes'],
    ['{"a": “b”}', '1:7', 'straight double quotes'],
    ['{a: 1}', '1:2', '"a" without quotes'],
    ['{"a": True}', '1:7', 'true, in small letters'],
    ['{"a": None}', '1:7', 'Write null'],
    ['// hi\n{}', '1:1', 'comment'],
    ['{"a": 01}', '1:7', 'number that JSON does not know'],
    ['{"a": "b\nc"}', '1:9', 'goes on over the end of its line'],
    ['{"a": "b\tc"}', '1:9', 'a tab or control character'],
    ['{"a": "\\d"}', '1:8', 'backslash'],
    ['{"a": [1}', '1:9', '"}", which closes nothing'],
    ['{"a": 1}}', '1:9', '"}", which closes nothing'],
    ['{"a": 1,, "b": 2}', '1:9', 'a comma with nothing before it'],
    ['{"a":\u00a01}', '1:6', 'special space'],
  ];
  for (const [text, at, says] of cases) {
    const { flow, problems } = parseFlow(text, 'x.flow.json');
    assert.is(flow, undefined);
    assert.equal(problems.map(place), [`${at} syntax`], text);
    assert.ok(words(problems[0]!).includes(says), `${text}: ${problemLine(problems[0]!)}`);
  }
});

test('everything that the schema refuses is told at once, each at its place', () => {
  const many = WALLET.replace('"version": 3', '"version": 0')
    .replace('"back": false', '"back": 1')
    .replace('"list"', '"l"');
  const places = parseFlow(many, 'wallet.flow.json').problems.map(place);
  assert.equal(places, ['4:14 bad-value', '62:15 wrong-type', '86:15 bad-value']);
});

test('a key that stands twice is an error at its second place', () => {
  const text = WALLET.replace('"track": "end"', '"track": "end", "text": "Bye"');
  const { problems } = parseFlow(text, 'wallet.flow.json');
  assert.equal(problems.map(place), ['97:92 duplicate-key']);
  assert.ok(words(problems[0]!).includes('"text" stands twice in screen "bye", first in line 97'));
});

test('names that lead to prototypes are refused as keys, at any depth', () => {
  const text = WALLET.replace('"tx": [] }', '"tx": [{ "__proto__": {} }] }');
  assert.equal(
    parseFlow(text, 'wallet.flow.json').problems.map(({ code, pointer }) => `${code} ${pointer}`),
    ['reserved-name /migrate/2/set/tx/0/__proto__'],
  );
});

test('files that are too large, nest too deep or hold too many screens are refused', () => {
  const code = (text: string) => parseFlow(text, 'x.flow.json').problems.map((problem) => problem.code);
  assert.equal(code(' '.repeat(FLOW_LIMITS.flowFileBytes + 1)), ['too-large']);
  assert.equal(code('é'.repeat(FLOW_LIMITS.flowFileBytes / 2 + 1)), ['too-large']);
  assert.equal(code('['.repeat(100_000)), ['too-deep']);
  const deep = (levels: number) =>
    JSON.stringify({ ...hello('x'), vars: { a: { type: 'object', default: null } } }).replace(
      'null',
      '['.repeat(levels) + ']'.repeat(levels),
    );
  assert.equal(code(deep(FLOW_LIMITS.flowFileDepth - 3)), []);
  assert.equal(code(deep(FLOW_LIMITS.flowFileDepth - 2)), ['too-deep']);
  const screens = Object.fromEntries(
    Array.from({ length: FLOW_LIMITS.screensPerFlow + 1 }, (_, at) => [`s${at}`, { type: 'end', text: '' }]),
  );
  assert.equal(code(JSON.stringify({ ...hello('x'), screens })), ['too-many-screens']);
});

test('a flow is named like its file', () => {
  const { flow, problems } = parseFlow(JSON.stringify(hello(), null, 1), 'menus/helo.flow.json');
  assert.equal(problems.map(place), ['2:10 name-mismatch']);
  assert.ok(words(problems[0]!).includes('"flow": "helo"') && words(problems[0]!).includes('hello.flow.json'));
  assert.ok(flow);
});

test('a value that cannot become a word is reported like any other', () => {
  const value = '{ "toString": 1 }';
  const wrong = (from: string) =>
    parseFlow(
      WALLET.replace(from, () => value),
      'wallet.flow.json',
    ).problems;
  for (const from of ['"gsm7"', '"list"', '"object"']) assert.ok(wrong(from).length, from);
});

test('reading any text or any JSON throws nothing, and every problem stands inside the text', () => {
  const broken = fc.tuple(
    fc.nat(WALLET.length),
    fc.nat(6),
    fc.constantFrom('', '"', '{', '}', ',', '\n', 'x', '\\', '1', '[', ':', '\u0000'),
  );
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    broken.map(([at, cut, put]) => WALLET.slice(0, at) + put + WALLET.slice(at + cut)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const { flow, problems } = parseFlow(text, 'wallet.flow.json');
      assert.ok(flow || problems.length);
      const lines = text.split('\n');
      for (const { line, column } of problems) assert.ok(line <= lines.length && column <= lines[line - 1]!.length + 1);
    }),
    { numRuns: 300 },
  );
});

test('positions: values, keys, characters behind escapes, and the nearest parent of what is not there', () => {
  const source = flowSource('x', '{\n  "a/b": [1, "x\\u00e9\\"y", { "~": null }]\n}');
  const cases: readonly [string, 'key' | number | undefined, number, number][] = [
    ['', undefined, 1, 1],
    ['/a~1b', undefined, 2, 10],
    ['/a~1b', 'key', 2, 3],
    ['/a~1b/1', undefined, 2, 14],
    ['/a~1b/1', 0, 2, 15],
    ['/a~1b/1', 1, 2, 16],
    ['/a~1b/1', 2, 2, 22],
    ['/a~1b/1', 3, 2, 24],
    ['/a~1b/2/~0', undefined, 2, 35],
    ['/a~1b/2/none/deeper', undefined, 2, 28],
    ['/a~1b/9', 3, 2, 3],
    ['/toString', 'key', 1, 1],
  ];
  for (const [pointer, at, line, column] of cases)
    assert.equal(source.locate(pointer, at), { line, column }, `${pointer} ${at}`);
});

test('one file: a good flow is returned, a bad one throws with every problem in words', async () => {
  await inFolder(async (folder, write) => {
    assert.equal(await loadFlow(await write('hello.flow.json', hello())), hello() as Flow);
    const bad = await write('bad.flow.json', { ...hello('bad'), start: 'by', vars: { a: { type: 'string', max: 0 } } });
    const invalid = await thrown(loadFlow(bad));
    assert.is(invalid.code, 'ERR_FLOW_INVALID');
    assert.ok(invalid.message.startsWith(`Cannot load the flow ${bad}.\n${bad}:1:`), invalid.message);
    const linted = await write('lint.flow.json', {
      ...hello('lint'),
      start: 'by',
      vars: { 'a b': { type: 'string' } },
    });
    const { message, cause } = await thrown(loadFlow(linted));
    const { problems } = cause as { problems: Problem[] };
    assert.equal(message.split('\n').slice(1), problems.map(problemLine));
    assert.equal(
      problems.map(({ code }) => code),
      ['dangling-target', 'bad-name'],
    );
    assert.ok(
      (await thrown(loadFlow(join(folder, 'none.flow.json')))).message.includes(
        'unreadable: The file cannot be read (ENOENT).',
      ),
    );
    await writeFile(
      join(folder, 'latin.flow.json'),
      Buffer.from(JSON.stringify(hello('latin', 'x\ny')).replace('x', '\xe9'), 'latin1'),
    );
    assert.match(
      (await thrown(loadFlow(join(folder, 'latin.flow.json')))).message,
      /:1:\d\d error encoding: The file is not UTF-8/,
    );
  });
});

test('a folder: every flow file with the others in reach, sorted; what has errors is left out with those that call it', async () => {
  await inFolder(async (folder, write) => {
    const calling = (name: string, other: string) => ({
      ...hello(name),
      start: 'go',
      screens: { go: { type: 'flow', flow: other, done: 'bye' }, bye: { type: 'end', text: 'Bye' } },
    });
    await write('b.flow.json', hello('b'));
    await write('a.flow.json', calling('a', 'b'));
    await write('broken.flow.json', { ...hello('broken'), start: 'x' });
    await write('c.flow.json', calling('c', 'broken'));
    await write('d.flow.json', calling('d', 'c'));
    await write('e.flow.json', calling('e', 'bb'));
    await write('notes.json', {});
    await write('._a.flow.json', {});
    await mkdir(join(folder, 'dir.flow.json'));
    const { flows, problems, files } = await loadFlows(folder);
    assert.equal([...flows.keys()], ['a', 'b']);
    assert.equal(
      files,
      ['a', 'b', 'broken', 'c', 'd', 'dir', 'e'].map((name) => join(folder, `${name}.flow.json`)),
    );
    assert.equal(
      problems.map(({ file, code }) => `${file.slice(folder.length + 1)} ${code}`),
      [
        'broken.flow.json dangling-target',
        'c.flow.json broken-flow',
        'd.flow.json broken-flow',
        'dir.flow.json unreadable',
        'e.flow.json unknown-flow',
      ],
    );
    assert.ok(
      words(problems.at(-1)!).includes('Did you mean "b"?') || words(problems.at(-1)!).includes('bb.flow.json'),
    );
  });
});

test('services that are known are checked in a folder too', async () => {
  await inFolder(async (folder, write) => {
    const screens = {
      go: { type: 'call', service: 'a.b', done: 'bye', fail: 'bye' },
      bye: { type: 'end', text: 'Bye' },
    };
    await write('x.flow.json', { ...hello('x'), start: 'go', screens });
    const codes = async (services?: Set<string>) =>
      (await loadFlows(folder, { services })).problems.map(({ code }) => code);
    assert.equal(await codes(), []);
    assert.equal(await codes(new Set(['a.c'])), ['unknown-service']);
  });
});

test('a folder that is missing, or is a file, is named with what to do', async () => {
  await inFolder(async (folder, write) => {
    const missing = await thrown(loadFlows(join(folder, 'none')));
    assert.is(missing.code, 'ERR_CONFIG');
    assert.ok(missing.message.includes(`${join(folder, 'none')}: it does not exist`));
    assert.ok((await thrown(loadFlows(await write('file', {})))).message.includes('it is a file'));
  });
});

test('the schema has the numbers and defaults of the code', () => {
  const { properties: p = {}, definitions: d = {} } = SCHEMA as {
    properties: Record<string, SchemaPart>;
    definitions: Record<string, SchemaPart>;
  };
  const numbers = (part: SchemaPart | undefined) =>
    part as unknown as { maximum: number; maxProperties: number; maxLength: number };
  assert.is(numbers(p.screens).maxProperties, FLOW_LIMITS.screensPerFlow);
  assert.is(numbers(p.limits!.properties!.chars).maximum, FLOW_LIMITS.screenSeptets);
  assert.is(numbers(d.range).maximum, COMMON_LIMITS.ussdTextChars);
  assert.is(numbers(d.accept!.properties!.pattern).maxLength, FLOW_LIMITS.patternChars);
  assert.is(numbers(d.call!.properties!.retry).maximum, FLOW_LIMITS.callRetriesMax);
  assert.is(durationMs(String(d.call!.properties!.timeout!.default)), COMMON_LIMITS.callTimeoutMs);
  const defaults = (part: SchemaPart) =>
    Object.fromEntries(Object.entries(part.properties!).map(([key, one]) => [key, one.default]));
  assert.equal(defaults(d.keys!), DEFAULT_KEYS);
  assert.equal({ ...defaults(p.labels!), wait: p.wait!.default }, ENGLISH);
  assert.equal(Object.keys(d.accept!.properties!).sort(), [...ACCEPT_RULES, 'sameAs'].sort());
});

test('the schema has the keys of the types, no more and no less, and the screens of lib/flow/screens', () => {
  const keys = (part: SchemaPart | undefined) => Object.keys(part?.properties ?? {}).sort();
  assert.equal(keys(SCHEMA), Object.keys(FLOW_KEYS).sort());
  for (const [name, expected] of Object.entries({ way: WAY_KEYS, variable: VARIABLE_KEYS, migration: MIGRATION_KEYS }))
    assert.equal(keys(SCHEMA.definitions![name]), Object.keys(expected).sort(), name);
  for (const [name, definition] of Object.entries(screenDefinitions()))
    assert.equal(SCHEMA.definitions![name], JSON.parse(JSON.stringify(definition)), `${name}: run "npm run guides"`);
});

// The compiler asks for every key of a type here, so that a new one cannot be forgotten in the schema.
type Keys<T> = { readonly [key in keyof Required<T>]: 1 };
const FLOW_KEYS: Keys<Flow> = {
  $schema: 1,
  flow: 1,
  version: 1,
  start: 1,
  langs: 1,
  timezone: 1,
  keys: 1,
  limits: 1,
  vars: 1,
  labels: 1,
  wait: 1,
  screens: 1,
  migrate: 1,
  note: 1,
};
const WAY_KEYS: Keys<Way> = { when: 1, set: 1, to: 1, error: 1, track: 1 };
const VARIABLE_KEYS: Keys<Variable> = { type: 1, default: 1, max: 1, sample: 1, secret: 1, private: 1, keep: 1 };
const MIGRATION_KEYS: Keys<Migration> = { screens: 1, set: 1, drop: 1 };

test.run();

type Write = (name: string, value: unknown) => Promise<string>;

async function inFolder(work: (folder: string, write: Write) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'twinline-flows-'));
  try {
    await work(folder, async (name, value) => {
      await writeFile(join(folder, name), JSON.stringify(value));
      return join(folder, name);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function thrown(work: Promise<unknown>): Promise<TwinlineError> {
  try {
    await work;
  } catch (error) {
    assert.instance(error, TwinlineError);
    return error as TwinlineError;
  }
  throw new Error('nothing was thrown');
}
