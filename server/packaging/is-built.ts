// Before `npm start`: exits with 0 when `dist` is built from the current source, else with 1. It loads no compiler.

import { isBuilt, keyOfDist } from './dist.ts';

process.exitCode = isBuilt(process.cwd(), keyOfDist(process.cwd())) ? 0 : 1;
