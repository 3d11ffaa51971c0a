// How far long work has come, where there is no terminal: a line now and then, and none of work that is soon done.

import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { formatTable, showProgress } from '../../../server/cli/terminal.ts';

const test = suite('terminal');

async function linesOf(total: number | undefined, lineMs: number): Promise<string> {
  const stream = new PassThrough();
  const progress = await showProgress({ total, stream: stream as unknown as NodeJS.WriteStream, lineMs });
  progress.update(50, { lines: 1_250, failed: 3 });
  await pause(60);
  progress.stop();
  await pause(40);
  return String(stream.read() ?? '');
}

test('a line now and then says the share, the count, the rate, the time to go and the failures', async () => {
  const [line] = (await linesOf(200, 20)).split('\n');
  assert.match(line!, /^25%, 1,250 lines, \d+ lines\/s, \d+ s to go, 3 failed$/);
  assert.match((await linesOf(undefined, 20)).split('\n')[0]!, /^1,250 lines, \d+ lines\/s, 3 failed$/);
});

test('work that is done before says nothing, and nothing is said after the end', async () => {
  assert.is(await linesOf(200, 60_000), '');
  const told = await linesOf(200, 25);
  assert.ok(told.split('\n').length <= 4, told);
});

test('columns are as wide as their widest cell, and lines do not end in spaces', () => {
  assert.equal(
    formatTable(
      ['a', 'long'],
      [
        ['wide cell', 'x'],
        ['y', ''],
      ],
    ),
    ['a          long', 'wide cell  x', 'y'],
  );
});

test.run();
