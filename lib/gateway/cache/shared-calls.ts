// One call for all who ask the same at the same time: each waits for himself, and the last to leave cancels it.

import { GATEWAY_LIMITS } from '../limits.ts';
import type { CacheResult, Waiting } from './cache.ts';
import { createStop, type Stop, type StopSignal } from './stop.ts';

export interface SharedCalls<T> {
  /** Joins the call that runs under this key, or begins it. Rejects with what `load` throws. */
  join(key: string, waiting: Waiting, load: (signal: StopSignal) => Promise<T>): Promise<CacheResult<T>>;
  /** Callers who joined a call of another one, so far. */
  joined(): number;
}

interface Running<T> {
  readonly answer: Promise<T>;
  readonly stop: Stop;
  waiters: number;
}

export function sharedCalls<T>(): SharedCalls<T> {
  const running = new Map<string, Running<T>>();
  let joined = 0;

  function begin(key: string, load: (signal: StopSignal) => Promise<T>): Running<T> {
    const stop = createStop();
    const call: Running<T> = { answer: load(stop), stop, waiters: 0 };
    running.set(key, call);
    const forget = () => {
      if (running.get(key) === call) running.delete(key);
    };
    call.answer.then(forget, forget);
    return call;
  }

  function leave(key: string, call: Running<T>): void {
    if (--call.waiters) return;
    // Whoever asks from now on begins anew, and does not get what was cancelled.
    if (running.get(key) === call) running.delete(key);
    call.stop.abort();
  }

  function join(
    key: string,
    { deadlineMs, signal }: Waiting,
    load: (signal: StopSignal) => Promise<T>,
  ): Promise<CacheResult<T>> {
    if (signal?.aborted) return Promise.resolve({ kind: 'left' });
    const other = running.get(key);
    if (other && other.waiters >= GATEWAY_LIMITS.sharedWaiters) return Promise.resolve({ kind: 'full' });
    if (other) joined++;
    const call = other ?? begin(key, load);
    call.waiters++;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const over = () => {
        isOver = true;
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const giveUp = (kind: 'late' | 'left') => {
        over();
        resolve({ kind });
        leave(key, call);
      };
      const abort = () => giveUp('left');
      const timer = setTimeout(() => giveUp('late'), deadlineMs);
      signal?.addEventListener('abort', abort, { once: true });
      call.answer.then(
        (answer) => {
          if (isOver) return;
          over();
          resolve({ kind: 'answer', answer, from: other ? 'shared' : 'node' });
        },
        (error) => {
          if (isOver) return;
          over();
          reject(error);
        },
      );
    });
  }

  return { join, joined: () => joined };
}
