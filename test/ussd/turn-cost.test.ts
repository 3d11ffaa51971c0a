// What a turn costs, counted rather than timed: the bytes that it allocates, the promises that it makes, and how often it asks its
// store. A bound that fails tells of a copy, a closure or a wait that came into the path of every turn; see npm run bench.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtFile } from '../support/build.ts';

const test = suite('cost of a turn');

/** Bytes: 25,250 measured on Node 20, and a fifth more, for other versions of Node allocate a little more or less. Promises: 17.6. */
const MOST = { bytes: 30_300, promises: 18 };
const WITHOUT_COLLECTION = ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256'];

test('a turn allocates no more bytes and makes no more promises than it did, and asks its store twice', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...WITHOUT_COLLECTION,
    await builtFile('test/ussd/turn-child.ts'),
  ]);
  const { bytes, promises, loads, commits } = JSON.parse(stdout) as Record<string, number>;
  assert.ok(bytes! <= MOST.bytes, `${bytes} bytes a turn, at most ${MOST.bytes}`);
  assert.ok(promises! <= MOST.promises, `${promises} promises a turn, at most ${MOST.promises}`);
  assert.equal([loads, commits], [1, 1]);
});

test.run();
