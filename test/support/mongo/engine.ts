// The DocumentDB engine with the bridge in front of it: a MongoDB server of this repository's own, for tests.

import { join } from 'node:path';
import { type Bridge, startBridge } from './bridge.ts';
import { beside } from './chroot.ts';
import { type Guarded, startGuarded } from './guarded.ts';

const START_MS = 20_000;
// Its own mounts, processes and shared memory: all of it ends with the first process. The guard's death ends unshare.
const ISOLATED = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--ipc', '--fork', '--kill-child'];

export interface Engine {
  readonly url: string;
  readonly version: string;
  /** PostgreSQL is killed with -9 and started on the same files; meanwhile nobody listens. Nothing that was written is lost. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts PostgreSQL in the chroot on an empty database, and a bridge to it. Takes about half a second. */
export async function startEngine(chroot: string): Promise<Engine> {
  const postgres = await startGuarded({
    command: (folder) => [...ISOLATED, 'sh', beside('run-postgres.sh'), chroot, folder],
    ready: /database system is ready to accept connections/,
    timeoutMs: START_MS,
  });
  try {
    const socket = join(postgres.folder, '.s.PGSQL.5432');
    let bridge = await startBridge(socket);
    const { port, version } = bridge;
    const restart = async () => {
      await bridge.stop();
      await postgres.restart();
      bridge = await startBridge(socket, port);
    };
    return { url: `mongodb://127.0.0.1:${port}`, version, restart, stop: () => stop(bridge, postgres) };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

async function stop(bridge: Bridge, postgres: Guarded): Promise<void> {
  await bridge.stop();
  await postgres.stop();
}
