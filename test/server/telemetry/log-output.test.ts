// A log that cannot be written loses lines and nothing else: on devices that take some bytes, none, or fail, as the system lets them.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { logOutput } from '../../../server/telemetry/log-output.ts';
import { numbersFrom } from '../../support/random.ts';
import { until } from '../../support/until.ts';

const test = suite('output of the log');

const SEED = Number(process.env.TEST_SEED ?? 1);
const FAILURES = ['ENOSPC', 'EPIPE', 'EIO', 'EAGAIN'] as const;

/** A device that takes what `takes` says of each write: a number of bytes, or a failure. */
function device(takes: (bytes: number) => number | (typeof FAILURES)[number]) {
  let text = '';
  let lost = 0;
  const output = logOutput({
    write: (bytes) => {
      const taken = takes(bytes.length);
      if (typeof taken === 'string') throw Object.assign(new Error(taken), { code: taken });
      text += Buffer.from(bytes.subarray(0, taken)).toString('latin1');
      return taken;
    },
    lossLine: (lines, code) => `LOST ${lines} ${code}.\n`,
    onLost: (lines) => {
      lost += lines;
    },
  });
  return { output, text: () => text, lost: () => lost };
}

test('whatever a device does, it has each line whole and in order, or the line counts as lost; and it is told how many', () => {
  const random = numbersFrom(SEED);
  const below = (end: number) => Math.floor(random() * end);
  for (let round = 0; round < 200; round++) {
    let mood: number | (typeof FAILURES)[number] = Infinity;
    const { output, text, lost } = device((bytes) => {
      if (typeof mood === 'string') return mood;
      // A line that lacks its end alone counts as lost, and is whole once that is written before the next.
      const taken = mood === Infinity ? bytes : Math.max(0, Math.min(bytes - 2, mood));
      if (taken < bytes) mood = FAILURES[below(FAILURES.length)]!;
      return taken;
    });
    const count = 1 + below(40);
    for (let line = 0; line <= count; line++) {
      mood = [Infinity, Infinity, below(12), ...FAILURES][below(3 + FAILURES.length)]!;
      if (line === count) {
        mood = Infinity;
        output.end();
      }
      output.write(`line ${line}.\n`);
    }
    const lines = text().split('\n').slice(0, -1);
    const whole = lines.flatMap((line) => /^line (\d+)\.$/.exec(line)?.slice(1).map(Number) ?? []);
    assert.equal(
      whole,
      [...new Set(whole)].sort((a, b) => a - b),
      `round ${round}: in order, and once`,
    );
    const told = lines.flatMap((line) => /^LOST (\d+) [A-Z]+\.$/.exec(line)?.slice(1).map(Number) ?? []);
    assert.is(
      told.reduce((sum, lines) => sum + lines, 0),
      lost(),
      `round ${round}: ${text()}`,
    );
    assert.is(whole.length + lost(), count + 1, `round ${round}: ${text()}`);
  }
});

test('a reader who stands still for a while gets everything afterwards; one who never reads costs a mebibyte', async () => {
  let still = true;
  const { output, text, lost } = device((bytes) => (still ? 'EAGAIN' : bytes));
  for (let line = 0; line < 100; line++) output.write(`${line}\n`);
  still = false;
  await until('the reader has all', () => text().length === 290);
  assert.is(lost(), 0);
  still = true;
  const long = `${'x'.repeat(1_023)}\n`;
  for (let line = 0; line < 1_500; line++) output.write(long);
  assert.is(lost(), 1_500 - 1_024);
});

test.run();
