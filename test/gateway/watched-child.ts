// The server as `npm start` runs it, which tells on SIGUSR2 how long its event loop stood still since the last time.

import { readFileSync } from 'node:fs';
import { runServer } from '../../server/boot/process.ts';

/** CPU milliseconds of the main thread: what other processes do does not count. */
function cpuMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** What a fixed piece of work costs here, the least of a few tries: by it, a turn is long or short on a machine of any speed. */
function floorMs(): number {
  const tries = Array.from({ length: 5 }, () => {
    const begun = cpuMs();
    Array.from({ length: 100_000 }, (_, nth) => ((nth * 2_654_435_761) % 2 ** 32).toString(36)).sort();
    return cpuMs() - begun;
  });
  return Math.min(...tries);
}

const floor = floorMs();
let before = cpuMs();
let turnMs = 0;
let rssMb = 0;
setInterval(() => {
  const now = cpuMs();
  turnMs = Math.max(turnMs, now - before);
  before = now;
  rssMb = Math.max(rssMb, process.memoryUsage.rss() / 1e6);
}, 5).unref();

process.on('SIGUSR2', () => {
  process.stdout.write(`watched ${JSON.stringify({ turns: turnMs / floor, rssMb })}\n`);
  turnMs = 0;
  rssMb = 0;
});

await runServer(process.env);
