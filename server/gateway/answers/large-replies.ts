// Large replies of the node as JSON, one at a time, in a thread with little memory and little time.

import type { Worker } from 'node:worker_threads';
import { create, type FileRegistry, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { TwinlineError } from '../../../lib/errors.ts';
import type { StopSignal } from '../../../lib/gateway/channel/channel.ts';
import { ByteBudget } from '../../../lib/gateway/channel/message-stream.ts';
import type { JsonForm, Lesson } from '../../../lib/gateway/index.ts';
import { startWorker } from '../../config/job-thread.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import type { Message, Order, RenderOutcome, ThreadData } from './render-thread.ts';

export interface WrittenReply {
  readonly json: Buffer;
  /** The entity tag of the JSON. */
  readonly tag: string;
  /** Types inside an Any that are not declared. */
  readonly unknown: readonly string[];
  /** What was written, when there are unknown types. */
  readonly bytes?: Uint8Array;
}

/** How long the JSON is waited for. */
export interface ReplyWait {
  readonly deadlineMs: number;
  readonly signal: StopSignal;
}

export interface LargeReplies {
  /**
   * Writes one when those before it are written; its bytes are moved away. Rejects with what a JsonWriter throws; with
   * ERR_SERVICE `too-large` when it takes too much time or memory; with ERR_BUSY when too many or too large ones wait; with
   * ERR_TIMEOUT when the deadline passes, the signal aborts, or all is closed.
   */
  write(order: Order, waiting: ReplyWait): Promise<WrittenReply>;
  /** Ends the thread; what is not written rejects. */
  close(): Promise<void>;
}

export interface LargeOptions {
  /** With all types of replies. */
  readonly base: FileRegistry;
  /** What was learned of the node since; it only grows. @default nothing */
  readonly lessons?: readonly Lesson[];
  readonly form: JsonForm;
  /** For one reply. @default SERVER_LIMITS.gatewayLargeMs, SERVER_LIMITS.gatewayLargeMemoryMb */
  readonly ms?: number;
  readonly memoryMb?: number;
  /** Replies that wait, and bytes of them with the one that is being written. @default SERVER_LIMITS.gatewayLargeWaiting, SERVER_LIMITS.gatewayLargeBytes */
  readonly most?: number;
  readonly mostBytes?: number;
}

interface Job {
  readonly order: Order;
  resolve(written: WrittenReply): void;
  reject(error: Error): void;
}

/** The thread starts with the first large reply, and again after it had to be ended; at rest it keeps no process alive. */
export function largeReplies({ base, lessons = [], form, ...options }: LargeOptions): LargeReplies {
  const { ms = SERVER_LIMITS.gatewayLargeMs, memoryMb = SERVER_LIMITS.gatewayLargeMemoryMb } = options;
  const { most = SERVER_LIMITS.gatewayLargeWaiting, mostBytes = SERVER_LIMITS.gatewayLargeBytes } = options;
  const workerData: ThreadData = { set: encodeRegistry(base), form };
  const budget = new ByteBudget(mostBytes);
  let queue: Job[] = [];
  let thread: Worker | undefined;
  let job: Job | undefined;
  /** How many lessons the thread has had. */
  let taught = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function next(): void {
    job = queue.shift();
    if (!job) {
      thread?.unref();
      return;
    }
    thread ??= start();
    thread.ref();
    const message: Message = { order: job.order, lessons: lessons.slice(taught) };
    taught = lessons.length;
    thread.postMessage(message, [job.order.bytes.buffer as ArrayBuffer]);
    timer = setTimeout(() => end(tooMuchError(`${ms} ms`)), ms);
  }

  function start(): Worker {
    taught = 0;
    const made = startWorker(new URL('./render-thread.ts', import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    made.on('message', (outcome: RenderOutcome) => {
      if (made !== thread || !job) return;
      clearTimeout(timer);
      settle(job, outcome);
      next();
    });
    const fail = (why: unknown) => {
      if (made === thread) end(threadError(why, memoryMb));
    };
    made.on('error', fail);
    made.on('exit', fail);
    return made;
  }

  // The next reply gets another thread.
  function end(why: Error): void {
    clearTimeout(timer);
    void thread?.terminate();
    thread = undefined;
    job?.reject(why);
    next();
  }

  async function wait(order: Order, { deadlineMs, signal }: ReplyWait): Promise<WrittenReply> {
    let giveUp = () => {};
    let timer: NodeJS.Timeout | undefined;
    const written = new Promise<WrittenReply>((resolve, reject) => {
      const one = { order, resolve, reject };
      giveUp = () => {
        queue = queue.filter((other) => other !== one);
        reject(lateError());
      };
      queue.push(one);
    });
    timer = setTimeout(giveUp, deadlineMs);
    signal.addEventListener('abort', giveUp, { once: true });
    if (!job) next();
    try {
      return await written;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  return {
    write: async (order, waiting) => {
      if (isClosed || waiting.signal.aborted) throw lateError();
      const { length } = order.bytes;
      if (queue.length >= most || !budget.take(length)) throw busyError();
      try {
        return await wait({ ...order, bytes: toMovable(order.bytes) }, waiting);
      } finally {
        budget.give(length);
      }
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      for (const { reject } of [...(job ? [job] : []), ...queue]) reject(lateError());
      queue = [];
      job = undefined;
      const last = thread;
      thread = undefined;
      await last?.terminate();
    },
  };
}

function encodeRegistry({ files }: FileRegistry): Uint8Array {
  const file = [...files].map(({ proto }) => proto);
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
}

/** Bytes in memory of their own, which can be handed to a thread. */
function toMovable(bytes: Uint8Array): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

function settle({ resolve, reject }: Job, outcome: RenderOutcome): void {
  if (outcome.kind === 'json') {
    const { json, tag, unknown, bytes } = outcome;
    resolve({ json: Buffer.from(json.buffer, json.byteOffset, json.length), tag, unknown, ...(bytes && { bytes }) });
  } else {
    const { message, reason } = outcome;
    reject(reason === undefined ? new Error(message) : new TwinlineError('ERR_SERVICE', message, { reason }));
  }
}

function threadError(why: unknown, memoryMb: number): Error {
  const isMemory = (why as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory ? tooMuchError(`${memoryMb} MB`) : new Error(`The thread for large replies ended: ${why}`);
}

function tooMuchError(what: string): TwinlineError {
  const message = `The reply of the node takes more than ${what} to be written as JSON. Ask for smaller pages.`;
  return new TwinlineError('ERR_SERVICE', message, { reason: 'too-large' });
}

function busyError(): TwinlineError {
  const message =
    'Too many large replies of the node wait to be written as JSON. Ask again later, or for smaller pages.';
  return new TwinlineError('ERR_BUSY', message);
}

function lateError(): TwinlineError {
  return new TwinlineError('ERR_TIMEOUT', 'The deadline passed before the reply of the node was written as JSON.');
}
