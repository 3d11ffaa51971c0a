// The thread that lays out graphs with elkjs, one after the other: gets a request, posts an answer.

import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import type { ELK, ElkNode } from 'elkjs';

export interface LayoutRequest {
  readonly id: number;
  readonly graph: ElkNode;
}

/** The graph with places, or why there are none. */
export interface LayoutAnswer {
  readonly id: number;
  readonly laid?: ElkNode;
  readonly problem?: string;
}

// The package says that this file is a class, and it exports one; loaded as a module, it would be wrapped.
const Elk = createRequire(import.meta.url)('elkjs/lib/elk.bundled.js') as new () => ELK;
const elk = new Elk();

parentPort!.on('message', async ({ id, graph }: LayoutRequest) => {
  const answer = await elk.layout(graph).then(
    (laid): LayoutAnswer => ({ id, laid }),
    (error: unknown): LayoutAnswer => ({ id, problem: error instanceof Error ? error.message : String(error) }),
  );
  parentPort!.postMessage(answer);
});
