// Every known way to look green without being green ends as a failure that names its file and its reason.

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

const TRAPS: readonly Trap[] = [
  {
    file: 'after-each-throws',
    promise: 'a throwing after.each fails its test and hides no other failure',
    passed: 0,
    failed: 2,
    says: ['hooked › passes before its hook', 'the after.each hook threw Error: cannot clean up', '++2', '--1'],
  },
  {
    file: 'after-rejects',
    promise: 'a rejecting after hook fails its suite',
    passed: 1,
    failed: 1,
    says: ['hooked › the after hook', 'threw Error: cannot close'],
  },
  {
    file: 'before-each-throws',
    promise: 'a throwing before.each fails every test',
    passed: 0,
    failed: 2,
    says: ['hooked › would pass too', 'the before.each hook threw Error: cannot prepare'],
  },
  {
    file: 'before-rejects',
    promise: 'a rejecting before hook fails every test that it kept from running',
    passed: 0,
    failed: 2,
    says: ['hooked › the before hook', 'threw Error: cannot open', '2 of its 2 tests did not run to their end'],
  },
  {
    file: 'before-throws',
    promise: 'a throwing before hook is a failure also when the suite has one test',
    passed: 0,
    failed: 2,
    says: ['threw Error: cannot open', '1 of its 1 tests did not run to their end'],
  },
  {
    file: 'changes-world',
    promise: 'a changed environment or working folder fails the file that changed it',
    passed: 1,
    failed: 2,
    says: ['leaves the environment changed: TWINLINE_LEFT_BEHIND', 'leaves the working folder at '],
  },
  {
    file: 'differs',
    promise: 'a failing test shows the difference, and an error its place and cause',
    passed: 0,
    failed: 2,
    says: ['--··"left"', '++··"right"', 'differs.test.ts:6', 'Error: cannot pay', '[cause]: Error: no money'],
  },
  {
    file: 'empty-suite',
    promise: 'a suite without tests fails although its neighbour has some',
    passed: 1,
    failed: 1,
    says: ['table › the suite', 'has no tests'],
  },
  {
    file: 'hangs-on-load',
    promise: 'a file that hangs while it is loaded fails',
    passed: 0,
    failed: 1,
    says: ['loading the file', 'hangs: for 1 s no test ended and the processor was idle'],
  },
  {
    file: 'never-settles',
    promise: 'a test that never settles fails by name, with what it waited for',
    passed: 1,
    failed: 2,
    says: [
      'waiting › "waits for ever"',
      'hangs: for 1 s no test ended and the processor was idle; it waited for: the answer',
      '2 of its 3 tests did not run to their end',
    ],
  },
  {
    file: 'no-run',
    promise: 'a forgotten .run() fails',
    passed: 0,
    failed: 1,
    says: ['forgotten › the suite', 'never calls .run() for 1 tests'],
  },
  { file: 'no-tests', promise: 'a file without tests fails', passed: 0, failed: 1, says: ['has no tests'] },
  {
    file: 'only-left',
    promise: 'a left .only fails although what it runs passes',
    passed: 1,
    failed: 1,
    says: ['focused › passes', '.only is left'],
  },
  {
    file: 'open-handle',
    promise: 'open handles fail the file that left them, by kind',
    passed: 1,
    failed: 1,
    says: ['leaves open: ', '1 × TCPServerWrap', '1 × Timeout'],
  },
  {
    file: 'runs-late',
    promise: 'a .run() after loading fails instead of running nothing',
    passed: 1,
    failed: 2,
    says: ['late › the suite', 'calls .run() after the file was loaded'],
  },
  {
    file: 'skips-silently',
    promise: 'a skip without a reason fails',
    passed: 0,
    failed: 2,
    says: ['silent › nobody knows why', 'test.skip gives no reason', 'skipped() needs a reason'],
  },
  {
    file: 'throws-on-load',
    promise: 'a file that throws while it is loaded fails alone',
    passed: 0,
    failed: 1,
    says: ['the file cannot be loaded', 'Error: cannot load'],
  },
  {
    file: 'throws-values',
    promise: 'a thrown string and a rejection with nothing fail their tests only',
    passed: 1,
    failed: 2,
    says: ["'a string' (not an Error", 'undefined (not an Error'],
  },
  {
    file: 'uncaught',
    promise: 'unhandled rejections and uncaught exceptions fail the file that runs',
    passed: 2,
    failed: 2,
    says: ['unhandled rejection during', 'nobody waited', 'uncaught exception during', 'nobody caught'],
  },
  { file: 'within', promise: 'a good file among bad ones passes', passed: 1, failed: 0, says: ['1 passed'] },
];

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
