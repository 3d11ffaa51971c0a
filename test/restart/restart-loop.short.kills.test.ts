// Processes killed with -9 on the embedded stores: everything that was acknowledged is there, nothing is torn.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withFolder } from '../support/process.ts';
import { chooseSize } from '../support/size.ts';
import { restartLoop } from './loop.ts';

/** `npm run restarts` takes as many as are wanted. */
const CYCLES = chooseSize({ short: 6, day: 40, whole: 80 });

const test = suite('restart loop');

test(`${CYCLES} processes that write to LMDB and SQLite are killed with -9: after every restart all that was acknowledged is there`, () =>
  withFolder(async (folder) => {
    const so = await restartLoop({ folder, cycles: CYCLES });
    assert.ok(so.cycles >= CYCLES, `${so.cycles} cycles`);
    assert.ok(so.sessions > 5 * CYCLES, `${so.sessions} commits`);
    assert.ok(so.documents > 2 * CYCLES, `${so.documents} writes`);
    assert.ok(so.checked > 8 * CYCLES, `${so.checked} looked up`);
    // Some died between the write and the word of it, or the kills come at the wrong moments.
    assert.ok(so.ahead > 0, `${so.ahead} ahead`);
  }));

test.run();
