// The thread that lays out graphs with elkjs, one after the other.

import { createRequire } from 'node:module';
import type { ELK, ElkNode } from 'elkjs';
import { answerJobs } from '../../config/job-thread.ts';

// The package says that this file is a class, and it exports one; loaded as a module, it would be wrapped.
const Elk = createRequire(import.meta.url)('elkjs/lib/elk.bundled.js') as new () => ELK;
const elk = new Elk();

answerJobs((graph: ElkNode) => elk.layout(graph));
