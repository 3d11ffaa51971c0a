// What is said of functions, filters and operators is so: every example gives what it says, and none is without one.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileExpression } from '../../lib/flow/expression/expression.ts';
import { FILTERS } from '../../lib/flow/expression/filters.ts';
import { type Described, describeUse, FUNCTIONS } from '../../lib/flow/expression/functions.ts';
import { BINARY_OPERATORS, OTHER_OPERATORS, WRITTEN_VALUES } from '../../lib/flow/expression/operators.ts';
import { compileTemplate } from '../../lib/flow/expression/template.ts';
import { readTokens, SIGNS, WORDS } from '../../lib/flow/expression/tokens.ts';

const test = suite('described');

type Table = { readonly [name: string]: Described };

const OPERATORS: Table = { ...BINARY_OPERATORS, ...OTHER_OPERATORS };
const EXPRESSIONS: Table = { ...FUNCTIONS, ...OPERATORS, ...WRITTEN_VALUES };

test('every function, operator and value of expressions has examples, which give what they say', () => {
  for (const [name, { usage, doc, examples }] of Object.entries(EXPRESSIONS)) {
    assert.ok(usage && /^[A-Z`].*[.]$/.test(doc) && examples.length > 0, name);
    for (const [source, gives, given = {}] of examples)
      assert.equal(compileExpression(source).evaluate(given), gives, `${name}: ${source}`);
  }
});

test('every filter has examples, which print what they say', () => {
  for (const [name, { usage, doc, examples }] of Object.entries(FILTERS)) {
    assert.ok(usage && /^[A-Z].*[.]$/.test(doc) && examples.length > 0, name);
    for (const [source, gives, given = {}] of examples) {
      assert.ok(
        compileTemplate(source).paths.some(({ filters }) => filters.includes(name)),
        source,
      );
      assert.is(compileTemplate(source).render(given, String(given.lang ?? 'en')), gives, `${name}: ${source}`);
    }
  }
});

test('examples show what they are about', () => {
  for (const [name, { examples }] of Object.entries(FUNCTIONS))
    for (const [source] of examples) assert.ok(source.includes(`${name}(`), source);
  for (const [sign, { examples }] of Object.entries(BINARY_OPERATORS))
    for (const [source] of examples) assert.ok(source.includes(` ${sign} `), source);
});

test('every argument has words, and there are as many as are taken', () => {
  for (const [name, { args, arity }] of Object.entries({ ...FUNCTIONS, ...FILTERS })) {
    const [least, most] = arity;
    const names = Object.keys(args);
    const isMany = names.at(-1)?.endsWith('...') ?? false;
    assert.ok(names.length >= least && (isMany || names.length === most), name);
    for (const about of Object.values(args)) assert.ok(about.length > 3, name);
  }
});

test('an operator of a higher level binds first', () => {
  const numbers = ['+', '-', '*', '/', '%'] as const;
  for (const one of numbers)
    for (const other of numbers) {
      const whole = compileExpression(`7 ${one} 5 ${other} 3`).evaluate({});
      const isLater = BINARY_OPERATORS[other].level > BINARY_OPERATORS[one].level;
      const grouped = isLater ? `7 ${one} (5 ${other} 3)` : `(7 ${one} 5) ${other} 3`;
      assert.is(whole, compileExpression(grouped).evaluate({}), `${one} ${other}`);
    }
  assert.is(compileExpression('true or true and false').evaluate({}), true);
  assert.is(compileExpression('not 1 == 2 and false').evaluate({}), false);
});

test('no word or sign of the language is left out', () => {
  const shown = new Set(
    Object.values(EXPRESSIONS).flatMap(({ examples, usage }) =>
      [...examples.map(([source]) => source), usage].flatMap((source) => readTokens(source).map(({ text }) => text)),
    ),
  );
  assert.equal(
    [...WORDS, ...SIGNS].filter((token) => !shown.has(token)),
    [],
  );
});

test('editors get the words with the examples', () => {
  assert.is(describeUse(FUNCTIONS.abs), 'The number without its sign.\nabs(3 - 10) gives 7');
});

test.run();
