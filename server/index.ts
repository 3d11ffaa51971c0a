// What `import … from 'twinline/server'` gives: a whole server from an environment, for tests and for hosts of their own.

import type { RunningServer } from './boot/running-server.ts';
import { startServer as start } from './boot/start.ts';
import type { Config } from './config/config.ts';

export type { RunningServer } from './boot/running-server.ts';
export { type Config, readConfig } from './config/config.ts';

/** Starts a server. Throws ERR_CONFIG, ERR_FLOW_INVALID, ERR_FLOW_UNKNOWN or ERR_STORE; then nothing is left open. */
export function startServer(config: Config): Promise<RunningServer> {
  return start(config);
}
