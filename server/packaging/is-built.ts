// Before `npm start`: ends with 0 when `dist`, of which this is a part, is built from the source as it is, else with 1. Every start
// waits for it, so it loads no compiler, not even that of its own language.

import { isBuilt, keyOfDist } from './dist.ts';

const root = process.cwd();
process.exitCode = isBuilt(root, keyOfDist(root)) ? 0 : 1;
