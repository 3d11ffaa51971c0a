// The process and its place as metrics: which build it is, memory, the disk, and how much of what is stored waits.

import { readdir, readFile, statfs } from 'node:fs/promises';
import type { Clock } from '../../lib/clock.ts';
import { gauge } from './metrics.ts';

export interface ProcessMetrics {
  /** What is known now; what takes longer to find out is renewed behind it. */
  metrics(): readonly string[];
}

/** Milliseconds between two looks at what takes longer. */
const RENEW_MS = 30_000;
/** Sessions that are counted at most. */
export const SESSIONS_COUNTED = 10_000;

/** How much of what is stored is alive or waits. */
export interface StoredCounts {
  /** Living sessions of phones, counted up to SESSIONS_COUNTED. */
  readonly sessions: number;
  /** Proposals that are not decided. */
  readonly proposals: number;
  /** Webhooks that have something to deliver or are being tried again. */
  readonly deliveries: number;
  /** Events that could not be delivered, until they expire. */
  readonly deadLetters: number;
  /** Messages to the agent that are being answered or stand in line. */
  readonly runs: number;
}

export interface ProcessMetricsOptions {
  readonly version: string;
  /** Undefined where all is kept in memory. */
  readonly dataDir: string | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly countStored: () => Promise<StoredCounts>;
}

export function processMetrics({ version, dataDir, clock, countStored }: ProcessMetricsOptions): ProcessMetrics {
  let free: number | undefined;
  let files: OpenFiles | undefined;
  let stored: StoredCounts | undefined;
  let renewedAt = Number.NEGATIVE_INFINITY;

  async function renew(): Promise<void> {
    free = dataDir === undefined ? undefined : await statfs(dataDir).then(({ bavail, bsize }) => bavail * bsize);
    files = await countFiles().catch(() => undefined);
    stored = await countStored();
  }

  return {
    metrics() {
      const now = clock.monotonic();
      if (now - renewedAt >= RENEW_MS) {
        renewedAt = now;
        // A store that is away has its own gauge; the last count stands until it is back.
        renew().catch(() => {});
      }
      const { heapUsed, heapTotal, external } = process.memoryUsage();
      const build = new Map([[`version="${version}",node="${process.versions.node}"`, 1]]);
      return [
        ...gauge('twinline_build_info', '1, with version and runtime as labels.', build),
        ...gauge(
          'process_start_time_seconds',
          'Start time of the process since the Unix epoch.',
          Math.round(performance.timeOrigin) / 1e3,
        ),
        ...gauge('nodejs_heap_size_used_bytes', 'Heap in use.', heapUsed),
        ...gauge('nodejs_heap_size_total_bytes', 'Heap size.', heapTotal),
        ...gauge('nodejs_external_memory_bytes', 'Memory used by buffers and native code.', external),
        ...(free === undefined ? [] : gauge('twinline_disk_free_bytes', 'Free for DATA_DIR.', free)),
        ...(files ? writeFileLines(files) : []),
        ...(stored ? writeStoredLines(stored) : []),
      ];
    },
  };
}

interface OpenFiles {
  readonly open: number;
  readonly max: number;
}

// Linux tells both; where it does not, there are no samples.
async function countFiles(): Promise<OpenFiles> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  const max = Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
  return { open: (await readdir('/proc/self/fd')).length, max };
}

function writeFileLines({ open, max }: OpenFiles): string[] {
  return [
    ...gauge('process_open_fds', 'Open file descriptors.', open),
    ...gauge('process_max_fds', 'Maximum number of open file descriptors.', max),
  ];
}

function writeStoredLines({ sessions, proposals, deliveries, deadLetters, runs }: StoredCounts): string[] {
  return [
    ...gauge('twinline_ussd_sessions', 'Live USSD sessions, counted up to 10,000.', sessions),
    ...gauge('twinline_proposals_open', 'Undecided proposals.', proposals),
    ...gauge('twinline_webhooks_waiting', 'Webhooks with pending deliveries.', deliveries),
    ...gauge('twinline_webhook_dead_letters', 'Events that could not be delivered, until they expire.', deadLetters),
    ...gauge('twinline_agent_runs', 'Messages to the agent in progress or queued.', runs),
  ];
}
