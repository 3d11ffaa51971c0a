// Verification by vote keeps its promises on the stores of one process.

import { join } from 'node:path';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import type { OpenDocuments } from '../../lib/testing/documents/bench.ts';
import { closedVotePromises } from './closed-vote-promises.ts';
import { verificationPromises } from './verification-promises.ts';

const BACKENDS: { readonly [name: string]: OpenDocuments } = {
  memory: ({ clock }) => memoryDocuments({ clock }),
  sqlite: ({ folder, clock }) => sqliteDocuments({ path: join(folder, 'documents.db'), clock }),
};

for (const [name, open] of Object.entries(BACKENDS)) {
  verificationPromises(name, open);
  closedVotePromises(name, open);
}
