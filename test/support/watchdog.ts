// Ends a run that is stuck in a loop which never yields. No timer of the main thread fires then, so a worker watches.

import { Worker } from 'node:worker_threads';

/** What to say about a stuck run: before and after the name of what hangs. */
export interface LastWords {
  readonly before: string;
  readonly after: string;
}

// Longer than any timeout of the main thread needs to be noticed there: those explain themselves better.
const GRACE_MS = 1_000;

const label = new Uint8Array(new SharedArrayBuffer(512));
const encoder = new TextEncoder();

const WATCH = `
const { parentPort, workerData: label } = require('node:worker_threads');
const { writeSync } = require('node:fs');
let timer;
parentPort.on('message', ({ words, afterMs }) => {
  clearTimeout(timer);
  if (words) timer = setTimeout(end, afterMs, words);
});
function end(words) {
  const name = Buffer.from(label).toString('utf8').replace(/\\0+$/, '');
  writeSync(1, words.before + (name || 'the file') + words.after);
  process.kill(process.pid, 'SIGKILL');
}`;

const worker = new Worker(WATCH, { eval: true, workerData: label, execArgv: [] });
worker.unref();

/** Names what runs now; cheap enough for every test. */
export function watched(name: string): void {
  encoder.encodeInto(name, label.fill(0));
}

/** From now on, and instead of what was asked before: after `limitMs` and a grace say `words` and kill the process. */
export function watchdog(words: LastWords | undefined, limitMs = 0): void {
  worker.postMessage({ words, afterMs: limitMs + GRACE_MS });
}
