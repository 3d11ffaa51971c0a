// Processes killed with -9 on the embedded stores: everything that was acknowledged is there, nothing is torn.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withFolder } from '../support/process.ts';
import { chooseSize } from '../support/size.ts';
import { restartLoop } from './loop.ts';

/** `npm run restarts` takes as many as are wanted. */
const CYCLES = chooseSize({ short: 6, day: 20, whole: 80 });

const test = suite('restart loop');

test(`${CYCLES} processes that write to LMDB and SQLite are killed with -9: after every restart all that was acknowledged is there`, () =>
  withFolder(async (folder) => {
    const so = await restartLoop({ folder, cycles: CYCLES, seed: Number(process.env.TEST_SEED ?? 1) });
    assert.ok(so.cycles >= CYCLES, `${so.cycles} cycles`);
    assert.ok(so.sessions > 0 && so.documents > 0, `${so.sessions} commits, ${so.documents} writes`);
    // From the second process of a lane on, each looks up all that the one before was told.
    assert.ok(so.checked > CYCLES, `${so.checked} looked up`);
  }));

test.run();
