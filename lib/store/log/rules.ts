// The rules of frame logs that the backends share: what is well-formed, what an append may do, what a read gives.

import { TwinlineError } from '../../errors.ts';
import { SHARED_LIMITS } from '../../shared-limits.ts';
import { checkKey, checkLimit, isWellFormed, LAST_MOMENT } from '../input.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { AppendOptions, AppendResult, Claim, Frame, LogPage, LogState, ReadOptions } from '../log-store.ts';

/** What a backend keeps of a log besides its frames. */
export interface LogHead extends LogState {
  /** Bytes of the frames that are held. */
  readonly bytes: number;
}

/** One call of `append`, checked. */
export interface Append {
  readonly frames: readonly string[];
  /** Of all frames together, in UTF-8. */
  readonly bytes: number;
  readonly options: AppendOptions;
}

export function checkLog(log: string): void {
  checkKey(log, 'log name');
}

export function checkClaim({ fence, expiresAt }: Claim): void {
  checkWhole('fence', fence, { min: 1 });
  checkMoment(expiresAt);
}

export function checkMoment(at: number): void {
  checkWhole('time of expiry', at, { min: 0, max: LAST_MOMENT });
}

/** Throws ERR_INPUT unless `value` is a whole number within the bounds. */
export function checkWhole(what: string, value: number, bounds: { min: number; max?: number }): void {
  const { min, max = Number.MAX_SAFE_INTEGER } = bounds;
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new TwinlineError('ERR_INPUT', `A ${what} must be a whole number from ${min} to ${max}; it was ${value}.`);
}

export function checkAppend(frames: readonly string[], options: AppendOptions): Append {
  checkClaim(options);
  checkWhole('number of the expected last frame', options.expected, { min: 0 });
  if (frames.length === 0 && !options.end) throw refusedAppend('it has no frame and does not end the log');
  if (frames.length > SHARED_LIMITS.framesPerAppend)
    throw refusedAppend(`it has ${frames.length} frames of at most ${SHARED_LIMITS.framesPerAppend}`);
  const bytes = frames.reduce((sum, text) => sum + frameBytes(text), 0);
  if (bytes > SHARED_LIMITS.appendBytes)
    throw refusedAppend(`it has ${bytes} bytes of at most ${SHARED_LIMITS.appendBytes}`);
  return { frames, bytes, options };
}

function frameBytes(text: string): number {
  if (!isWellFormed(text)) throw refusedAppend('a frame has half a surrogate pair');
  const bytes = Buffer.byteLength(text);
  if (bytes > STORE_LIMITS.frameBytes)
    throw refusedAppend(`a frame has ${bytes} bytes of at most ${STORE_LIMITS.frameBytes}`);
  return bytes;
}

function refusedAppend(reason: string): TwinlineError {
  return new TwinlineError('ERR_INPUT', `An append to a log was refused: ${reason}. Split or shorten it.`);
}

export function checkRead({ after = 0, limit = 100 }: ReadOptions): Required<ReadOptions> {
  checkWhole('number to read after', after, { min: 0 });
  checkLimit(limit, SHARED_LIMITS.pageSizeMax);
  return { after, limit };
}

/** What `append` answers, or `write` when it is to be written; `textAt` gives the frame of a number that is held. */
export function judgeAppend(
  head: LogHead | undefined,
  { frames, bytes, options }: Append,
  textAt: (n: number) => string | undefined,
): AppendResult | 'write' {
  if (!head) return { kind: 'missing' };
  const { fence, expected } = options;
  const { last } = head;
  if (fence < head.fence) return { kind: 'fenced', fence: head.fence };
  if (isRepeat(head, { frames, options, textAt })) return { kind: 'appended', last: expected + frames.length };
  if (head.ended) return { kind: 'ended', last };
  if (expected !== last) return { kind: 'conflict', last };
  const held = last - head.first + 1;
  const fits = held + frames.length <= STORE_LIMITS.framesPerLog && head.bytes + bytes <= STORE_LIMITS.logBytes;
  return fits || options.end ? 'write' : { kind: 'full', last };
}

interface Repeat extends Pick<Append, 'frames' | 'options'> {
  textAt(n: number): string | undefined;
}

function isRepeat({ last, ended }: LogHead, { frames, options, textAt }: Repeat): boolean {
  const { expected, end = false } = options;
  const upTo = expected + frames.length;
  if (upTo > last || (end && !(ended && upTo === last))) return false;
  return frames.every((text, at) => textAt(expected + 1 + at) === text);
}

/** Of frames in order, from the first after `after`: as many as one read may give. */
export function pageOf(head: LogHead, texts: Iterable<string>, { after, limit }: Required<ReadOptions>): LogPage {
  const frames: Frame[] = [];
  let n = Math.max(after + 1, head.first);
  let bytes = 0;
  for (const text of texts) {
    bytes += Buffer.byteLength(text);
    if (frames.length && bytes > SHARED_LIMITS.logReadBytes) break;
    frames.push({ n: n++, text });
    if (frames.length === limit) break;
  }
  const { last, ended, expiresAt } = head;
  return { frames, last, ended, expiresAt };
}
