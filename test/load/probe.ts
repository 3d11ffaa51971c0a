// A thread that asks /livez again and again on new connections, and tells the longest times: an orchestrator beside the load.

import { request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { url, everyMs } = workerData as { readonly url: string; readonly everyMs: number };
const times: number[] = [];
let failed = 0;
const waiting = new Set<number>();

function look(): void {
  const begun = performance.now();
  waiting.add(begun);
  const asked = request(`${url}/livez`, { agent: false, timeout: 10_000 }, (answer) => {
    answer.resume().on('end', () => {
      if (answer.statusCode === 200) times.push(performance.now() - begun);
      else failed++;
    });
  });
  asked.on('timeout', () => asked.destroy());
  asked.on('error', () => failed++);
  asked.on('close', () => waiting.delete(begun));
  asked.end();
}

const timer = setInterval(look, everyMs);
parentPort!.once('message', () => {
  clearInterval(timer);
  // What has no answer yet has waited at least so long.
  for (const begun of waiting) times.push(performance.now() - begun);
  times.sort((a, b) => a - b);
  parentPort!.postMessage({
    asked: times.length,
    failed,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
    worstMs: times.at(-1) ?? 0,
  });
});
