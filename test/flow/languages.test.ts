// Callers of many languages against CLDR, as Intl has it: digits, numbers, plurals and characters; the words of the engine, and dialogues
// in four scripts.

import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileTemplate } from '../../lib/flow/expression/template.ts';
import { toAsciiDigits } from '../../lib/flow/expression/values.ts';
import { ENGLISH, findDefaultWords, UNREVIEWED, WORD_LANGS } from '../../lib/flow/format/default-words.ts';
import { parseFlow } from '../../lib/flow/format/load.ts';
import { FLOW_LIMITS } from '../../lib/flow/limits.ts';
import { compileAccept } from '../../lib/flow/run/accept.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { screenPages } from '../../lib/flow/run/page.ts';
import { cut, cutPages, room, septets } from '../../lib/flow/run/render.ts';
import { parseFlowTests } from '../../lib/flow/testing/parse.ts';
import { failureText, runFlowTests } from '../../lib/flow/testing/run.ts';
import alphabet from '../vectors/gsm-03.38.json' with { type: 'json' };
import { flowOf, phone } from './phone.ts';

const listCharacters = (text: string) => Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);

const test = suite('languages');

const LANGS = 'en fr pt es de it nl pl ru ar fa ur hi bn ne th id sw am ha yo zu rw'.split(' ');

test('the digits of every script are 0 to 9', () => {
  const systems = Intl.supportedValuesOf('numberingSystem').filter((system) =>
    /^\p{Nd}{10}$/u.test(new Intl.NumberFormat(`en-u-nu-${system}`, { useGrouping: false }).format(9876543210)),
  );
  assert.ok(systems.length > 50, String(systems.length));
  for (const system of systems) {
    const typed = new Intl.NumberFormat(`en-u-nu-${system}`, { useGrouping: false }).format(9876543210);
    assert.is(toAsciiDigits(typed), '9876543210', system);
  }
});

test('a number that a language writes is read as that number', () => {
  const number = fc.tuple(fc.constantFrom(...LANGS), fc.integer({ min: -99_999_999, max: 99_999_999 }), fc.nat(3));
  fc.assert(
    fc.property(number, ([lang, whole, decimals]) => {
      const value = whole / 10 ** decimals;
      const result = compileAccept({ number: true }).check(
        new Intl.NumberFormat(lang, { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(value),
        0,
        { lang },
      );
      assert.equal(result, { ok: true, value: value + 0 }, `${lang} ${value}`);
    }),
    { numRuns: 2000 },
  );
});

test('a number with a point is refused where the language leaves it open what the point means', () => {
  const read = (text: string, lang: string) => {
    const result = compileAccept({ number: true }).check(text, 0, { lang });
    return result.ok ? result.value : undefined;
  };
  for (const lang of LANGS) {
    const parts = new Intl.NumberFormat([lang, 'en'], { useGrouping: 'always' }).formatToParts(1234.5);
    const [group, decimal] = ['group', 'decimal'].map((type) => parts.find((part) => part.type === type)?.value);
    const meant = group === '.' ? 60_000 : decimal === ',' ? undefined : 60;
    for (const sign of [1, -1]) assert.is(read(`${sign < 0 ? '-' : ''}60.000`, lang), meant && sign * meant, lang);
    assert.is(read('60.5', lang), 60.5, lang);
    assert.is(read('+5', lang), undefined, lang);
  }
});

test('plural takes the form of CLDR, with two texts and with a text for each form', () => {
  const numbers = [...Array(213).keys(), 0.5, 1.5, 1e6, 1_000_001, 2.25];
  for (const lang of LANGS) {
    const rules = new Intl.PluralRules(lang);
    const forms = rules.resolvedOptions().pluralCategories;
    const named = [...new Set([...forms, 'other'])].map((form) => `'${form}=<${form}>'`).join(':');
    const each = forms.length > 1 ? compileTemplate(`{{n|plural:${named}}}`) : undefined;
    const two = compileTemplate('{{n|plural:<one>:<more>}}');
    for (const n of numbers) {
      if (each) assert.is(each.render({ n }, lang), `<${rules.select(n)}>`, `${lang} ${n}`);
      assert.is(two.render({ n }, lang), rules.select(n) === 'one' ? '<one>' : '<more>', `${lang} ${n}`);
    }
  }
  assert.throws(() => compileTemplate("{{n|plural:'one=a':'few=b'}}"), /'other=' among them/);
  assert.throws(() => compileTemplate("{{n|plural:'one=a':b}}"), /each form once/);
});

const SAMPLES = [
  'ภาษาไทยไม่เว้นวรรคระหว่างคำที่นี่',
  'ភាសាខ្មែរមិនមានដកឃ្លារវាងពាក្យទេ',
  'क्षमा कीजिए हिन्दी में लिखिए',
  'தமிழ் மொழி நன்றாக உள்ளது',
  'العَرَبِيَّةُ لُغَةٌ',
  'e\u0301te\u0301 a\u0300 No\u0308el',
  '👩‍👩‍👧‍👦👍🏽🇿🇲 ok',
  'አማርኛ ቋንቋ ነው።',
  '각힣가나다',
];
const text = fc
  .array(fc.constantFrom(...SAMPLES.flatMap(listCharacters)), { minLength: 1, maxLength: 160 })
  .map((signs) => signs.join('').trim() || 'x');

/** Whether the parts are whole characters of the text, in order. */
function isWhole(whole: string, parts: readonly string[]): boolean {
  let at = 0;
  const borders = new Set([0, whole.length]);
  for (const sign of listCharacters(whole)) {
    at += sign.length;
    borders.add(at);
  }
  let from = 0;
  for (const part of parts) {
    const found = whole.indexOf(part, from);
    if (found < 0 || !borders.has(found) || !borders.has(found + part.length)) return false;
    from = found + part.length;
  }
  return true;
}

test('no page, cut or filter ends inside of a character', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 60, max: 182 }), fc.integer({ min: 1, max: 30 }), (whole, chars, count) => {
      const pages = cutPages({ text: whole, rows: [] }, { chars, footer: (more) => (more ? ['98. +'] : []) });
      const shown = pages.map((page) => page.replace(/\n98\. \+$/, ''));
      assert.ok(isWhole(whole, shown), JSON.stringify(shown));
      assert.ok(isWhole(whole, [cut(whole, chars).replace(/\.\.\.$/, '')]));
      for (const filter of [`first:${count}`, `trunc:${count}`]) {
        const printed = compileTemplate(`{{whole|${filter}}}`).render({ whole }, 'en');
        assert.ok(isWhole(whole.normalize('NFC'), [printed.replace(/\.\.$/, '')]), `${filter} ${printed}`);
      }
    }),
    { numRuns: 400 },
  );
  const shown = (filter: string) => compileTemplate(`{{it|${filter}}}`).render({ it: 'क्षमा👩‍👧 ok' }, 'hi');
  assert.is(shown('first:1'), listCharacters('क्षमा')[0]);
  assert.is(shown('mask:2'), '****ok');
});

test('texts and answers in decomposed letters are those in composed ones', async () => {
  const source = { flow: 'x', version: 1, start: 'a', vars: { it: { type: 'string', max: 4 } } };
  const screens = {
    a: { type: 'input', text: 'Réponse ?', save: 'it', accept: { oneOf: ['Côte'] }, to: 'b' },
    b: { type: 'input', text: '{{it}}', save: 'it', accept: { length: { max: 4 } }, to: 'end' },
    end: { type: 'end', text: '{{it}} été' },
  };
  const { flow } = parseFlow(JSON.stringify({ ...source, screens }).normalize('NFD'), 'x.flow.json');
  const caller = phone(flow!);
  assert.is(septets(await caller.dial()), 'Réponse ?\n'.length - 1);
  assert.is(await caller.say('co\u0302te'), 'Côte\n0. Back');
  assert.is(await caller.say('Jose\u0301'), 'José été');
});

test('keys, menus and lists take the digits of the phone, and free text keeps them', async () => {
  const flow = flowOf(
    {
      menu: { type: 'menu', text: 'M', options: [{ id: 'list', key: '٧', text: 'L', to: 'list' }] },
      list: { type: 'list', text: 'L', items: 'all', row: '{{row}}', pick: { save: 'one', to: 'free' } },
      free: { type: 'input', text: '{{one}}', save: 'one', to: 'end' },
      end: { type: 'end', text: '{{one}}' },
    },
    { vars: { all: { type: 'array', default: ['a', 'b'] }, one: { type: 'string' } }, keys: { back: '۰' } },
  );
  const caller = phone(flow);
  await caller.dial();
  assert.match(await caller.say('7'), 'L\n1. a\n2. b\n۰. Back');
  assert.match(await caller.say('٢'), 'b');
  assert.match(await caller.say('0'), 'L\n1. a');
  assert.is(await caller.say('२', '٤٢'), '٤٢');
});

test('the default words of a language are all there, and those in Latin letters do not halve a screen', async () => {
  for (const lang of WORD_LANGS) {
    const words = findDefaultWords(lang)!;
    assert.equal(Object.keys(words).sort(), Object.keys(ENGLISH).sort(), lang);
    for (const word of Object.values(words)) {
      assert.is(word, word.normalize('NFC'));
      if (/^[\p{Script=Latin}\p{P}\s\d]+$/u.test(word)) assert.is(room(word).encoding, 'gsm7', `${lang} ${word}`);
    }
    assert.match(words.wait, /\n1\. \S/, lang);
  }
  assert.equal([...UNREVIEWED, 'en'].sort(), [...WORD_LANGS].sort());
  assert.is(findDefaultWords('fra'), findDefaultWords('fr-CI'));
  assert.is(findDefaultWords('und'), undefined);
});

const FOLDERS = ['menus', 'server/templates/ussd/menus', 'test/conversations/languages'];
const FLOWS = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.flow.json'))
    .map((name) => parseFlow(readFileSync(`${folder}/${name}`, 'utf8'), name).flow!),
);

/** Octets of a text as a telecom sends it. */
function countOctets(page: string): number {
  const costs = new Map<string, number>();
  for (const [, , sign] of alphabet.basic) if (sign) costs.set(sign, 1);
  for (const [, , sign] of alphabet.extension) if (sign) costs.set(sign, 2);
  const septetCosts = [...page].map((sign) => costs.get(sign));
  if (septetCosts.includes(undefined)) return Buffer.from(page, 'utf16le').length;
  return Math.ceil((septetCosts.reduce<number>((sum, cost) => sum + cost!, 0) * 7) / 8);
}

test('every page of every shipped flow, in every language, is as long as it is counted, and fits', () => {
  for (const flow of FLOWS) {
    const compiled = compileFlow(flow);
    for (const lang of flow.langs ?? ['en'])
      for (const node of compiled.screens.values())
        for (const { text: page } of screenPages(node, { ...(compiled.config.context as object), lang })) {
          const { encoding, used } = room(page);
          const counted = encoding === 'ucs2' ? used * 2 : Math.ceil((used * 7) / 8);
          assert.is(countOctets(page), counted, `${flow.flow} ${lang} ${page}`);
          assert.ok(counted <= (FLOW_LIMITS.screenSeptets * 7) / 8 + 1, page);
        }
  }
});

test('dialogues in French, Amharic, Arabic and Hindi are as recorded', async () => {
  const folder = 'test/conversations/languages';
  const read = (name: string) => readFileSync(`${folder}/${name}`, 'utf8');
  const { flow } = parseFlow(read('market.flow.json'), 'market.flow.json');
  const { file, problems } = parseFlowTests(read('market.test.json'), 'market.test.json');
  assert.equal(problems, []);
  const { tests } = await runFlowTests(compileFlow(flow!), file!);
  assert.is(tests.length, 5);
  assert.equal(
    tests.flatMap(({ failures }) => failures.map(failureText)),
    [],
  );
});

test.run();
