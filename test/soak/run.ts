// `npm run soak [-- --minutes 30]`: a built server under callers that never come twice, through all doors. Its memory, handles,
// descriptors and threads must not grow once its bounded tables are full, and at SIGTERM no secret is in what it leaves. Exit code 1
// when they do, or when an answer is wrong.

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { groveNode } from '../server/gateway/node.ts';
import { withFile } from '../server/gateway/place.ts';
import { ORACLE_KEY } from '../server/plugins/users.ts';
import { builtFile } from '../support/build.ts';
import { clear, count, show } from '../support/command-line.ts';
import { hangUpAll } from '../support/phone.ts';
import { type RunningServer, startProcess, withFolder } from '../support/process.ts';
import { API_KEY, DOORS, makeProtocol } from './doors.ts';
import { allowedGrowth, fitTrend, isGrowing } from './trend.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } });
const minutes = count('minutes', values.minutes);

const SAMPLES = 40;
/** Work before the time begins: code is loaded and compiled by work, not by time, and a busy machine does less of it. */
const WARM_UP_PIECES = 3_000;
/** The first part of the time fills caches and tables; it is not judged. */
const WARM_UP = 0.4;
const AT_ONCE = 6;
const DESCRIPTORS = 24;
const HANDLES = 24;
const THREADS = 4;
const WORDS = { held: 'bytes in memory', handles: 'handles', descriptors: 'descriptors', threads: 'threads' };

interface Sample {
  readonly seconds: number;
  readonly held: number;
  /** What keeps the event loop alive. */
  readonly handles: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly done: number;
}

await withFolder(async (folder) => {
  const node = await groveNode(0);
  node.script = () => ({ reply: { text: 'fine' } });
  const key = {
    key: API_KEY,
    principal: 'did:x:soak',
    roles: ['controller', 'operator', 'representative', 'voter'],
    tenant: 'default',
  };
  writeFileSync(join(folder, 'keys.json'), JSON.stringify([key]));
  await withFile({ upstream: node.upstream }, async (env) => {
    const report = pathToFileURL(await builtFile('test/support/memory-report.ts'));
    const server = await startProcess({
      GATEWAY_FILE: env.GATEWAY_FILE!,
      DATA_DIR: join(folder, 'data'),
      API_KEYS_FILE: join(folder, 'keys.json'),
      ORACLE_KEY,
      RATE_LIMIT_MAX: '1000000000',
      STREAMS_PER_CLIENT: '1000000',
      AGENT_BYTES_PER_DAY: '1099511627776',
      LOG_LEVEL: 'error',
      NODE_OPTIONS: `--import ${report}`,
    });
    try {
      await makeProtocol(server.url);
      judge(await load(server));
    } finally {
      hangUpAll();
      // What it has printed and kept is searched for all that it was told in confidence.
      await server.signal('SIGTERM');
    }
  });
  node.stop();
});

/** Works at all doors until the time is over; what the server held meanwhile. */
async function load(server: RunningServer): Promise<readonly Sample[]> {
  const endMs = minutes * 60_000;
  const doors = Object.values(DOORS);
  const samples: Sample[] = [];
  let [nth, done] = [0, 0];
  let isOver = () => done >= WARM_UP_PIECES;
  const work = async () => {
    while (!isOver()) {
      const at = nth++;
      await doors[at % doors.length]!(server.url, at);
      done++;
    }
  };
  const watch = async () => {
    while (!isOver()) {
      await pause(endMs / SAMPLES);
      samples.push(await measure(server, { seconds: (performance.now() - begun) / 1_000, done }));
      const { held, descriptors, seconds } = samples.at(-1)!;
      const words = `${Math.round(seconds)} of ${minutes * 60} s, ${done} pieces of work, ${(held / 1_048_576).toFixed(1)} MiB, ${descriptors} descriptors`;
      show(words);
    }
  };
  const workAtOnce = () => Promise.all(Array.from({ length: AT_ONCE }, work));
  await workAtOnce();
  const begun = performance.now();
  isOver = () => performance.now() - begun > endMs;
  await Promise.all([watch(), workAtOnce()]);
  clear();
  return samples;
}

async function measure({ pid, printed }: RunningServer, at: Pick<Sample, 'seconds' | 'done'>): Promise<Sample> {
  const before = printed().length;
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    const told = /^held (\d+) native \S+\nhandles (\d+)/m.exec(printed().slice(before));
    if (told) {
      const [held, handles] = [Number(told[1]), Number(told[2])];
      const entries = (folder: string) => readdirSync(`/proc/${pid}/${folder}`).length;
      return { ...at, held, handles, descriptors: entries('fd'), threads: entries('task') };
    }
    await pause(20);
  }
}

function judge(samples: readonly Sample[]): void {
  const judged = samples.slice(Math.floor(samples.length * WARM_UP));
  const [first, last] = [judged[0]!, judged.at(-1)!];
  const points = (of: keyof Sample) => judged.map((sample) => [sample.seconds, sample[of]] as const);
  const allowed = allowedGrowth({ pieces: last.done - first.done, seconds: last.seconds - first.seconds });
  const most = { held: allowed, handles: HANDLES, descriptors: DESCRIPTORS, threads: THREADS };
  const broken = Object.entries(most)
    .filter(([name, bound]) => isGrowing(points(name as keyof typeof most), bound))
    .map(([name]) => `${WORDS[name as keyof typeof most]} grow`);
  const { slope, error } = fitTrend(points('held'));
  const perHour = (bytes: number) => ((bytes * 3_600) / 1_048_576).toFixed(1);
  const figures = `${last.done} pieces of work in ${Math.round(last.seconds)} s; memory ${perHour(slope)} ± ${perHour(2 * error)} MiB an hour, handles ${first.handles} → ${last.handles}, descriptors ${first.descriptors} → ${last.descriptors}, threads ${first.threads} → ${last.threads}`;
  console.log(`${broken.length ? broken.join(', ') : 'nothing grows'}: ${figures}`);
  if (broken.length) process.exitCode = 1;
}
