// Whatever stands outside and fails: the answer is the one of the matrix, health tells the truth all the while, and afterwards all
// is well without a restart, nothing lost and nothing done twice. Stores and time: matrix.kills.test.ts.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Dependency, DOORS, type Fault, MATRIX, PATIENT } from './matrix.ts';
import { withCounterparts, withModel } from './outside-grounds.ts';
import { matrixTests } from './play-matrix.ts';

const test = suite('matrix');

test('each door that needs something has an answer for each of its faults', () => {
  for (const { unused, rows } of Object.values<Dependency>(MATRIX)) {
    const doors = Object.keys(DOORS).filter((door) => !Object.hasOwn(unused, door));
    for (const row of Object.values(rows)) if (typeof row !== 'string') assert.equal(Object.keys(row), doors);
  }
});

test.run();

/** Faults in which no deadline plays a part. The model is tried again for seconds each time. */
const SOON: { readonly [name: string]: readonly Fault[] } = { model: ['lose-close'] };

matrixTests({
  dependencies: ['service', 'model', 'tools', 'webhooks', 'node', 'issuers'],
  faults: (name) => SOON[name] ?? ['refuse', 'reset', 'lose-close'],
  grounds: [withCounterparts, withModel],
  windows: PATIENT,
  isTimed: false,
});
