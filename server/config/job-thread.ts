// Worker threads: one that runs a module of ours, as source or as built; and one that does jobs in turn with little memory and
// little time, so that no job holds up the process or hurts it. A job may ask the process for what only that has.

import { parentPort, Worker, type WorkerOptions } from 'node:worker_threads';
import { cutText, type ErrorCode, TwinlineError } from '../../lib/errors.ts';

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

/** What the thread asks the process for while it does a job, that it does not want this any more, and what the process answers. */
interface ThreadCall<Call> {
  readonly call: number;
  readonly asked?: Call;
}

interface CallAnswer<Reply> {
  readonly call: number;
  readonly reply?: Reply;
  readonly problem?: { readonly message: string; readonly code: ErrorCode | undefined };
}

/** How a job asks the process for something: it gets the answer, or the error with its code. */
export type AskProcess<Call, Reply> = (asked: Call, signal?: AbortSignal) => Promise<Reply>;

export interface JobThreadOptions<Call, Reply> {
  /** The module of the thread, which calls `answerJobs`. */
  readonly module: URL;
  /** Milliseconds and megabytes that one job may take. */
  readonly ms: number;
  readonly memoryMb: number;
  /** Jobs that may wait. */
  readonly most: number;
  /** What a job that did not end well rejects with. */
  readonly errors: JobErrors;
  /** Answers what jobs ask the process for. `signal` aborts when the thread does not want the answer any more. @default nothing is asked */
  readonly answer?: (asked: Call, signal: AbortSignal) => Promise<Reply>;
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
export function jobThread<Job, Answer, Call = never, Reply = never>({
  module,
  ms,
  memoryMb,
  most,
  errors,
  answer: answerCall,
}: JobThreadOptions<Call, Reply>): JobThread<Job, Answer> {
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
    const takeCall = answerCall && callTaker(made, answerCall);
    made.on('message', (message: JobAnswer<Answer> | ThreadCall<Call>) => {
      if ('call' in message) return takeCall?.(message);
      const { id, answer, problem } = message;
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

/** In the process: does what a thread calls for, and posts what came of it. */
function callTaker<Call, Reply>(
  worker: Worker,
  answer: (asked: Call, signal: AbortSignal) => Promise<Reply>,
): (call: ThreadCall<Call>) => void {
  const open = new Map<number, AbortController>();
  const post = (message: CallAnswer<Reply>) => worker.postMessage(message);
  return async ({ call, asked }) => {
    if (asked === undefined) return open.get(call)?.abort();
    const over = new AbortController();
    open.set(call, over);
    try {
      post({ call, reply: await answer(asked, over.signal) });
    } catch (error) {
      const code = error instanceof TwinlineError ? error.code : undefined;
      post({ call, problem: { message: describeProblem(error), code } });
    } finally {
      open.delete(call);
    }
  };
}

/** In the thread: does each job that comes, and posts its answer. */
export function answerJobs<Job, Answer, Call = never, Reply = never>(
  work: (job: Job, ask: AskProcess<Call, Reply>) => Answer | Promise<Answer>,
): void {
  const { ask, finish } = processAsker<Call, Reply>();
  parentPort!.on('message', async (message: { readonly id: number; readonly job: Job } | CallAnswer<Reply>) => {
    if ('call' in message) return finish(message);
    const { id, job } = message;
    try {
      parentPort!.postMessage({ id, answer: await work(job, ask) } satisfies JobAnswer<Answer>);
    } catch (error) {
      const isRefused = error instanceof TwinlineError && error.code === 'ERR_INPUT';
      parentPort!.postMessage({
        id,
        problem: { message: describeProblem(error), isRefused },
      } satisfies JobAnswer<Answer>);
    }
  });
}

function processAsker<Call, Reply>() {
  const open = new Map<number, { resolve(reply: Reply): void; reject(error: Error): void }>();
  let count = 0;
  const ask: AskProcess<Call, Reply> = (asked, signal) =>
    new Promise((resolve, reject) => {
      const call = count++;
      open.set(call, { resolve, reject });
      signal?.addEventListener('abort', () => open.has(call) && parentPort!.postMessage({ call }), { once: true });
      parentPort!.postMessage({ call, asked } satisfies ThreadCall<Call>);
    });
  const finish = ({ call, reply, problem }: CallAnswer<Reply>): void => {
    const waiting = open.get(call);
    open.delete(call);
    if (!problem) waiting?.resolve(reply as Reply);
    else waiting?.reject(problem.code ? new TwinlineError(problem.code, problem.message) : new Error(problem.message));
  };
  return { ask, finish };
}

const PROBLEM_CHARS = 2_000;

function describeProblem(error: unknown): string {
  return cutText(error instanceof Error ? error.message : String(error), PROBLEM_CHARS);
}

const IS_BUILT = import.meta.url.endsWith('.js');

/** Starts a thread with a module, named as in the source: `new URL('../layout-worker.ts', import.meta.url)`. */
export function startWorker(module: URL, options: WorkerOptions): Worker {
  if (IS_BUILT) return new Worker(new URL(module.href.replace(/\.ts$/, '.js')), options);
  // Only where the source runs as it is, and then tsx is there; on Node 20 threads do not inherit it.
  const boot = `import('${import.meta.resolve('tsx/esm/api')}').then((tsx) => (tsx.register(), import('${module}')))`;
  return new Worker(boot, { ...options, eval: true });
}
