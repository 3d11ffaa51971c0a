// The contract of the frame logs: append-only texts, one log per run, that any process reads and follows.

import type { Durability } from './store.ts';

/** A frame of a log, with its number. */
export interface Frame {
  /** 1 for the first frame of a log, then +1 with every frame: no gaps, no repeats. */
  readonly n: number;
  /** Opaque to the store. */
  readonly text: string;
}

/** How far a log is, and until when it is kept. */
export interface LogState {
  /** The number of the first frame that is still held; `last + 1` when none is. */
  readonly first: number;
  /** The number of the last frame that was ever appended; 0 when none was. */
  readonly last: number;
  /** No frame will follow. */
  readonly ended: boolean;
  /** The highest fence that has opened or written the log. */
  readonly fence: number;
  /** Milliseconds since 1970; from this moment on the log does not exist. */
  readonly expiresAt: number;
}

/** A writer's claim on a log. */
export interface Claim {
  /**
   * Grows with the ownership: a process that takes a run over has a higher one than the owner before it, and no two owners have
   * the same. A whole number from 1.
   */
  readonly fence: number;
  /** When the log shall expire: milliseconds since 1970, whole, up to 8.64e15. Replaces what was set before. */
  readonly expiresAt: number;
}

/** Options of `append`: who writes, after which frame, and whether the log ends. */
export interface AppendOptions extends Claim {
  /** The number that the writer believes to be the last: 0 for a log without frames. */
  readonly expected: number;
  /** Ends the log with these frames, or without any. @default false */
  readonly end?: boolean;
}

/** Refused: a higher fence has opened or written the log. The writer is no longer its owner and must stop. */
export interface Fenced {
  readonly kind: 'fenced';
  readonly fence: number;
}

/** Whether a writer has the log now. */
export type OpenResult = { readonly kind: 'opened'; readonly last: number; readonly ended: boolean } | Fenced;

/** What became of an append. */
export type AppendResult =
  /** Written, durably as the backend's class says; `last` is the number of the last of these frames. */
  | { readonly kind: 'appended'; readonly last: number }
  | Fenced
  /** Nothing written: the last frame is not the expected one, and these frames are not what stands behind it. */
  | { readonly kind: 'conflict'; readonly last: number }
  /** Nothing written: the log has been ended. */
  | { readonly kind: 'ended'; readonly last: number }
  /** Nothing written: LIMITS.framesPerLog or LIMITS.logBytes are held. End it, or trim it. */
  | { readonly kind: 'full'; readonly last: number }
  /** Nothing written: the log was never opened, or has expired or been removed. */
  | { readonly kind: 'missing' };

/** Frames of a log, and where it ends. */
export interface LogPage {
  /** In order and without a gap; do not change the list: readers share it. */
  readonly frames: readonly Frame[];
  /** As {@link LogState}, at the moment of the read. */
  readonly last: number;
  readonly ended: boolean;
  readonly expiresAt: number;
}

/** Options of `read`: after which frame, and how many. */
export interface ReadOptions {
  /** Frames after this number; 0 for all. @default 0 */
  readonly after?: number;
  /** Frames at most, 1 to LIMITS.pageSizeMax. @default 100 */
  readonly limit?: number;
}

/** Options of `follow`: from where, and until when. */
export interface FollowOptions extends ReadOptions {
  /** Ends the following without an error. A waiting follower is only ended so: `return()` waits for the next frames. */
  readonly signal?: AbortSignal;
}

/**
 * Keeps frame logs. Rules that every backend keeps:
 * - A log begins with `open`. Frames get the numbers 1, 2, 3 … of their log; those of one append are written together or
 *   not at all, and `append` resolves after that is as durable as `durability` says.
 * - Fencing: `open` and `append` with a lower fence than the highest that the log has seen change nothing and say
 *   `fenced`. A higher fence takes the log over, at once and for good; the fence is forgotten when the log is gone.
 * - An append can be repeated after a lost acknowledgement: when its frames stand behind `expected` already, the answer is
 *   `appended` with the number of the last of them, and nothing is written, for as long as none of them was trimmed. So it is
 *   when the log has ended since, too. With `end`, it is a repeat only when the log has ended with the last of these frames; it
 *   does not matter whether the frames ended the log when they were written. A writer waits for one append before it makes the
 *   next, and gathers frames meanwhile.
 * - What an append meets is looked for in this order, and the first that holds is the answer: `missing`, `fenced`, a repeat
 *   (`appended`), `ended`, `conflict`, `full`. A log is full for an append after which it would hold more than
 *   LIMITS.framesPerLog frames or LIMITS.logBytes bytes; one with `end` is let through.
 * - Refusals by value and repeats change nothing: neither the fence nor when the log expires.
 * - A `read` that starts after an `append` resolved sees it, in this and every other process. It gives at most `limit`
 *   frames and LIMITS.logReadBytes bytes, but one frame if there is any; frames that were trimmed are left out, which
 *   the number of the first one tells.
 * - No log is seen from the moment it expires, even before it is swept. The store's clock decides; in `sweep` it is `now`.
 * - Times are whole milliseconds from 0 to 8.64e15, and one in the past is taken: the log is gone at once.
 * - Names of logs are 1 to LIMITS.keyChars characters of well-formed text. Frames are well-formed texts of up to
 *   LIMITS.frameBytes bytes; one append takes up to LIMITS.framesPerAppend of them and LIMITS.appendBytes bytes, and
 *   none only when it ends the log. Anything else rejects with ERR_INPUT.
 * - Refusals of the backend reject with ERR_STORE, and so does every call after `close`. An append that was rejected so
 *   may have been written: repeat it.
 */
export interface LogStore {
  readonly name: string;
  readonly durability: Durability;
  /** Begins a log, or takes it over: from now on lower fences are refused. */
  open(log: string, claim: Claim): Promise<OpenResult>;
  append(log: string, frames: readonly string[], options: AppendOptions): Promise<AppendResult>;
  state(log: string): Promise<LogState | undefined>;
  /** Undefined when there is no such log. */
  read(log: string, options?: ReadOptions): Promise<LogPage | undefined>;
  /**
   * The frames after `after`: those that are there, then new ones as they come, whichever process writes them. Each item
   * is one or more frames in order. Nothing is read before it is asked for, so a slow reader holds one read at most.
   * Ends when the log is ended and read through, and when the signal aborts. Throws ERR_NOT_FOUND when there is no such
   * log, or none any more; ERR_STORE when the backend stays away for LIMITS.followPatienceMs, and after `close`.
   */
  follow(log: string, options?: FollowOptions): AsyncIterable<readonly Frame[]>;
  /**
   * Removes frames up to the number `through`, a whole number from 0; one beyond the last removes all. How many it removed: 0 when
   * there is no such log. Numbers are not used again.
   */
  trim(log: string, through: number): Promise<number>;
  /** Sets when the log expires, as {@link Claim} does; true if there is such a log. */
  expireAt(log: string, at: number): Promise<boolean>;
  /** Removes the log, also one that another process owns; true if there was one, unless it had expired. */
  remove(log: string): Promise<boolean>;
  /** Deletes up to `limit` expired logs; how many it deleted. A backend that expires by itself has none to delete. */
  sweep(now: number, limit: number): Promise<number>;
  /** Resolves when the backend answers, rejects with ERR_STORE when it does not. */
  ping(): Promise<void>;
  /** Resolves when what was called before is done; followers end with ERR_STORE. Again: harmless. */
  close(): Promise<void>;
}
