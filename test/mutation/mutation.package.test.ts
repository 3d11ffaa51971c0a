// Mutation testing itself: what is noticed and what is not, and when a group passes.

import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EQUIVALENTS } from './equivalents.ts';
import { GROUPS } from './groups.ts';
import { mutate, type Progress } from './stryker.ts';
import { describeChange, type Equivalent, judge, type Mutant } from './verdict.ts';

const test = suite('mutation testing');

const SAMPLE = {
  guards: 'nothing',
  files: ['test/mutation/sample/sample.ts'],
  tests: ['mutation/sample/sample'],
};

test('of a small file every change but those at a limit that no test asks for is noticed, and nothing is left', async () => {
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('twinline-mutants-'));
  const before = folders();
  const told: Progress[] = [];
  const mutants = await mutate(SAMPLE, { jobs: 1, onProgress: (progress) => told.push(progress) });
  const missed = mutants.filter(({ fate }) => fate === 'survived').map(({ at, change }) => `${at} | ${change}`);
  assert.equal(missed.sort(), [
    'const count = word.length + 0; | word.length + 0 → word.length - 0',
    'if (before !== undefined) return before; | before !== undefined → false',
    'return age >= 18; | age >= 18 → age > 18',
  ]);
  assert.ok(mutants.length > 12);
  assert.equal(told.at(-1), { done: mutants.length, of: mutants.length, survived: 3 });
  assert.equal(
    folders().filter((name) => !before.includes(name)),
    [],
  );
});

const mutant = (n: number, fate: Mutant['fate']): Mutant => ({
  file: 'a.ts',
  line: n,
  at: `line ${n}`,
  change: `a → ${n}`,
  fate,
});
const equivalent = (n: number, at?: string): Equivalent => ({
  file: 'a.ts',
  change: `a → ${n}`,
  why: 'it is the same',
  ...(at !== undefined && { at }),
});
const noticed = (count: number) => Array.from({ length: count }, (_, n) => mutant(n + 100, 'noticed'));

test('a group passes when nine of ten changes are noticed', () => {
  assert.ok(judge([...noticed(9), mutant(1, 'survived')], []).passes);
  assert.not(judge([...noticed(8), mutant(1, 'survived')], []).passes);
  assert.not(judge([], []).passes, 'nothing was changed');
});

test('what is declared as equivalent does not count; where a line is named, on that line only', () => {
  const mutants = [...noticed(8), mutant(1, 'survived'), mutant(2, 'survived')];
  const verdict = judge(mutants, [equivalent(1), equivalent(2, 'line 2')]);
  assert.equal([verdict.share, verdict.equivalent, verdict.survivors, verdict.passes], [1, 2, [], true]);
  assert.is(judge(mutants, [equivalent(1), equivalent(2, 'line 3')]).survivors.length, 1);
});

test('what is declared and was noticed, or is gone, is stale and fails', () => {
  for (const gone of [equivalent(100), equivalent(7)]) {
    const { stale, passes } = judge(noticed(9), [gone]);
    assert.equal([stale, passes], [[gone], false]);
  }
});

test('a change is named in one line', () => {
  assert.is(describeChange('a\n   + b', 'a - b'), 'a + b → a - b');
  assert.is(describeChange('x'.repeat(61), ''), `${'x'.repeat(59)}… → `);
});

test('every file and test of a group is there, and every equivalent change is in a file of a group', () => {
  const groups = Object.values(GROUPS);
  for (const { files, tests } of groups)
    for (const path of [...files, ...tests.map((name) => `test/${name}.test.ts`)]) assert.ok(existsSync(path), path);
  for (const { file, why } of EQUIVALENTS) {
    assert.ok(
      groups.some(({ files }) => files.includes(file)),
      file,
    );
    assert.ok(why);
  }
});

test.run();
