// What `import … from 'twinline/server'` gives: a whole server from an environment, for tests and for hosts of their own.

import type { Config } from './config.ts';
import type { RunningServer } from './running-server.ts';
import { startServer as start } from './start.ts';

export { type Config, readConfig } from './config.ts';
export type { RunningServer } from './running-server.ts';

/** Starts a server. Throws ERR_CONFIG, ERR_FLOW_INVALID, ERR_FLOW_UNKNOWN or ERR_STORE; then nothing is left open. */
export function startServer(config: Config): Promise<RunningServer> {
  return start(config);
}
