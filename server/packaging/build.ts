// `npm run build`, and before `npm start`: makes `dist` unless it is built from this source already. To find that out, which
// every start waits for, it loads no compiler, bundler or lock.

import { isBuilt, keyOfDist } from './dist.ts';

const root = process.cwd();

if (!isBuilt(root, keyOfDist(root))) {
  const { build } = await import('./make.ts');
  process.exitCode = await build(root);
}
