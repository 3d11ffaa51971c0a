// Instances of the built server, as processes: started, killed with -9, ended in good order, started again.

import { join } from 'node:path';
import { isReady } from '../support/balancer.ts';
import { type RunningServer, startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';

export interface Fleet {
  /** Of each instance; one that is down is still named where it was. */
  urls(): readonly string[];
  readonly size: number;
  /** kill -9. */
  kill(at: number): Promise<void>;
  /** SIGTERM; resolves with its exit code. */
  end(at: number): Promise<number | null>;
  start(at: number): Promise<void>;
  /** Resolves when each has said that it is ready. */
  ready(): Promise<void>;
  /** What they have printed since they were last started. */
  printed(): string;
  close(): Promise<void>;
}

export interface FleetOptions {
  /** A folder for the folders of all. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: number;
}

export async function startFleet({ folder, env, size }: FleetOptions): Promise<Fleet> {
  const up: (RunningServer | undefined)[] = [];
  const urls: string[] = [];
  const start = async (at: number) => {
    const started = await startProcess({ ...env, DATA_DIR: join(folder, `instance-${at}`) });
    up[at] = started;
    urls[at] = started.url;
  };
  const kill = async (at: number) => {
    const running = up[at];
    up[at] = undefined;
    await running?.kill();
  };
  const close = async () => void (await Promise.all(up.map((_, at) => kill(at))));
  const starts = await Promise.allSettled(Array.from({ length: size }, (_, at) => start(at)));
  const failed = starts.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') {
    await close();
    throw failed.reason;
  }
  return {
    urls: () => urls,
    size,
    start,
    kill,
    end: async (at) => {
      const running = up[at];
      up[at] = undefined;
      return running ? running.signal('SIGTERM') : null;
    },
    ready: async () => void (await Promise.all(urls.map((url) => until(`${url} is ready`, () => isReady(url))))),
    printed: () => up.map((running) => running?.printed() ?? '').join(''),
    close,
  };
}
