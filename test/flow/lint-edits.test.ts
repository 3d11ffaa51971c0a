// Fixes of problems beyond the tables of mistakes: only what is certain is offered, and several do not disturb each other.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Problem, problemLine } from '../../lib/flow/format/problem.ts';
import { checkFlow } from '../../lib/flow/lint/lint.ts';
import { BASES } from './lint-cases/bases.ts';

const test = suite('edits of problems');

const { text: CALLER, known: KNOWN } = BASES.caller;

const apply = (text: string, { edit }: Problem) => text.slice(0, edit!.from) + edit!.insert + text.slice(edit!.to);

function check(edit: readonly [from: string, to: string]): readonly Problem[] {
  assert.ok(CALLER.includes(edit[0]));
  return checkFlow(CALLER.replace(...edit), 'caller.flow.json', KNOWN).problems;
}

test('a fix that would make another error is not offered', () => {
  const [misspelt, ...more] = check(['"Thank you."', '"Thank you {{depot.name}}."']);
  assert.equal(more, []);
  assert.is(misspelt!.edit, undefined, 'a list has no fields');
  assert.match(misspelt!.message, 'Did you mean "depots"?');
  const [whole] = check(['"Thank you."', '"Thank you {farmer}."']);
  assert.equal([whole!.code, whole!.edit], ['single-braces', undefined], 'an object cannot be printed');
  const { text, file, known } = BASES.wallet;
  const secret = text.replace('Thank you. Goodbye.', 'Thank you. %pin%');
  const shown = checkFlow(secret, file, known).problems.find(({ code }) => code === 'missing-braces');
  assert.ok(shown && !shown.edit, 'a secret cannot be printed');
});

test('several mistakes each have their own fix', () => {
  const text = CALLER.replace('"Thank you."', '"Thank you {{depot.name}}."')
    .replace('"items": "depots"', '"items": "=depots"')
    .replace('{{farmer.name}}', '{{farmer.nmae}}')
    .replace('{{nrc}}', '{nrc}');
  const { problems } = checkFlow(text, 'caller.flow.json', KNOWN);
  assert.equal(
    problems.map(({ code, edit }) => [code, edit?.insert]),
    [
      ['unknown-field', 'name'],
      ['expr', ''],
      ['unknown-variable', undefined],
      ['single-braces', '{{nrc}}'],
    ],
  );
});

test('where an expression has two faults, one is mended after the other', () => {
  let text = CALLER.replace('len(nrc) >= 9', "nrc = 'a' || nrc <> 'b'");
  for (let round = 0; round < 3; round++) {
    const { problems } = checkFlow(text, 'caller.flow.json', KNOWN);
    text = apply(text, problems.find(({ edit }) => edit)!);
  }
  assert.equal(checkFlow(text, 'caller.flow.json', KNOWN).problems.map(problemLine), []);
  assert.ok(text.includes("nrc == 'a' or nrc != 'b'"));
});

// Braces behind a dollar sign, as other languages write them.
const dollar = (path: string) => `$${`{${path}}`}`;

const SIGNS: readonly (readonly [written: string, mended: string])[] = [
  ['=len(nrc) >= 9', 'len(nrc) >= 9'],
  ['len(nrc) => 9', 'len(nrc) >= 9'],
  ['len(nrc) =< 9', 'len(nrc) <= 9'],
  ['len(nrc) === 9', 'len(nrc) == 9'],
  ['len(nrc) !== 9', 'len(nrc) != 9'],
  ["nrc == 'a'&&nrc == 'b'", "nrc == 'a'and nrc == 'b'"],
  ["nrc == 'a' OR nrc == 'b'", "nrc == 'a' or nrc == 'b'"],
  ["{{nrc}} == 'a'", "nrc == 'a'"],
  [`${dollar('nrc')} == 'a'`, "nrc == 'a'"],
  ["$nrc == 'a'", "nrc == 'a'"],
  ['nrc == ‘a’', "nrc == 'a'"],
  ["farmer?.name == 'a'", "farmer.name == 'a'"],
  ["lowr(nrc) == 'a'", "lower(nrc) == 'a'"],
];
for (const [written, mended] of SIGNS)
  test(`${written} becomes ${mended}`, () => {
    const text = CALLER.replace('len(nrc) >= 9', () => written);
    const [problem] = checkFlow(text, 'caller.flow.json', KNOWN).problems;
    assert.is(problem!.code, 'expr');
    assert.ok(problem!.edit, problemLine(problem!));
    assert.is(
      apply(text, problem!),
      CALLER.replace('len(nrc) >= 9', () => mended),
    );
  });

test('a dollar sign before braces may be meant where an amount follows', () => {
  const [text] = check(['{{nrc}} is', `${dollar('nrc')} is`]);
  assert.is(text!.edit?.insert, '{{nrc}}');
  const [amount] = check(['Thank you.', `Thank you for ${dollar('farmer.fee')}.`]);
  assert.is(amount!.edit, undefined);
  assert.match(amount!.fix, dollar('{farmer.fee}'));
});

test('a mistake of the form is mended, though the rules see more afterwards', () => {
  const text = CALLER.replace('"type": "input"', '"type": "imput"').replace('"to": "find"', '"to": "fond"');
  const { problems } = checkFlow(text, 'caller.flow.json', KNOWN);
  assert.equal(
    problems.map(({ edit }) => edit?.insert),
    ['input'],
  );
});

test.run();
