// Worker threads: one that runs a module of ours, as source or as built; and one that does jobs in turn with little memory and
// little time, so that no job holds up the process or hurts it.

import { parentPort, Worker, type WorkerOptions } from 'node:worker_threads';
import { TwinlineError } from '../../lib/errors.ts';

/** What a thread refuses in words of its own, by an ERR_INPUT, or fails by. */
interface JobProblem {
  readonly message: string;
  readonly isRefused: boolean;
}

interface JobAnswer<Answer> {
  readonly id: number;
  readonly answer?: Answer;
  readonly problem?: JobProblem;
}

export interface JobThreadOptions {
  /** The module of the thread, which calls `answerJobs`. */
  readonly module: URL;
  /** Milliseconds and megabytes that one job may take. */
  readonly ms: number;
  readonly memoryMb: number;
  /** Jobs that may wait. */
  readonly most: number;
  /** What a job that did not end well rejects with. */
  readonly errors: JobErrors;
}

export interface JobErrors {
  tooSlow(ms: number): TwinlineError;
  /** `why` in words. */
  failed(why: string): TwinlineError;
  busy(most: number): TwinlineError;
  closed(): TwinlineError;
}

export interface JobThread<Job, Answer> {
  /** Rejects with what the options say, or with the ERR_INPUT by which the thread refuses it. */
  run(job: Job): Promise<Answer>;
  /** Ends the thread; what is not done rejects. */
  close(): Promise<void>;
}

interface Waiting<Job, Answer> {
  readonly id: number;
  readonly job: Job;
  resolve(answer: Answer): void;
  reject(error: TwinlineError): void;
}

/** The thread is started when it is needed, and again after it had to be ended; it keeps no process alive at rest. */
export function jobThread<Job, Answer>({
  module,
  ms,
  memoryMb,
  most,
  errors,
}: JobThreadOptions): JobThread<Job, Answer> {
  const waiting: Waiting<Job, Answer>[] = [];
  let worker: Worker | undefined;
  let present: Waiting<Job, Answer> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let count = 0;
  let isClosed = false;

  const settle = (end: (done: Waiting<Job, Answer>) => void): void => {
    clearTimeout(timer);
    const done = present;
    present = undefined;
    if (done) end(done);
    next();
  };
  // The worker is of no use any more; the next job gets another.
  const give = (error: TwinlineError): void => {
    void worker?.terminate();
    worker = undefined;
    settle(({ reject }) => reject(error));
  };
  const next = (): void => {
    present ??= waiting.shift();
    if (!present) {
      worker?.unref();
      return;
    }
    worker ??= start();
    worker.ref();
    worker.postMessage({ id: present.id, job: present.job });
    timer = setTimeout(() => give(errors.tooSlow(ms)), ms);
  };
  const start = (): Worker => {
    const resourceLimits = { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32, stackSizeMb: 8 };
    const made = startWorker(module, { resourceLimits });
    made.on('message', ({ id, answer, problem }: JobAnswer<Answer>) => {
      if (present?.id !== id) return;
      settle(({ resolve, reject }) => {
        if (!problem) return resolve(answer as Answer);
        reject(problem.isRefused ? new TwinlineError('ERR_INPUT', problem.message) : errors.failed(problem.message));
      });
    });
    made.on('error', (error) => made === worker && give(errors.failed(describeEnd(error, memoryMb))));
    made.on('exit', () => made === worker && give(errors.failed('the worker ended')));
    return made;
  };
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(errors.closed());
        if (waiting.length >= most) return reject(errors.busy(most));
        waiting.push({ id: count++, job, resolve, reject });
        if (!present) next();
      }),
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      const ended = worker;
      worker = undefined;
      for (const { reject } of [...(present ? [present] : []), ...waiting.splice(0)]) reject(errors.closed());
      present = undefined;
      await ended?.terminate();
    },
  };
}

function describeEnd(error: unknown, memoryMb: number): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? `it takes more than ${memoryMb} MB` : (code ?? message);
}

/** In the thread: does each job that comes, and posts its answer. */
export function answerJobs<Job, Answer>(work: (job: Job) => Answer | Promise<Answer>): void {
  parentPort!.on('message', async ({ id, job }: { readonly id: number; readonly job: Job }) => {
    try {
      parentPort!.postMessage({ id, answer: await work(job) } satisfies JobAnswer<Answer>);
    } catch (error) {
      const isRefused = error instanceof TwinlineError && error.code === 'ERR_INPUT';
      const message = error instanceof Error ? error.message : String(error);
      parentPort!.postMessage({ id, problem: { message, isRefused } } satisfies JobAnswer<Answer>);
    }
  });
}

const IS_BUILT = import.meta.url.endsWith('.js');

/** Starts a thread with a module, named as in the source: `new URL('../layout-worker.ts', import.meta.url)`. */
export function startWorker(module: URL, options: WorkerOptions): Worker {
  if (IS_BUILT) return new Worker(new URL(module.href.replace(/\.ts$/, '.js')), options);
  // Only where the source runs as it is, and then tsx is there; on Node 20 threads do not inherit it.
  const boot = `import('${import.meta.resolve('tsx/esm/api')}').then((tsx) => (tsx.register(), import('${module}')))`;
  return new Worker(boot, { ...options, eval: true });
}
