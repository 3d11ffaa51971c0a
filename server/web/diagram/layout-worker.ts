// Worker thread that lays out graphs with elkjs, one at a time.

import { createRequire } from 'node:module';
import type { ELK, ElkNode } from 'elkjs';
import { answerJobs } from '../../config/job-thread.ts';

// The types say that the module is the class itself, which is true only for require().
const Elk = createRequire(import.meta.url)('elkjs/lib/elk.bundled.js') as new () => ELK;
const elk = new Elk();

answerJobs((graph: ElkNode) => elk.layout(graph));
