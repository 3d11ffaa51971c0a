// Converts large replies of the node to JSON in a worker thread, one at a time, with limits on time and memory.

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
  /** The ETag of the JSON. */
  readonly tag: string;
  /** Undeclared types inside an Any. */
  readonly unknown: readonly string[];
  /** The input, returned when there are unknown types. */
  readonly bytes?: Uint8Array;
}

/** How long the caller waits for the JSON. */
export interface ReplyWait {
  readonly deadlineMs: number;
  readonly signal: StopSignal;
}

export interface LargeReplies {
  /**
   * Converts a reply after those queued before it, transferring its bytes to the thread. Rejects with the error of the
   * JsonWriter; with ERR_SERVICE `too-large` when it exceeds the time or memory limit; with ERR_BUSY when the queue exceeds
   * its limits; with ERR_TIMEOUT when the deadline passes, the signal aborts, or the converter is closed.
   */
  write(order: Order, waiting: ReplyWait): Promise<WrittenReply>;
  /** Ends the thread and rejects everything pending. */
  close(): Promise<void>;
}

export interface LargeOptions {
  /** All types of replies. */
  readonly base: FileRegistry;
  /** Types learned from the node since; the list only grows. @default none */
  readonly lessons?: readonly Lesson[];
  readonly form: JsonForm;
  /** Limits per reply. @default SERVER_LIMITS.gatewayLargeMs, SERVER_LIMITS.gatewayLargeMemoryMb */
  readonly ms?: number;
  readonly memoryMb?: number;
  /**
   * Limits on queued replies, and on bytes including the current one.
   * @default SERVER_LIMITS.gatewayLargeWaiting, SERVER_LIMITS.gatewayLargeBytes
   */
  readonly most?: number;
  readonly mostBytes?: number;
}

interface Job {
  readonly order: Order;
  resolve(reply: WrittenReply): void;
  reject(error: Error): void;
}

/**
 * Starts the thread on the first large reply, and again after it had to be ended; an idle thread does not keep the process
 * alive.
 */
export function largeReplies({ base, lessons = [], form, ...options }: LargeOptions): LargeReplies {
  const { ms = SERVER_LIMITS.gatewayLargeMs, memoryMb = SERVER_LIMITS.gatewayLargeMemoryMb } = options;
  const { most = SERVER_LIMITS.gatewayLargeWaiting, mostBytes = SERVER_LIMITS.gatewayLargeBytes } = options;
  const workerData: ThreadData = { set: encodeRegistry(base), form };
  const budget = new ByteBudget(mostBytes);
  let queue: Job[] = [];
  let thread: Worker | undefined;
  let job: Job | undefined;
  /** Lessons already sent to the thread. */
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
    const worker = startWorker(new URL('./render-thread.ts', import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    worker.on('message', (outcome: RenderOutcome) => {
      if (worker !== thread || !job) return;
      clearTimeout(timer);
      settle(job, outcome);
      next();
    });
    const fail = (why: unknown) => {
      if (worker === thread) end(threadError(why, memoryMb));
    };
    worker.on('error', fail);
    worker.on('exit', fail);
    return worker;
  }

  // The next reply gets a new thread.
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
    const reply = new Promise<WrittenReply>((resolve, reject) => {
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
      return await reply;
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

/** The bytes in a buffer of their own, which can be transferred to a thread. */
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
  const message = `Converting the node's reply to JSON takes more than ${what}. Request smaller pages.`;
  return new TwinlineError('ERR_SERVICE', message, { reason: 'too-large' });
}

function busyError(): TwinlineError {
  const message =
    'Too many large replies are waiting to be converted to JSON. Try again later, or request smaller pages.';
  return new TwinlineError('ERR_BUSY', message);
}

function lateError(): TwinlineError {
  return new TwinlineError('ERR_TIMEOUT', "The deadline passed before the node's reply was converted to JSON.");
}
