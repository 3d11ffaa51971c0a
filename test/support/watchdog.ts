// Ends a test that hangs, and no other: a slow machine is no failure. A test hangs when for a while no test ended and this process with
// its children used next to no processor time, or when this process keeps computing and never yields. No timer of the main thread
// fires then, so a worker watches.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describeWaits } from './until.ts';
import { WATCH } from './watchdog-worker.ts';

/** What to print about a process that never yields: before and after the name of the test. */
export interface LastWords {
  readonly before: string;
  readonly after: string;
}

export interface Watch {
  readonly words: LastWords;
  /** Milliseconds without progress after which a test hangs. */
  readonly stallMs: number;
  /** Called with the reason when the test that runs now hangs. */
  readonly onStall: (reason: string) => void;
}

const BEAT_MS = 50;

const label = new Uint8Array(new SharedArrayBuffer(512));
/** Tests that began or ended; turns of the event loop. */
const counts = new Int32Array(new SharedArrayBuffer(8));
const encoder = new TextEncoder();
let onStall: ((reason: string) => void) | undefined;
let beat: NodeJS.Timeout | undefined;

const worker = new Worker(WATCH, { eval: true, workerData: { label, counts }, execArgv: [] });
worker.unref();
/** Resolves when the worker watches: it needs turns of the event loop to start, and a test may take them all. */
export const watching = once(worker, 'message').then(() => {
  worker.on('message', ({ stalled }: { stalled: string }) => onStall?.(`${stalled}${describeWaits()}`));
});

/** Names what runs now; cheap enough for every test. */
export function watched(name: string): void {
  encoder.encodeInto(name, label.fill(0));
  Atomics.add(counts, 0, 1);
}

/** Watches from now on; undefined ends the watch. */
export function watchdog(watch: Watch | undefined): void {
  onStall = watch?.onStall;
  clearInterval(beat);
  if (watch) beat = setInterval(() => Atomics.add(counts, 1, 1), BEAT_MS);
  worker.postMessage(watch && { words: watch.words, stallMs: watch.stallMs });
}
