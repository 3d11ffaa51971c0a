// Which files of the product a piece of work runs through: V8 counts the calls of every function while it is done.

import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../package/manifest.ts';

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { startOffset: number; count: number }[];
    }[];
  }[];
}

// What writes the log of a process to its standard output does so for all that runs in it, also for what an earlier file has left.
const PRODUCT = /^(lib|machines|server)\/(?!telemetry\/log-output\.ts)/;

/** Whether V8's counters are free: while coverage is measured they belong to that. */
export const canCountFiles = process.env.NODE_V8_COVERAGE === undefined;

const TIMES = 3;

/**
 * The files of `lib`, `machines` and `server` of which a function ran in every repetition of `work`, so that what timers do now and
 * then is not counted. It is done three times, and again, up to `timesMax`, while there are more than `wanted`: on a slow machine timers
 * run in all three. Work that is not awaited counts as long as `work` is not done.
 */
export async function filesRun(
  work: () => Promise<void>,
  { wanted, timesMax = TIMES }: { readonly wanted: number; readonly timesMax?: number | undefined },
): Promise<string[]> {
  const session = new Session();
  session.connect();
  const post = <T>(method: string, options: object = {}) =>
    new Promise<T>((resolve, reject) =>
      session.post(method, options, (error, answer) => (error ? reject(error) : resolve(answer as T))),
    );
  await post('Profiler.enable');
  await post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  try {
    let all: Set<string> | undefined;
    for (let nth = 0; nth < TIMES || (nth < timesMax && all!.size > wanted); nth++) {
      await post('Profiler.takePreciseCoverage');
      await work();
      const found = new Set(listFiles(await post<Coverage>('Profiler.takePreciseCoverage')));
      all = all ? new Set([...all].filter((file) => found.has(file))) : found;
    }
    return [...(all ?? [])].sort();
  } finally {
    await post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

// What begins at the first character is the module itself: it runs when the file is loaded.
function listFiles({ result }: Coverage): string[] {
  return result.flatMap(({ url, functions }) => {
    if (!url.startsWith('file://')) return [];
    const path = fileURLToPath(url.split('?')[0]!).slice(ROOT.length).replace(/^\//, '');
    const hasRun = functions.some(({ ranges: [range] }) => range!.startOffset > 0 && range!.count > 0);
    return PRODUCT.test(path) && hasRun ? [path] : [];
  });
}
