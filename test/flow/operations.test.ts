// Edits by form: what an operation means is said again on plain values, and everything else keeps its bytes.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { applyEdits } from '../../lib/flow/editing/edited-text.ts';
import { flowForm } from '../../lib/flow/editing/form.ts';
import { editFlow, type FlowOperation } from '../../lib/flow/editing/operations.ts';
import { sayExpression } from '../../lib/flow/editing/plain-words.ts';
import { parseFlow } from '../../lib/flow/format/load.ts';
import type { TextEdit } from '../../lib/flow/format/problem.ts';
import { schemaAt } from '../../lib/flow/format/schema.ts';
import { flowSource, parsePointer, pointerTo } from '../../lib/flow/format/source.ts';
import { checkFlow } from '../../lib/flow/lint/lint.ts';
import { flowCompiler } from '../../lib/flow/run/compile.ts';
import { parseFlowTests } from '../../lib/flow/testing/parse.ts';
import { runFlowTests } from '../../lib/flow/testing/run.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';

const test = suite('edits by form');
const seed = Number(process.env.TEST_SEED ?? 1);

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const FLOWS = ['menus/main.flow.json', 'menus/wallet.flow.json', 'menus/assistant.flow.json'].map(read);
// The same flows as other people write files.
const STYLES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => `\uFEFF${text}`,
  (text) => JSON.stringify(JSON.parse(text), null, '\t'),
  (text) => JSON.stringify(JSON.parse(text), null, 4),
  (text) => JSON.stringify(JSON.parse(text)),
];

type Flow = JsonObject & { start: string; screens: { [id: string]: JsonObject } };
const parse = (text: string) => JSON.parse(text.replace('\uFEFF', '')) as Flow;

// --- the oracle: operations on plain values ---

const at = (root: Json, pointer: string): Json | undefined =>
  parsePointer(pointer).reduce<Json | undefined>((value, step) => (value as JsonObject | undefined)?.[step], root);

/** The value with all ids of screens mapped, by the names of keys that hold them. */
function mapIds(value: Json, map: (id: string) => string, key = ''): Json {
  const isId = ['to', 'start', 'else', 'done', 'fail', 'back'].includes(key);
  if (typeof value === 'string') return isId ? map(value) : value;
  if (Array.isArray(value)) return value.map((one) => mapIds(one, map));
  if (value === null || typeof value !== 'object') return value;
  const isName = ['vars', 'set', 'with', 'keys', 'labels', 'text', 'output'].includes(key);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, isName ? (one as Json) : mapIds(one as Json, map, name)]),
  );
}

const withScreens = (flow: Flow, change: (entries: [string, JsonObject][]) => [string, JsonObject][]): Flow => ({
  ...flow,
  screens: Object.fromEntries(change(Object.entries(flow.screens))),
});

function put(root: Json, [step, ...rest]: readonly string[], value: Json): Json {
  if (step === undefined) return value;
  if (Array.isArray(root)) return root.map((one, index) => (String(index) === step ? put(one, rest, value) : one));
  const own = (root ?? {}) as JsonObject;
  return { ...own, [step]: put(own[step] ?? {}, rest, value) };
}

/** What the flow is afterwards, where that is plain; the order of keys aside. */
function expected(flow: Flow, operation: FlowOperation): Flow | undefined {
  switch (operation.do) {
    case 'set':
      return operation.value === undefined
        ? undefined
        : (put(flow, parsePointer(operation.pointer), operation.value) as Flow);
    case 'move': {
      const steps = parsePointer(operation.pointer);
      const list = [...(at(flow, pointerTo(...steps.slice(0, -1))) as Json[])];
      const from = Number(steps.at(-1));
      const to = from + operation.by;
      if (to >= 0 && to < list.length) [list[from], list[to]] = [list[to]!, list[from]!];
      return put(flow, steps.slice(0, -1), list) as Flow;
    }
    case 'rename': {
      const { screen, to } = operation;
      const renamed = withScreens(flow, (entries) => entries.map(([id, one]) => [id === screen ? to : id, one]));
      return mapIds(renamed, (id) => (id === screen ? to : id)) as Flow;
    }
    case 'delete': {
      const { screen, lead } = operation;
      if (lead === undefined) return undefined;
      return mapIds(
        withScreens(flow, (entries) => entries.filter(([id]) => id !== screen)),
        (id) => (id === screen ? lead : id),
      ) as Flow;
    }
    case 'duplicate':
      return undefined;
    default:
      return undefined;
  }
}

// --- generated operations ---

const words = fc.constantFrom(
  'Hi',
  'A longer text that says more than one needs to know about prices of maize, beans and groundnuts',
  'Ça va "ok"\nyes',
  '',
);

function pointersOf(value: Json, place = ''): string[] {
  if (value === null || typeof value !== 'object') return [place];
  return [place, ...Object.entries(value).flatMap(([key, one]) => pointersOf(one as Json, place + pointerTo(key)))];
}

function operationFor(flow: Flow): fc.Arbitrary<FlowOperation> {
  const ids = Object.keys(flow.screens);
  const screen = fc.constantFrom(...ids);
  const pointers = pointersOf(flow.screens as Json, '/screens').filter((pointer) => parsePointer(pointer).length > 2);
  const texts = pointers.filter((pointer) => pointer.endsWith('/text'));
  const parts = pointers.filter((pointer) => /\/(options|done|branch)\/\d+$/.test(pointer));
  const ways = pointers.filter((pointer) => pointer.endsWith('/to') && typeof at(flow, pointer) === 'string');
  const done = ids.filter((id) => 'done' in flow.screens[id]!).map((id) => pointerTo('screens', id, 'done'));
  const fresh = fc.constantFrom('extra', 'help', 'thanks2', 'zz').filter((id) => !ids.includes(id));
  return fc.oneof(
    fc.record({
      do: fc.constant('set' as const),
      pointer: fc.constantFrom(...texts),
      value: fc.oneof(words, fc.record({ en: words, sw: words })),
    }),
    fc.record({
      do: fc.constant('set' as const),
      pointer: screen.map((id) => pointerTo('screens', id, 'note')),
      value: words,
    }),
    fc.record({
      do: fc.constant('set' as const),
      pointer: fc.constantFrom('/labels/back', '/note', '/labels/more'),
      value: words,
    }),
    fc.record({
      do: fc.constant('move' as const),
      pointer: fc.constantFrom(...parts),
      by: fc.constantFrom(-1 as const, 1 as const),
    }),
    fc.record({ do: fc.constant('rename' as const), screen, to: fresh }),
    fc
      .record({ do: fc.constant('delete' as const), screen, lead: screen })
      .filter((one) => one.screen !== one.lead && ids.length > 1),
    fc.record({ do: fc.constant('delete' as const), screen }).filter(() => ids.length > 1),
    fc.record({ do: fc.constant('duplicate' as const), screen }),
    ...(done.length
      ? [
          fc.record({
            do: fc.constant('way' as const),
            pointer: fc.constantFrom(...done),
            when: fc.constant("lang == 'en'"),
            to: screen,
          }),
        ]
      : []),
    fc.record({
      ...{
        do: fc.constant('add' as const),
        type: fc.constantFrom('menu', 'input', 'list', 'call', 'branch', 'end'),
        id: fresh,
      },
      ...{
        text: words.filter(Boolean),
        after: screen,
        way: fc.constantFrom(...ways),
        lines: fc.constant(['One', 'Two']),
      },
      ...{ answer: fc.constantFrom('text', 'number', 'pin', 'phone', 'date'), service: fc.constant('account.exists') },
    }) as fc.Arbitrary<FlowOperation>,
  );
}

const invert = (text: string, edits: readonly TextEdit[]): TextEdit[] => {
  let shift = 0;
  return edits.map(({ from, to, insert }) => {
    const place = from + shift;
    shift += insert.length - (to - from);
    return { from: place, to: place + insert.length, insert: text.slice(from, to) };
  });
};

/** Ids of the screens that an operation may touch. */
function touched(flow: Flow, operation: FlowOperation): Set<string> {
  const own =
    'pointer' in operation ? parsePointer(operation.pointer)[1]! : 'screen' in operation ? operation.screen : '';
  const way = operation.do === 'add' && operation.way !== undefined ? parsePointer(operation.way)[1]! : '';
  const leads = (id: string, to: string) =>
    JSON.stringify(mapIds(flow.screens[id]!, (one) => (one === to ? '\0' : one), '')) !==
    JSON.stringify(flow.screens[id]);
  const references =
    operation.do === 'rename' || operation.do === 'delete'
      ? Object.keys(flow.screens).filter((id) => leads(id, operation.screen))
      : [];
  return new Set([own, way, ...references]);
}

const errorsOf = (text: string) =>
  checkFlow(text, 'x.flow.json', {
    services: new Set([
      'account.exists',
      'account.create',
      'account.verifyPin',
      'account.changePin',
      'http.get',
      'http.post',
    ]),
  })
    .problems.filter(({ severity, code }) => severity === 'error' && code !== 'name-mismatch')
    .map(({ code }) => code);

// Lint names the ways that a deleted screen leaves behind; nothing else may leave these.
const BROKEN = ['syntax', 'duplicate-key', 'unknown-key', 'missing-key', 'wrong-type', 'dangling-target'];

test('a generated operation does what it says, keeps the bytes of all other screens, and is undone to the same bytes', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FLOWS).chain((text) => fc.tuple(fc.constant(text), operationFor(parse(text)))),
      fc.constantFrom(...STYLES),
      ([plain, generated], style) => {
        const operation = JSON.parse(JSON.stringify(generated)) as FlowOperation;
        const text = style(plain);
        const before = parse(text);
        const { edits, screen } = editFlow(text, operation);
        const after = applyEdits(text, edits);
        const note = `${JSON.stringify(operation)}\n${after}`;
        // In order and apart.
        for (const [index, edit] of edits.entries())
          assert.ok(edit.from <= edit.to && edit.from >= (edits[index - 1]?.to ?? 0), note);
        assert.is(applyEdits(after, invert(text, edits)), text, note);
        const flow = parse(after);
        const wanted = expected(before, operation);
        if (wanted) assert.equal(flow, wanted, note);
        if (screen !== undefined) assert.ok(screen in flow.screens, note);
        const changed = touched(before, operation);
        const [old, now] = [flowSource('', text.replace('\uFEFF', '')), flowSource('', after.replace('\uFEFF', ''))];
        for (const id of Object.keys(before.screens)) {
          if (changed.has(id) || !(id in flow.screens)) continue;
          const [one, other] = [old, now].map((source) => {
            const span = source.span(pointerTo('screens', id))!;
            return source.text.slice(span.from, span.to);
          });
          assert.is(other, one, `${id}: ${note}`);
        }
        const known = errorsOf(text);
        const fresh = errorsOf(after).filter((code) => !known.includes(code));
        // Renamed and duplicated flows mean the same; what else is written may be against a rule, but never against the format.
        if (operation.do === 'rename' || operation.do === 'duplicate') assert.equal(fresh, [], note);
        const isLoose = operation.do === 'delete' && operation.lead === undefined;
        const broken = isLoose ? ['syntax', 'duplicate-key', 'unknown-key'] : BROKEN;
        assert.equal(
          fresh.filter((code) => broken.includes(code)),
          [],
          note,
        );
      },
    ),
    { seed, numRuns: 120 },
  );
});

test('every line stays as long as people like to read, where the author kept to that', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FLOWS).chain((text) => fc.tuple(fc.constant(text), operationFor(parse(text)))),
      ([text, operation]) => {
        const longest = (all: string) =>
          Math.max(...all.split('\n').map((line) => (line.includes('A longer text') ? 0 : line.length)));
        const after = applyEdits(text, editFlow(text, operation).edits);
        assert.ok(longest(after) <= Math.max(120, longest(text)), `${JSON.stringify(operation)}\n${after}`);
      },
    ),
    { seed, numRuns: 40 },
  );
});

test('the form has a field for every key of the schema, for every screen and the flow', () => {
  for (const text of FLOWS) {
    const flow = parse(text);
    for (const pointer of ['', ...Object.keys(flow.screens).map((id) => pointerTo('screens', id))]) {
      const { form, screens } = flowForm(text, pointer);
      assert.equal(screens, Object.keys(flow.screens));
      const keys = form!.fields.map(({ key }) => key);
      const outside = pointer === '' ? ['$schema', 'flow', 'screens'] : ['type'];
      const wanted = Object.keys(schemaAt(pointer, flow).properties!).filter((key) => !outside.includes(key));
      assert.equal(keys, wanted);
      for (const { key, value } of form!.fields) assert.equal(value, at(flow, pointer + pointerTo(key)));
    }
  }
  assert.is(flowForm(FLOWS[0]!, '/screens/gone').form, null);
});

test('tests pass as before after a screen is renamed that calls a flow of the same name', async () => {
  const bye = { type: 'end', text: 'Bye.' };
  const hello = { type: 'menu', text: 'Hello', options: [{ id: 'on', text: 'On', to: 'bye' }] };
  const sub = flowOf({ flow: 'sub', version: 1, start: 'hello', screens: { hello, bye } });
  const text = JSON.stringify({
    flow: 'f',
    version: 1,
    start: 'sub',
    screens: { sub: { type: 'flow', flow: 'sub', done: 'end' }, end: bye },
  });
  const tests = JSON.stringify({
    flow: 'f',
    tests: [
      {
        name: 'a',
        steps: [
          { in: '', screen: 'sub.hello' },
          { in: '1', screen: 'end' },
        ],
      },
    ],
  });
  let renamed = { text, tests };
  for (const [screen, to] of [
    ['sub', 'call'],
    ['end', 'sub'],
  ] as const) {
    const { edits, tests: beside } = editFlow(renamed.text, { do: 'rename', screen, to }, { tests: renamed.tests });
    renamed = { text: applyEdits(renamed.text, edits), tests: applyEdits(renamed.tests, beside) };
    const { file } = parseFlowTests(renamed.tests, 'f.test.json');
    const report = await runFlowTests(
      flowCompiler({ flows: new Map([['sub', sub]]) })(flowOf(JSON.parse(renamed.text))),
      file!,
    );
    assert.equal(
      report.tests.flatMap(({ failures }) => failures),
      [],
      `${screen} as ${to}`,
    );
  }
});

const flowOf = (value: object) => parseFlow(JSON.stringify(value), 'x.flow.json').flow!;

test('the words of an option are one list, or one for each language that has none yet', () => {
  const options = [{ id: 'a', text: 'A', words: { sw: ['ndiyo'] }, to: 'a' }];
  const screens = { a: { type: 'list', text: 'A', items: 'x', row: '{{row}}', options } };
  const { form } = flowForm(
    JSON.stringify({ flow: 'f', version: 1, langs: ['en', 'sw'], start: 'a', screens }),
    '/screens/a',
  );
  const words = form!.fields
    .find(({ key }) => key === 'options')!
    .fields![0]!.fields!.find(({ key }) => key === 'words')!;
  assert.equal(
    [words.kind, words.names, words.forms!.map(({ name }) => name)],
    ['map', [{ value: 'en' }], ['a list', 'for each language']],
  );
  assert.equal(
    words.fields!.map(({ key, value }) => [key, value]),
    [['sw', ['ndiyo']]],
  );
});

test('what cannot be done is said, with the reason', () => {
  const [main] = FLOWS;
  const id = Object.keys(parse(main!).screens)[0]!;
  for (const [operation, why] of [
    [{ do: 'rename', screen: id, to: '1x' }, /"1x" cannot be the name of a screen/],
    [{ do: 'rename', screen: id, to: id }, /There is a screen/],
    [{ do: 'rename', screen: 'gone', to: 'x' }, /There is no screen "gone"/],
    [{ do: 'delete', screen: id, lead: id }, /cannot lead to it/],
    [{ do: 'set' }, /needs "pointer"/],
    [{ do: 'set', pointer: `/screens/${id}/type/x`, value: 1 }, /no place/],
  ] as const)
    assert.throws(() => editFlow(main!, operation as unknown as FlowOperation), why);
  assert.throws(() => editFlow('{"a": ', { do: 'set', pointer: '/a', value: 1 }), /not JSON/);
});

const SAID: readonly (readonly [source: string, words: string | undefined])[] = [
  ['bags >= 3 and not paid', 'bags is at least 3, and paid is not true'],
  ["lang == 'en' or account.reason == null", 'lang is “en”, or account.reason is missing'],
  ['a and (b or c)', 'a is true, and (b is true, or c is true)'],
  ['not (a and b)', 'it is not so that a is true, and b is true'],
  ["not (x == 'y')", 'it is not so that x is “y”'],
  ['len(basket) > 0', 'the length of basket is more than 0'],
  ['phoneNumber not in blocked', 'phoneNumber is not in blocked'],
  ["startsWith(name, 'A')", 'startsWith of name and “A” is true'],
  ['total * 2 > (price + fee) % 3', 'total times 2 is more than (price plus fee) modulo 3'],
  ['true', 'always'],
  ['a ==', undefined],
];
for (const [source, words] of SAID)
  test(`${source}: ${words ?? 'nothing'}`, () => assert.is(sayExpression(source), words));

test.run();
