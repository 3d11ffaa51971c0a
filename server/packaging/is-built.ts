// Before `npm start`: exits with 0 when `dist` is built from the current source, else with 1. It loads no compiler.

import { isBuilt, keyOfDist, runnableKey } from './dist.ts';

const root = process.cwd();
const key = keyOfDist(root);
process.exitCode = [key, runnableKey(key)].some((one) => isBuilt(root, one)) ? 0 : 1;
