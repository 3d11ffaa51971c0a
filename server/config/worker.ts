// Worker threads that run a module of ours, as source or as built.

import { Worker, type WorkerOptions } from 'node:worker_threads';

const IS_BUILT = import.meta.url.endsWith('.js');

/** Starts a thread with a module, named as in the source: `new URL('../layout-worker.ts', import.meta.url)`. */
export function startWorker(module: URL, options: WorkerOptions): Worker {
  if (IS_BUILT) return new Worker(new URL(module.href.replace(/\.ts$/, '.js')), options);
  // Only where the source runs as it is, and then tsx is there; on Node 20 threads do not inherit it.
  const boot = `import('${import.meta.resolve('tsx/esm/api')}').then((tsx) => (tsx.register(), import('${module}')))`;
  return new Worker(boot, { ...options, eval: true });
}
