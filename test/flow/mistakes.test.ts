// Mistakes of authors, of an independent table: each is named where it stands, and a fix that is certain mends it and nothing else.

import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Problem, problemLine } from '../../lib/flow/format/problem.ts';
import { positionAt } from '../../lib/flow/format/source.ts';
import { checkFlow } from '../../lib/flow/lint/lint.ts';
import { CONTRACTS } from '../../server/menus/contracts.ts';
import { AUTHOR_MISTAKES } from './lint-cases/author-mistakes.ts';
import { ADDRESS, type Base, CALLER, MISTAKES, REASONS } from './lint-cases/mistakes.ts';

const test = suite('mistakes of authors');

const read = (path: string) => readFileSync(path, 'utf8');
const BASES: { readonly [base in Base]: { readonly file: string; readonly text: string } } = {
  wallet: { file: 'wallet.flow.json', text: read('menus/wallet.flow.json') },
  main: { file: 'main.flow.json', text: read('menus/main.flow.json') },
  ussd: { file: 'main.flow.json', text: read('server/templates/ussd/menus/main.flow.json') },
  clinic: { file: 'clinic.flow.json', text: read('test/flow/lint-cases/clinic.flow.json') },
  caller: { file: 'caller.flow.json', text: CALLER },
};
const SERVICES = new Set([
  ...Object.keys(CONTRACTS),
  ...['farmers.find', 'payments.make', 'bills.find', 'patients.find', 'visits.days', 'visits.book'],
]);
const FLOWS = new Map([['address', ADDRESS]]);

function lint(base: Base, text: string): readonly Problem[] {
  return checkFlow(text, BASES[base].file, { services: SERVICES, flows: FLOWS, contracts: CONTRACTS }).problems;
}

for (const base of Object.keys(BASES) as Base[])
  test(`${base} has no mistakes before one is made`, () =>
    assert.equal(lint(base, BASES[base].text).map(problemLine), []));

const ALL = [...MISTAKES, ...AUTHOR_MISTAKES];

test('there are sixty and more, and thirty of an author, none twice', () => {
  assert.ok(MISTAKES.length >= 60 && AUTHOR_MISTAKES.length >= 30);
  assert.is(new Set(ALL.map(({ name }) => name)).size, ALL.length);
});

for (const { name, base, edit, code, at, says, mended, open, also = [] } of ALL)
  test(`${base}: ${name}`, () => {
    const { text } = BASES[base];
    const [from, to] = edit;
    const start = text.indexOf(from);
    assert.ok(start >= 0, 'the flow has what is edited');
    const wrong = text.slice(0, start) + to + text.slice(start + from.length);
    const problems = lint(base, wrong);
    const seen = problems.map(problemLine).join('\n');
    const near = wrong.indexOf(at, start);
    const { line, column } = positionAt(wrong, near < 0 ? wrong.indexOf(at) : near);
    const found = problems.find((one) => one.code === code && one.line === line && one.column === column);
    assert.ok(found, `${code} at ${line}:${column} in:\n${seen}`);
    assert.ok(`${found.message} ${found.fix}`.includes(says), `${says} in:\n${seen}`);
    assert.equal(
      problems.filter((one) => one !== found).map((one) => one.code),
      also,
      seen,
    );
    const replaced = (by: string) => text.slice(0, start) + by + text.slice(start + from.length);
    if (open) {
      assert.is(found.edit, undefined, `a fix, though only the author knows ${REASONS[open.reason]}`);
      assert.is.not(...open.either);
      for (const by of open.either) assert.equal(lint(base, replaced(by)).map(problemLine), [], by);
      return;
    }
    assert.ok(mended !== undefined, 'a row has a fix, or says why none is certain');
    assert.ok(found.edit, `a fix that is certain: ${seen}`);
    const after = wrong.slice(0, found.edit.from) + found.edit.insert + wrong.slice(found.edit.to);
    assert.is(after, replaced(mended));
    assert.equal(lint(base, after).map(problemLine), []);
  });

test.run();
