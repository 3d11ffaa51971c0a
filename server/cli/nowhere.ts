// A server for its routes alone: with the doors of a configuration, and without its data, its port or its log.

import type { RunningServer } from '../boot/start.ts';
import { type Config, readConfig } from '../config/config.ts';
import { IN_MEMORY } from '../config/generated.ts';

const NOWHERE = {
  ...{ DATA_DIR: IN_MEMORY, REDIS_URL: '', MONGODB_URL: '', PORT: '0', HOST: '127.0.0.1' },
  ...{ LOG_LEVEL: 'silent', RATE_LIMIT_EXEMPT: '' },
};

/** The configuration of such a server, or the problems that stand in its way. */
export function readNowhere(env: NodeJS.ProcessEnv): ReturnType<typeof readConfig> {
  const metrics = env.METRICS_PORT?.trim() ? { METRICS_PORT: '0' } : {};
  return readConfig({ ...env, ...NOWHERE, ...metrics }, { makeKeys: true });
}

/** Starts it for as long as `work` takes. Nothing is kept, and it listens where nobody knows. */
export async function withNowhere<T>(config: Config, work: (server: RunningServer) => T | Promise<T>): Promise<T> {
  const { startServer } = await import('../boot/start.ts');
  const server = await startServer(config);
  try {
    return await work(server);
  } finally {
    await server.close({ drainDelayMs: 0 });
  }
}
