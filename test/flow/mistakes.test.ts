// Mistakes of authors, one at a time in a flow without any: lint names each where it stands, and what it proposes for certain mends it.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Problem, problemLine } from '../../lib/flow/format/problem.ts';
import { positionAt } from '../../lib/flow/format/source.ts';
import { checkFlow, RULES } from '../../lib/flow/lint/lint.ts';
import { BASES, type BaseName } from './lint-cases/bases.ts';
import fixed from './lint-cases/fixed.json' with { type: 'json' };
import type { Mistake, Mistakes } from './lint-cases/mistake.ts';
import open from './lint-cases/open.json' with { type: 'json' };

const test = suite('mistakes');

/** Mistakes that a fix mends for certain: it leaves none behind. */
const FIXED = fixed as unknown as Mistakes;
/** Mistakes for which no fix is proposed, because only the author knows what is meant. */
const OPEN = open as unknown as Mistakes;

const NAMES = Object.keys(BASES) as BaseName[];
const listMistakes = (table: Mistakes) =>
  NAMES.flatMap((base) => (table[base] ?? []).map((mistake) => ({ base, mistake })));

function lint(base: BaseName, text: string): readonly Problem[] {
  const { file, known } = BASES[base];
  return checkFlow(text, file, known).problems;
}

/** The flow with the mistake, where lint must see it, and the flow as a fix must leave it. */
function make(base: BaseName, [, from, to, , { at, and = [], mended = from } = {}]: Mistake) {
  const replace = (text: string, [old, other]: readonly [string, string]) => {
    assert.ok(text.includes(old), `${old} is not in ${base}`);
    return text.replaceAll(old, () => other);
  };
  const text = and.reduce(replace, BASES[base].text);
  const start = text.indexOf(from);
  assert.ok(start >= 0, `${from} is not in ${base}`);
  const put = (by: string) => text.slice(0, start) + by + text.slice(start + from.length);
  if (at === undefined) return { wrong: put(to.replace('‸', '')), at: start + to.indexOf('‸'), fixed: put(mended) };
  const wrong = replace(text, [from, to]);
  const behind = wrong.indexOf(at, start);
  return { wrong, at: behind >= 0 ? behind : wrong.indexOf(at), fixed: put(mended) };
}

/** The problem that lint must see. */
function see(base: BaseName, mistake: Mistake, { wrong, at }: { wrong: string; at: number }): Problem {
  const [name, , , says, { also = [] } = {}] = mistake;
  const [code, severity] = name.split(' ').reverse();
  const problems = lint(base, wrong);
  const seen = problems.map(problemLine).join('\n');
  const { line, column } = positionAt(wrong, at);
  const problem = problems.find((one) => one.code === code && one.line === line && one.column === column);
  assert.ok(problem, `${code} at ${line}:${column} in:\n${seen}`);
  const { message, fix, pointer } = problem;
  assert.is(problem.severity, severity ?? 'error', seen);
  for (const words of [says].flat()) assert.ok(`${message} ${fix}`.includes(words), `${words} in:\n${seen}`);
  for (const jargon of ['in oneOf', 'discriminator', ' schema', 'additionalProp', 'instance', 'pattern "'])
    assert.not.ok(`${message} ${fix}`.includes(jargon), seen);
  assert.ok(/^(\/|$)/.test(pointer) && fix.length > 5 && /[.!?]$/.test(message), seen);
  assert.equal(
    problems.filter((one) => one !== problem).map((one) => one.code),
    also,
    seen,
  );
  return problem;
}

for (const base of NAMES)
  test(`${base} has no mistakes before one is made`, () =>
    assert.equal(lint(base, BASES[base].text).map(problemLine), []));

test('every rule has its own code, says what is wrong, and sees one of the mistakes', () => {
  const codes = RULES.map(({ code }) => code);
  assert.is(new Set(codes).size, codes.length);
  const seen = new Set([FIXED, OPEN].flatMap(listMistakes).map(({ mistake: [name] }) => name.split(' ').at(-1)));
  assert.equal(
    codes.filter((code) => !seen.has(code)),
    [],
  );
  for (const { means } of RULES) assert.ok(means.length > 10);
});

for (const { base, mistake } of listMistakes(FIXED))
  test(`${base}, ${mistake[0]}: ${mistake[2]} is fixed`, () => {
    const made = make(base, mistake);
    const { edit } = see(base, mistake, made);
    assert.ok(edit, 'a fix that is certain');
    const after = made.wrong.slice(0, edit.from) + edit.insert + made.wrong.slice(edit.to);
    assert.is(after, made.fixed);
    assert.equal(lint(base, after).map(problemLine), []);
  });

for (const { base, mistake } of listMistakes(OPEN))
  test(`${base}, ${mistake[0]}: ${mistake[2] || `without ${mistake[1]}`} is seen`, () =>
    assert.is(see(base, mistake, make(base, mistake)).edit, undefined, 'a fix, though only the author knows'));

test.run();
