// The rules of frame logs that the backends share: what is well-formed, what an append may do, what a read gives.

import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import { checkKey, checkLimit, isWellFormed, LAST_MOMENT } from '../given.ts';
import { STORE_LIMITS } from './limits.ts';
import type { AppendOptions, AppendResult, Claim, Frame, LogPage, LogState, ReadOptions } from './log-store.ts';

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

/**
 * Throws ERR_INPUT unless the fence is a whole number from 1, and the time of expiry one from 0 to 8.64e15.
 * @example
 * checkClaim({ fence: 1, expiresAt: 60_000 });
 * checkClaim({ fence: 0, expiresAt: 60_000 }); // throws ERR_INPUT
 */
export function checkClaim({ fence, expiresAt }: Claim): void {
  checkWhole('fence', fence, { min: 1 });
  checkMoment(expiresAt);
}

/**
 * Throws ERR_INPUT unless `at` is a whole number from 0 to 8.64e15, the latest moment that a Date can hold.
 * @example
 * checkMoment(0);
 * checkMoment(-1); // throws ERR_INPUT
 */
export function checkMoment(at: number): void {
  checkWhole('time of expiry', at, { min: 0, max: LAST_MOMENT });
}

/**
 * Throws ERR_INPUT unless `value` is a whole number within the bounds; `max` is Number.MAX_SAFE_INTEGER when it is left out, and `what`
 * is how the words call it.
 * @example
 * checkWhole('number to trim through', 0, { min: 0 });
 * checkWhole('number to trim through', 1.5, { min: 0 }); // throws ERR_INPUT
 */
export function checkWhole(what: string, value: number, bounds: { min: number; max?: number }): void {
  const { min, max = Number.MAX_SAFE_INTEGER } = bounds;
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new TwinlineError('ERR_INPUT', `A ${what} must be a whole number from ${min} to ${max}; it was ${value}.`);
}

/**
 * The append with its bytes. Throws ERR_INPUT unless its options and frames are as LogStore says.
 * @example
 * checkAppend(['é'], { fence: 1, expiresAt: 60_000, expected: 0 }).bytes; // → 2
 * checkAppend([], { fence: 1, expiresAt: 60_000, expected: 0 }); // throws ERR_INPUT
 */
export function checkAppend(frames: readonly string[], options: AppendOptions): Append {
  checkClaim(options);
  checkWhole('number of the expected last frame', options.expected, { min: 0 });
  if (frames.length === 0 && !options.end) throw appendError('it has no frame and does not end the log');
  if (frames.length > COMMON_LIMITS.framesPerAppend)
    throw appendError(`it has ${frames.length} frames of at most ${COMMON_LIMITS.framesPerAppend}`);
  const bytes = frames.reduce((sum, text) => sum + frameBytes(text), 0);
  if (bytes > COMMON_LIMITS.appendBytes)
    throw appendError(`it has ${bytes} bytes of at most ${COMMON_LIMITS.appendBytes}`);
  return { frames, bytes, options };
}

function frameBytes(text: string): number {
  if (!isWellFormed(text)) throw appendError('a frame has a lone surrogate');
  const bytes = Buffer.byteLength(text);
  if (bytes > STORE_LIMITS.frameBytes)
    throw appendError(`a frame has ${bytes} bytes of at most ${STORE_LIMITS.frameBytes}`);
  return bytes;
}

function appendError(reason: string): TwinlineError {
  return new TwinlineError('ERR_INPUT', `An append to a log was refused: ${reason}. Split or shorten it.`);
}

/**
 * The options with their defaults. Throws ERR_INPUT unless `after` is a whole number from 0, and `limit` one from 1 to LIMITS.pageSizeMax.
 * @example
 * checkRead({}); // → { after: 0, limit: 100 }
 * checkRead({ limit: 0 }); // throws ERR_INPUT
 */
export function checkRead({ after = 0, limit = 100 }: ReadOptions): Required<ReadOptions> {
  checkWhole('number to read after', after, { min: 0 });
  checkLimit(limit, COMMON_LIMITS.pageSizeMax);
  return { after, limit };
}

/**
 * What `append` answers, or `write` when it is to be written. `head` is that of a log that exists and has not expired; `textAt` gives the
 * text of the frame of a number, undefined when it is not held. Nothing else may write between this and the writing.
 * @example
 * const append = checkAppend(['b'], { fence: 1, expiresAt: 60_000, expected: 1 });
 * const head = { first: 1, last: 1, bytes: 1, ended: false, fence: 1, expiresAt: 60_000 };
 * const texts = ['a'];
 * judgeAppend(head, append, (n) => texts[n - head.first]); // → 'write'
 * judgeAppend({ ...head, fence: 2 }, append, () => undefined); // → { kind: 'fenced', fence: 2 }
 */
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
  const count = last - head.first + 1;
  const fits = count + frames.length <= STORE_LIMITS.framesPerLog && head.bytes + bytes <= STORE_LIMITS.logBytes;
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

/**
 * What `read` answers. `texts` are those of the frames that are held, in order, from the first after `after` on, `limit` of them at
 * least if there are so many; as many of them are given as one read may give.
 * @example
 * const head = { first: 1, last: 2, bytes: 2, ended: false, fence: 1, expiresAt: 60_000 };
 * cutPage(head, ['a', 'b'], checkRead({ limit: 1 })).frames; // → [{ n: 1, text: 'a' }]
 */
export function cutPage(head: LogHead, texts: Iterable<string>, { after, limit }: Required<ReadOptions>): LogPage {
  const frames: Frame[] = [];
  let n = Math.max(after + 1, head.first);
  let bytes = 0;
  for (const text of texts) {
    bytes += Buffer.byteLength(text);
    if (frames.length && bytes > COMMON_LIMITS.logReadBytes) break;
    frames.push({ n: n++, text });
    if (frames.length === limit) break;
  }
  const { last, ended, expiresAt } = head;
  return { frames, last, ended, expiresAt };
}
