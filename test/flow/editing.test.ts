// Help while a flow is written: what may stand at a place, and what stands there, also in text that is no JSON yet.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { completeFlow } from '../../lib/flow/editing/completion.ts';
import { explainFlow } from '../../lib/flow/editing/explain.ts';
import { completeTests, explainTests } from '../../lib/flow/editing/tests.ts';
import { parseFlow } from '../../lib/flow/format/parse.ts';

const test = suite('editing');

const WALLET = readFileSync(new URL('./lint-cases/wallet.flow.json', import.meta.url), 'utf8');
const WALLET_FLOW = parseFlow(WALLET, 'wallet.flow.json').flow!;
const services = new Set(['auth.verifyPin', 'wallet.history']);
const flows = new Map([['login', { ...WALLET_FLOW, flow: 'login', vars: { pin: { type: 'string' as const } } }]]);

/** A text with ‸ where the cursor is. */
function at(marked: string) {
  const offset = marked.indexOf('‸');
  return { text: marked.replace('‸', ''), offset };
}

function labels(marked: string): string[] {
  const { text, offset } = at(marked);
  return completeFlow({ text, services, flows }, offset)?.items.map(({ label }) => label) ?? [];
}

/** The text when an item was chosen, the cursor marked again. */
function choose(marked: string, label: string): string {
  const { text, offset } = at(marked);
  const { from, to, items } = completeFlow({ text, services, flows }, offset)!;
  const { insert, caret = insert.length } = items.find((item) => item.label === label)!;
  return `${text.slice(0, from)}${insert.slice(0, caret)}‸${insert.slice(caret)}${text.slice(to)}`;
}

const inScreen = (screen: string) =>
  `{"flow": "f", "vars": {"farmer": {"type": "object", "sample": {"name": "Ann", "fee": 3}}, "orders": {"type": "array", "sample": [{"label": "x"}]}}, "screens": {"home": {"type": "menu", "text": "Hi", "options": [{"id": "a", "text": "A", "to": "bye"}]}, "now": ${screen}, "bye": {"type": "end", "text": "Bye"}}}`;

test('keys of the format, without those that are there; required ones say so', () => {
  assert.equal(labels('{"flow": "x", ‸}').includes('flow'), false);
  assert.ok(labels('{"flow": "x", ‸}').includes('screens'));
  const keys = labels(inScreen('{"type": "input", "text": "PIN?", ‸}'));
  assert.ok(keys.includes('save') && keys.includes('accept') && keys.includes('attempts'));
  assert.not.ok(keys.includes('options') || keys.includes('type'));
  assert.ok(labels(inScreen('{"type": "input", "accept": {"‸"}}')).includes('digits'));
  const { text, offset } = at(inScreen('{"type": "call", ‸}'));
  assert.is(completeFlow({ text }, offset)!.items.find(({ label }) => label === 'fail')!.detail, 'required');
});

test('a key that is chosen comes with its quotes, its colon and an empty value', () => {
  assert.match(choose(inScreen('{"type": "input", ‸}'), 'save'), '{"type": "input", "save": "‸"}');
  assert.match(choose(inScreen('{"type": "input", "sa‸"}'), 'save'), '{"type": "input", "save": "‸"}');
  assert.match(choose(inScreen('{"type": "input", "sa‸": "pin"}'), 'save'), '{"type": "input", "save‸": "pin"}');
  assert.match(choose(inScreen('{"type": "input", ac‸}'), 'accept'), '"accept": {‸}');
});

test('screens, services, flows and variables where their names stand', () => {
  assert.equal(labels(inScreen('{"type": "input", "to": "‸"}')), ['home', 'now', 'bye']);
  assert.equal(labels(inScreen('{"type": "input", "to": ‸}')), ['home', 'now', 'bye']);
  assert.equal(labels(inScreen('{"type": "menu", "options": [{"to": "‸"}]}')), ['home', 'now', 'bye']);
  assert.equal(labels(inScreen('{"type": "call", "done": [{"when": "a", "to": "b"}, {"to": "‸"}]}')).slice(0, 3), [
    'home',
    'now',
    'bye',
  ]);
  assert.equal(labels(inScreen('{"type": "call", "service": "‸"}')), [...services]);
  assert.equal(labels(inScreen('{"type": "input", "save": "f‸"}')), ['farmer', 'orders']);
  assert.equal(labels(inScreen('{"type": "flow", "flow": "‸"}')), ['login']);
  assert.equal(labels(inScreen('{"type": "flow", "flow": "login", "with": {"‸"}}')), ['pin']);
  assert.equal(labels(inScreen('{"type": "input", "set": {‸}}')), ['farmer', 'orders']);
  assert.equal(labels(inScreen('{"type": "‸"}')), ['menu', 'input', 'list', 'call', 'branch', 'flow', 'end']);
});

test('inside placeholders and expressions: variables, fields, filters, functions', () => {
  assert.equal(labels(inScreen('{"type": "end", "text": "Dear {{‸}}"}')), ['farmer', 'orders']);
  assert.equal(labels(inScreen('{"type": "end", "text": "Dear {{farmer.‸}}"}')), ['name', 'fee']);
  assert.ok(labels(inScreen('{"type": "end", "text": "Dear {{farmer.fee|‸}}"}')).includes('money'));
  assert.equal(labels(inScreen('{"type": "list", "items": "orders", "row": "{{row.‸}}", "text": "x"}')), ['label']);
  const options = '"text": "x", "options": [{"id": "a", "text": "A", "to": "bye", "when": "‸"}]';
  assert.ok(labels(inScreen(`{"type": "menu", ${options}}`)).includes('len'));
  assert.ok(labels(inScreen('{"type": "call", "with": {"name": "=fa‸"}}')).includes('farmer'));
  assert.equal(labels(inScreen('{"type": "call", "with": {"name": "fa‸"}}')), []);
  assert.equal(labels(inScreen('{"type": "end", "text": "Dear ‸"}')), []);
});

test('what stands at a place is explained', () => {
  const explained = (marked: string) => {
    const { text, offset } = at(marked);
    return explainFlow(text, offset);
  };
  assert.match(explained(inScreen('{"type": "call", "time‸out": "3s"}'))!.words, 'Without it: "5s"');
  assert.is(explained(inScreen('{"type": "end", "text": "{{far‸mer.name}}"}'))!.title, 'farmer: object');
  assert.is(explained(inScreen('{"type": "end", "text": "{{farmer.fee|mon‸ey}}"}'))!.title, 'money or money:KES');
  const screen = explained(inScreen('{"type": "input", "text": "x", "save": "farmer", "to": "by‸e"}'))!;
  assert.equal([screen.title, screen.words], ['bye: end', 'Bye']);
});

test('what a service takes is proposed and explained, and so are functions and operators with examples', () => {
  const contracts = {
    'auth.verifyPin': {
      doc: 'Checks a PIN.',
      input: {
        pin: { kind: 'text', about: 'four digits', required: true },
        phone: { kind: 'text', about: 'a number' },
      },
      answer: { ok: { kind: 'boolean', about: 'whether it is right' } },
    },
  } as const;
  const explained = (marked: string) => {
    const { text, offset } = at(marked);
    const { title, words } = explainFlow(text, offset, { contracts })!;
    return [title, words] as const;
  };
  const call = (rest: string) => inScreen(`{"type": "call", ${rest}}`);
  const open = at(call('"service": "auth.verifyPin", "with": {‸}'));
  assert.equal(
    completeFlow({ text: open.text, contracts }, open.offset)!.items.map(({ label, detail }) => [label, detail]),
    [
      ['pin', 'text, required'],
      ['phone', 'text'],
    ],
  );
  assert.equal(explained(call('"service": "auth.ver‸ifyPin"')), [
    'auth.verifyPin',
    'Checks a PIN.\nTakes: pin (required), phone.\nAnswers: ok.',
  ]);
  assert.equal(explained(call('"service": "auth.verifyPin", "with": {"pi‸n": ""}')), ['pin: text', 'four digits']);
  assert.match(
    explained(inScreen('{"type": "branch", "branch": [{"when": "le‸n(orders) > 1"}]}'))[1],
    "len('Bread') gives 5",
  );
  assert.is(explained(inScreen('{"type": "branch", "branch": [{"when": "true an‸d true"}]}'))[0], 'a and b');
  assert.not.match(explained(inScreen('{"type": "end", "text": "Tea an‸d {{farmer.name}}"}'))[0], 'a and b');
  assert.equal(labels('{"flow": "f", "vars": {‸}}').includes('phoneNumber'), true);
});

const CONTRACTS = {
  'auth.verifyPin': {
    doc: 'Checks a PIN.',
    input: { pin: { kind: 'text', about: 'What was typed.' } },
    answer: { ok: { kind: 'boolean', about: 'Whether it is right.' } },
  },
} as const;
const TESTED = {
  text: WALLET.replace('"sorry": {', '"login": { "type": "flow", "flow": "login", "done": "home" },\n    "sorry": {'),
  flows,
  contracts: CONTRACTS,
};

function testLabels(marked: string): string[] {
  const { text: tests, offset } = at(marked);
  return completeTests({ ...TESTED, tests }, offset)?.items.map(({ label }) => label) ?? [];
}
const inTest = (inner: string) => `{"flow": "wallet", "tests": [{"name": "a", ${inner}}]}`;

test('in tests: keys of the format, and the screens, variables and services of the flow that they test', () => {
  assert.equal(testLabels(inTest('‸')), ['note', 'given', 'now', 'phone', 'memory', 'services', 'steps']);
  assert.equal(testLabels(inTest('"steps": [{"in": "", "screen": "lo‸"}]')).slice(0, 4), [
    'welcome',
    'pin',
    'verify',
    'home',
  ]);
  assert.ok(testLabels(inTest('"steps": [{"screen": ‸}]')).includes('login.pin'), 'screens of the flow that is called');
  assert.ok(testLabels(inTest('"given": {‸}')).includes('balance'));
  assert.equal(testLabels(inTest('"services": {‸}')), ['auth.verifyPin', 'wallet.history']);
  assert.equal(testLabels(inTest('"services": {"auth.verifyPin": [{"when": {‸}}]}')), ['pin']);
  assert.equal(testLabels(inTest('"services": {"auth.verifyPin": [{"return": {‸}}]}')), ['ok']);
  assert.ok(testLabels(inTest('"services": {"auth.verifyPin": [{"fail": "‸"}]}')).includes('ERR_TIMEOUT'));
  assert.equal(testLabels(inTest('"steps": [{"end": ‸}]')), ['true', 'false']);
});

test('in tests, a screen, a service and a key are explained', () => {
  const explained = (marked: string) => {
    const { text: tests, offset } = at(marked);
    return explainTests({ ...TESTED, tests }, offset);
  };
  const { title, words } = explained(inTest('"steps": [{"screen": "bye‸"}]'))!;
  assert.equal([title, words], ['bye: end', 'en: Goodbye\nsn: Chisarai']);
  assert.match(explained(inTest('"services": {"auth.veri‸fyPin": []}'))!.words, 'Checks a PIN.');
  assert.match(explained(inTest('"ste‸ps": []'))!.words, 'What the caller types, and what must follow.');
  assert.is(explained('‸'), undefined);
});

test('a key whose quotation mark is not closed yet is proposed without taking what stands behind it', () => {
  assert.is(choose('{"flow": "f",\n"scr‸\n}', 'screens'), '{"flow": "f",\n"screens": {‸}\n}');
  assert.is(choose('{"flow": "f", "scr‸', 'screens'), '{"flow": "f", "screens": {‸}');
});

test('any piece of a flow, cut anywhere, is helped with or left alone', () => {
  const cut = fc.record({
    drop: fc.integer({ min: 0, max: WALLET.length }),
    length: fc.integer({ min: 0, max: 40 }),
    put: fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '\\', '{{', 'a.b', '\u0000', '"__proto__": {'),
    offset: fc.integer({ min: 0, max: WALLET.length }),
  });
  fc.assert(
    fc.property(cut, ({ drop, length, put, offset }) => {
      const text = WALLET.slice(0, drop) + put + WALLET.slice(drop + length);
      const place = Math.min(offset, text.length);
      const found = completeFlow({ text, services, flows }, place);
      if (found) assert.ok(found.from <= place && place <= found.to && found.to <= text.length);
      const said = explainFlow(text, place);
      if (said) assert.ok(said.from <= place && place <= said.to);
    }),
    { numRuns: 2_000 },
  );
});

test.run();
