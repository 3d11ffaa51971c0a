// Lays out graphs in a worker thread with limits on memory and time, to protect the process.

import type { ElkNode } from 'elkjs';
import { TwinlineError } from '../../../lib/errors.ts';
import { type JobErrors, jobThread } from '../../config/job-thread.ts';
import { PAGE_LIMITS } from '../limits.ts';

export interface Layout {
  /**
   * Resolves to the graph with positions. Rejects with ERR_TIMEOUT after PAGE_LIMITS.layoutMs of work, with ERR_BUSY if
   * PAGE_LIMITS.layoutQueue graphs are waiting, with ERR_INPUT if the worker runs out of memory or cannot lay it out.
   */
  place(graph: ElkNode): Promise<ElkNode>;
  /** Ends the worker; pending layouts reject. */
  close(): Promise<void>;
}

export interface LayoutLimits {
  /** @default PAGE_LIMITS.layoutMs */
  readonly ms?: number;
  /** @default PAGE_LIMITS.layoutMemoryMb */
  readonly memoryMb?: number;
}

const ADVICE = 'Show a part of it: name a state to focus on.';
const failed = (why: string) => new TwinlineError('ERR_INPUT', `The diagram cannot be laid out: ${why}. ${ADVICE}`);

const ERRORS: JobErrors = {
  tooSlow: (ms) => new TwinlineError('ERR_TIMEOUT', `The diagram was not laid out within ${ms} ms. ${ADVICE}`),
  failed,
  busy: (most) => new TwinlineError('ERR_BUSY', `${most} diagrams are waiting to be laid out. Try again in a moment.`),
  closed: () => failed('diagrams are closed'),
};

export function layout({
  ms = PAGE_LIMITS.layoutMs,
  memoryMb = PAGE_LIMITS.layoutMemoryMb,
}: LayoutLimits = {}): Layout {
  const module = new URL('./layout-worker.ts', import.meta.url);
  const thread = jobThread<ElkNode, ElkNode>({
    ...{ module, ms, memoryMb },
    most: PAGE_LIMITS.layoutQueue,
    errors: ERRORS,
  });
  return { place: thread.run, close: thread.close };
}
