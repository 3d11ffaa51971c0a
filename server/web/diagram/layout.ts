// Laying out graphs in a worker thread with little memory and little time, so that no graph can hurt the process.

import type { Worker } from 'node:worker_threads';
import type { ElkNode } from 'elkjs';
import { TwinlineError } from '../../../lib/errors.ts';
import { startWorker } from '../../config/worker.ts';
import { PAGE_LIMITS } from '../limits.ts';
import type { LayoutAnswer, LayoutRequest } from './layout-worker.ts';

export interface Layout {
  /**
   * The graph with places. Rejects with ERR_TIMEOUT after PAGE_LIMITS.layoutMs of work, with ERR_BUSY when PAGE_LIMITS.layoutQueue
   * graphs are waiting, with ERR_INPUT when the worker has no memory left for it or cannot lay it out.
   */
  place(graph: ElkNode): Promise<ElkNode>;
  /** Ends the worker; what is being laid out rejects. */
  close(): Promise<void>;
}

export interface LayoutLimits {
  /** @default PAGE_LIMITS.layoutMs */
  readonly ms?: number;
  /** @default PAGE_LIMITS.layoutMemoryMb */
  readonly memoryMb?: number;
}

interface Job extends LayoutRequest {
  resolve(laid: ElkNode): void;
  reject(error: TwinlineError): void;
}

/** One worker that is started when it is needed, and again after it had to be ended; it keeps no process alive at rest. */
export function layout({
  ms = PAGE_LIMITS.layoutMs,
  memoryMb = PAGE_LIMITS.layoutMemoryMb,
}: LayoutLimits = {}): Layout {
  const waiting: Job[] = [];
  let worker: Worker | undefined;
  let job: Job | undefined;
  let timer: NodeJS.Timeout | undefined;
  let count = 0;
  let isClosed = false;

  const settle = (end: (job: Job) => void): void => {
    clearTimeout(timer);
    const done = job;
    job = undefined;
    if (done) end(done);
    next();
  };
  // The worker is of no use any more; the next graph gets another.
  const give = (error: TwinlineError): void => {
    void worker?.terminate();
    worker = undefined;
    settle(({ reject }) => reject(error));
  };
  const next = (): void => {
    job ??= waiting.shift();
    if (!job) {
      worker?.unref();
      return;
    }
    worker ??= started();
    worker.ref();
    worker.postMessage({ id: job.id, graph: job.graph } satisfies LayoutRequest);
    timer = setTimeout(() => give(tooSlow(ms)), ms);
  };
  const started = (): Worker => {
    const resourceLimits = { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32, stackSizeMb: 8 };
    const made = startWorker(new URL('./layout-worker.ts', import.meta.url), { resourceLimits });
    made.on('message', ({ id, laid, problem }: LayoutAnswer) => {
      if (job?.id !== id) return;
      settle(({ resolve, reject }) => (laid ? resolve(laid) : reject(failed(problem ?? 'no answer'))));
    });
    made.on('error', (error) => made === worker && give(failed(readCode(error), memoryMb)));
    made.on('exit', () => made === worker && give(failed('the worker ended')));
    return made;
  };
  return {
    place: (graph) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(failed('diagrams are closed'));
        if (waiting.length >= PAGE_LIMITS.layoutQueue) return reject(busy());
        waiting.push({ id: count++, graph, resolve, reject });
        if (!job) next();
      }),
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      const ended = worker;
      worker = undefined;
      for (const { reject } of [...(job ? [job] : []), ...waiting.splice(0)]) reject(failed('diagrams are closed'));
      job = undefined;
      await ended?.terminate();
    },
  };
}

const ADVICE = 'Show a part of it: name a state to focus on.';

function tooSlow(ms: number): TwinlineError {
  return new TwinlineError('ERR_TIMEOUT', `The diagram was not laid out within ${ms} ms. ${ADVICE}`);
}

function failed(why: string, memoryMb?: number): TwinlineError {
  const memory = why === 'ERR_WORKER_OUT_OF_MEMORY' ? `it takes more than ${memoryMb} MB` : why;
  return new TwinlineError('ERR_INPUT', `The diagram cannot be laid out: ${memory}. ${ADVICE}`);
}

function busy(): TwinlineError {
  return new TwinlineError(
    'ERR_BUSY',
    `${PAGE_LIMITS.layoutQueue} diagrams are waiting to be laid out. Try again in a moment.`,
  );
}

function readCode(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
