// Every known way to look green without being green ends as a failure that names its file and its reason.

import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Outcome, runFixture } from './spawn.ts';

interface Trap {
  readonly file: string;
  readonly promise: string;
  readonly passed: number;
  readonly failed: number;
  /** Each of them is said about the file. */
  readonly says: readonly string[];
}

const TRAPS = JSON.parse(
  readFileSync(new URL('../fixtures/runner/traps.json', import.meta.url), 'utf8'),
) as readonly Trap[];

const test = suite<{ outcome: Outcome }>('traps', {} as { outcome: Outcome });

test.before(async (context) => {
  context.outcome = await runFixture('traps', { words: ['--stall', '1000'] });
});

for (const { file, promise, passed, failed, says } of TRAPS)
  test(promise, ({ outcome }) => {
    const said = section(outcome.text, `${file}.test.ts`);
    const counts = failed ? `${passed} passed, ${failed} failed` : `${passed} passed`;
    assert.match(said, new RegExp(`^${failed ? '✘' : '✓'} ${file}\\.test\\.ts {2}${counts} {2}\\d`));
    for (const words of says) assert.ok(said.includes(words), `${file} says nothing like "${words}", but:\n${said}`);
  });

test('a test file with a misspelt ending fails, since it would never run', ({ outcome }) => {
  const said = section(outcome.text, 'the run');
  assert.ok(said.includes('typo.tests.ts') && said.includes('end its name with .test.ts'), said);
});

test('the last line adds up everything and the exit code is 1', ({ outcome }) => {
  const sum = (pick: (trap: Trap) => number) => TRAPS.reduce((total, trap) => total + pick(trap), 0);
  assert.is(outcome.lastLine, `${sum((trap) => trap.passed)} passed, ${sum((trap) => trap.failed) + 1} failed`);
  assert.is(outcome.code, 1);
});

test('a run of many files repeats its failures at its end, each with its file and its reason', ({ outcome }) => {
  const end = outcome.text.slice(outcome.text.indexOf('✘ failed: '));
  const repeated = end.match(/^✘ failed: .+$/gm) ?? [];
  assert.is(repeated.length, Number(/(\d+) failed$/.exec(outcome.lastLine)?.[1]), end);
  for (const { file, failed, says } of TRAPS.filter((trap) => trap.failed)) {
    assert.is(repeated.filter((line) => line.startsWith(`✘ failed: ${file}.test.ts: `)).length, failed, end);
    for (const words of says) assert.ok(end.includes(words), `${file}: "${words}" is not repeated`);
  }
});

test.run();

/** What is said about one file: its line and the indented lines below it. */
function section(text: string, name: string): string {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.slice(2).startsWith(`${name}  `));
  const to = lines.findIndex((line, at) => at > from && !line.startsWith(' '));
  return from < 0 ? '' : lines.slice(from, to).join('\n');
}
