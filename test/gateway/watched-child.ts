// The server as `npm start` runs it, which tells on SIGUSR2 how long its event loop stood still since the last time.

import { readFileSync } from 'node:fs';
import { runServer } from '../../server/boot/process.ts';

/** CPU milliseconds of the main thread: what other processes do does not count. */
function cpuMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

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
  process.stdout.write(`watched ${JSON.stringify({ turnMs, rssMb })}\n`);
  turnMs = 0;
  rssMb = 0;
});

await runServer(process.env);
