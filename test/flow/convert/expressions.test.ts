// Expressions and texts of RapidPro: what each becomes, that it gives what it gave there, and why some become nothing.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseExcellent } from '../../../lib/flow/convert/excellent/parse.ts';
import { translateTree } from '../../../lib/flow/convert/excellent/translate.ts';
import { translateWords } from '../../../lib/flow/convert/excellent/words.ts';
import { readListing } from '../../../lib/flow/convert/listing.ts';
import { makeContext } from '../../../lib/flow/convert/rapidpro/context.ts';
import { makeVariables } from '../../../lib/flow/convert/steps/variables.ts';
import { compileExpression } from '../../../lib/flow/expression/expression.ts';
import { compileTemplate } from '../../../lib/flow/expression/template.ts';
import type { Json, JsonObject } from '../../../lib/json/json.ts';

const test = suite('convert expressions');

const notes: string[] = [];
const context = makeContext({
  variables: makeVariables(),
  langs: ['eng'],
  onNote: (_, what, reason) => notes.push(`${what} ${reason}`),
});
const scope: JsonObject = {
  phoneNumber: '+260971230001',
  age: '17',
  crop: 'Maize',
  contact_name: 'Ann',
  empty: '',
  webhook: { status: 200, body: { price: 45, items: [{ id: 'a' }] } },
};

function translate(source: string) {
  const parsed = parseExcellent(source);
  assert.ok('root' in parsed, `${source}: ${'why' in parsed ? parsed.why : ''}`);
  return translateTree(parsed.root, context);
}

function evaluate(source: string) {
  const made = translate(source);
  assert.ok('source' in made, `${source}: ${'why' in made ? made.why : ''}`);
  return compileExpression(made.source).evaluate(scope);
}

test('values are converted wherever Excellent converts them, and nothing ends a conversation', () => {
  const cases: [string, unknown][] = [
    ['results.age + 1', 18],
    ['results.age > 9', true],
    ['results.age = 17', true],
    ['results.age = "17"', true],
    ['results.missing + 1', 1],
    ['results.missing > 1', false],
    ['results.missing = null', true],
    ['"a" & results.age & results.missing & 2', 'a172'],
    ['upper(results.crop) & "!"', 'MAIZE!'],
    ['if(results.age >= 18, "old", "young")', 'young'],
    ['if(results.empty, 1, 2)', 2],
    ['and(results.age, results.crop = "Maize")', true],
    ['or(results.empty, false)', false],
    ['default(results.missing, "none")', 'none'],
    ['text_length(results.crop)', 5],
    ['max(results.age, 20) - 1', 19],
    ['abs(-3) * (2 + 1)', 9],
    ['-results.age', -17],
    ['10 / 4', 2.5],
    ['webhook.price * 2', 90],
    ['webhook.items[0].id', 'a'],
    ['webhook.status = 200', true],
    ['has_any_word(results.crop, "beans maize")', true],
    ['1 + 2 * 3 = 7', true],
    ['1 < 2 = true', true],
    ['"a" & 1 = 1', 'atrue'],
    ['results.crop = "maize"', false],
    ['mod(results.age, 5)', 2],
    ['mod(-3, 2)', 1],
    ['mod(results.missing, 5)', 0],
    ['title("clean COOKING")', 'Clean Cooking'],
    ['trim("  " & results.crop & " ")', 'Maize'],
    ['format_urn(contact.urn)', '+260971230001'],
  ];
  for (const [source, expected] of cases) assert.equal(evaluate(source), expected, source);
});

test('what has no counterpart says why', () => {
  const cases: [string, string][] = [
    ['read_chars(results.crop)', 'flows have no function like read_chars'],
    ['mod(results.age, results.crop)', 'it divides by something that may be zero, which would end the conversation'],
    ['format_urn(results.crop)', 'flows know only the phone number of a caller'],
    ['2 ^ 3', 'flows have no powers'],
    ['1 / results.age', 'it divides by something that may be zero, which would end the conversation'],
    ['contact.groups', '@contact.groups is nothing that flows know'],
    ['nothing.known', '@nothing is nothing that flows know'],
    ['constructor + 1', '@constructor is nothing that flows know'],
    ['__proto__.x', '@__proto__ is nothing that flows know'],
    ['upper()', 'an argument is missing'],
  ];
  for (const [source, why] of cases) assert.equal(translate(source), { why }, source);
  for (const source of ['(1', '1 +', '"open', 'a b', '1 ? 2', '(x) => x', `${'('.repeat(60)}1${')'.repeat(60)}`])
    assert.ok('why' in parseExcellent(source), source);
});

test('texts become templates: addresses of mail stay, braces are escaped, sums are computed first', () => {
  const say = (text: string) => {
    const { words, values } = translateWords({ eng: text }, 'n', context);
    const all: { [name: string]: Json } = { ...scope };
    for (const [name, value] of Object.entries(values))
      all[name] = compileExpression(String(value).slice(1)).evaluate(scope);
    return compileTemplate(words.eng!).render(all, 'en');
  };
  assert.is(
    say('Hi @contact.name, write to me@example.org or @@contact.'),
    'Hi Ann, write to me@example.org or @contact.',
  );
  assert.is(say('@results.crop. @(upper(results.crop)) @(results.age + 1)!'), 'Maize. MAIZE 18!');
  assert.is(say('{{crop}} \\{{x'), '{{crop}} \\{{x');
  assert.is(say('@(default(results.missing, "no \\"one"))'), 'no "one');
  assert.is(say('100% @ home @'), '100% @ home @');
  notes.length = 0;
  assert.is(say('A @(read_chars(results.crop)) B'), 'A  B');
  assert.equal(notes, [
    '@(read_chars(results.crop)) It has no counterpart: flows have no function like read_chars. It is left out.',
  ]);
});

test('options are read from a text when every language lists the same keys', () => {
  assert.equal(readListing({ eng: 'Choose:\n1. One\n2) Two\n0 - Back\nThank you' }), {
    text: { eng: 'Choose:\nThank you' },
    items: [
      { key: '1', text: { eng: 'One' } },
      { key: '2', text: { eng: 'Two' } },
      { key: '0', text: { eng: 'Back' } },
    ],
  });
  assert.is(readListing({ eng: '1. One\n2. Two', swa: '1. Moja' }), undefined);
  assert.is(readListing({ eng: 'In 2024 we were 5.' }), undefined);
  assert.is(readListing({ eng: '1. One\n1. Two' }), undefined);
});

test.run();
