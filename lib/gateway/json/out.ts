// The output of a writer: room for what comes, and copies of four bytes at a time, for a byte alone costs as much.

import { TwinlineError } from '../../errors.ts';
import type { Job } from './wire.ts';

/** Bytes that may be written beyond the end, to be written over by what comes next. */
const SLACK = 3;

/** Memory for at least `bytes` of JSON. */
export function outOf(bytes: number): Pick<Job, 'out' | 'outView'> {
  const out = Buffer.allocUnsafeSlow(bytes + SLACK);
  return { out, outView: new DataView(out.buffer) };
}

/** Makes room for `count` more bytes. Throws ERR_SERVICE, reason `too-large`, beyond `maxBytes`. */
export function room(job: Job, count: number): void {
  if (job.to + count + SLACK > job.out.length) grow(job, count);
}

function grow(job: Job, count: number): void {
  const needed = job.to + count;
  if (needed > job.maxBytes) throw tooLarge(job);
  const larger = outOf(Math.min(Math.max(needed, job.out.length * 2), Math.max(needed, job.maxBytes)));
  larger.out.set(job.out.subarray(0, job.to));
  Object.assign(job, larger);
}

export function tooLarge({ maxBytes }: Job): TwinlineError {
  const message = `The reply of the node is longer than ${maxBytes} bytes as JSON. Ask for smaller pages.`;
  return new TwinlineError('ERR_SERVICE', message, { reason: 'too-large' });
}

/** JSON that is known beforehand. */
export interface Literal {
  readonly bytes: Buffer;
  readonly length: number;
  /** The bytes, four in each. */
  readonly words: Int32Array;
}

export function literalOf(json: string | Uint8Array): Literal {
  const bytes = Buffer.from(json as string);
  const padded = Buffer.alloc(bytes.length + SLACK);
  bytes.copy(padded);
  const words = Int32Array.from({ length: Math.ceil(bytes.length / 4) }, (_, nth) => padded.readInt32LE(nth * 4));
  return { bytes, length: bytes.length, words };
}

/** Writes JSON that was known beforehand. */
export function literal(job: Job, { length, words }: Literal): void {
  room(job, length);
  const { outView, to } = job;
  for (let nth = 0; nth < words.length; nth++) outView.setInt32(to + nth * 4, words[nth]!, true);
  job.to = to + length;
}

/** Writes bytes that are JSON already. */
export function copied(job: Job, json: Uint8Array): void {
  room(job, json.length);
  job.out.set(json, job.to);
  job.to += json.length;
}

export function byte(job: Job, code: number): void {
  room(job, 1);
  job.out[job.to++] = code;
}
