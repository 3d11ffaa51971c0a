// A server that is started for its routes alone: the doors of a configuration, with stores in memory, any free port and no log.

import type { RunningServer } from '../boot/start.ts';
import { type Config, readConfig } from '../config/config.ts';
import { IN_MEMORY } from '../config/data-dir.ts';

const NOTHING_KEPT = {
  ...{ DATA_DIR: IN_MEMORY, REDIS_URL: '', MONGODB_URL: '', PORT: '0', HOST: '127.0.0.1' },
  ...{ LOG_LEVEL: 'silent', RATE_LIMIT_EXEMPT: '' },
};

/** Its configuration: that of `env`, with stores in memory and any free port. */
export function readScratchConfig(env: NodeJS.ProcessEnv): ReturnType<typeof readConfig> {
  const metrics = env.METRICS_PORT?.trim() ? { METRICS_PORT: '0' } : {};
  return readConfig({ ...env, ...NOTHING_KEPT, ...metrics }, { makeKeys: true });
}

/** Starts such a server for as long as `work` takes. */
export async function withScratchServer<T>(
  config: Config,
  work: (server: RunningServer) => T | Promise<T>,
): Promise<T> {
  const { startServer } = await import('../boot/start.ts');
  const server = await startServer(config);
  try {
    return await work(server);
  } finally {
    await server.close({ drainDelayMs: 0 });
  }
}
