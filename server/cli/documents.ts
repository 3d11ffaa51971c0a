// Opens a server's document store for a command. The embedded store can be open in a running server at the same time: several
// processes on one machine share it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { TwinlineError } from '../../lib/errors.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { type Config, readConfig } from '../config/config.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import type { Log } from '../telemetry/log.ts';

export interface OpenDocuments {
  readonly config: Config;
  readonly documents: DocumentStore;
  readonly log: Log;
}

/**
 * Opens the documents of this configuration while `work` lasts. Throws ERR_CONFIG when the configuration cannot be used or
 * there are none, in words that say `what` cannot be read; nothing is made where there is nothing.
 */
export async function withDocuments<T>(
  { env, what }: { readonly env: NodeJS.ProcessEnv; readonly what: string },
  work: (open: OpenDocuments) => Promise<T>,
): Promise<T> {
  const { config, problems } = readConfig(env);
  if (!config) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  requireDocuments(config, what);
  const [{ DOCUMENT_BACKENDS, openFirst }, { checkDocuments }, { createLog }] = await Promise.all([
    import('../stores/backends.ts'),
    import('../stores/stores.ts'),
    import('../telemetry/log.ts'),
  ]);
  const log = createLog({ logLevel: 'warn', redact: config.redact }, pino.destination({ dest: 2, sync: true }));
  const { store: documents, close } = await openFirst(DOCUMENT_BACKENDS, config, { log });
  try {
    await checkDocuments(documents, config.keyring);
    return await work({ config, documents, log });
  } finally {
    await close();
  }
}

function requireDocuments({ dataDir, mongodbUrl, keyring }: Config, what: string): void {
  const isThere = mongodbUrl !== undefined || (dataDir !== IN_MEMORY && existsSync(join(dataDir, 'twinline.db')));
  if (isThere && keyring) return;
  const where = mongodbUrl === undefined ? `DATA_DIR=${dataDir}` : 'MONGODB_URL';
  const fix = 'Give the settings of the server (--env-file).';
  throw new TwinlineError('ERR_CONFIG', `No ${what} can be read in ${where}. ${fix}`);
}
