// What is said of functions, filters and operators is so: every example gives what it says, and none is without one.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Described } from '../../lib/flow/expression/described.ts';
import { compileExpression } from '../../lib/flow/expression/expression.ts';
import { FILTERS } from '../../lib/flow/expression/filters.ts';
import { FUNCTIONS } from '../../lib/flow/expression/functions.ts';
import { BINARY_OPERATORS, OTHER_OPERATORS, WRITTEN_VALUES } from '../../lib/flow/expression/operators.ts';
import { compileTemplate } from '../../lib/flow/expression/template.ts';

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

test.run();
