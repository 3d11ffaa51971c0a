// Whatever a door needs and however that fails: the answer is the one of the matrix, in its time, health tells the truth all
// the while, and afterwards all is well without a restart, nothing lost and nothing done twice.

import { type DependencyName, MATRIX, SHORT } from './matrix.ts';
import { withCounterparts, withModel } from './outside-grounds.ts';
import { matrixTests } from './play-matrix.ts';
import { withDisks, withMongo, withRedis } from './store-grounds.ts';

/** Deadlines of whole servers are measured. */
export const runs = 'alone';

matrixTests({
  dependencies: Object.keys(MATRIX) as DependencyName[],
  grounds: [withRedis, withMongo, withDisks, withCounterparts, withModel],
  windows: SHORT,
  isTimed: true,
});
