// A process of its own that writes a frame log, for log-processes.ts; `process.argv` says where, which log and its job.

import { setTimeout as pause } from 'node:timers/promises';
import type { TwinlineError } from '../../lib/errors.ts';
import { lmdbLogs } from '../../lib/store/lmdb/index.ts';
import { redisLogs } from '../../lib/store/redis/logs.ts';

const [place = '', log = '', job = '', fence = '1'] = process.argv.slice(2);
const store = place.startsWith('redis') ? redisLogs({ url: place }) : lmdbLogs({ path: place });

const claim = () => ({ fence: Number(fence), expiresAt: Date.now() + 600_000 });

const jobs: { readonly [job: string]: () => Promise<void> } = {
  /** Takes the log over and writes until it is killed or fenced; tells every number once it is acknowledged. */
  async write() {
    const opened = await store.open(log, claim());
    for (let last = opened.kind === 'opened' ? opened.last : 0; ; ) {
      const texts = Array.from({ length: 1 + (last % 4) }, (_, at) => `frame ${last + at + 1}`);
      const result = await store.append(log, texts, { ...claim(), expected: last });
      if (result.kind !== 'appended') return tell(result.kind);
      last = result.last;
      tell(last);
    }
  },
  /** Writes until the file may not grow any more, and tells how that ended. */
  async fill() {
    process.on('SIGXFSZ', () => {});
    await store.open(log, claim());
    let last = 0;
    let refusal: unknown;
    while (refusal === undefined && last < 10_000)
      await store.append(log, ['x'.repeat(5_000)], { ...claim(), expected: last }).then(
        () => last++,
        (error) => {
          refusal = error;
        },
      );
    await pause(10);
    const { code } = refusal as TwinlineError;
    tell({ code, acknowledged: last, kept: (await store.state(log))?.last, trimmed: await store.trim(log, 10) });
  },
};

await jobs[job]!();
await store.close();
process.disconnect?.();

function tell(what: unknown): void {
  process.send?.(what);
}
