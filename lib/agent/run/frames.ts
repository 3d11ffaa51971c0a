// The frames of a run: their text form in the log, and following a run by its frames, whichever process writes them.

import type { RunEnd } from '../../../machines/run-ends.ts';
import type { Clock } from '../../clock.ts';
import type { Frame, LogStore } from '../../store/log-store.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { type Message, messageId, type Transcript } from '../session/message.ts';
import type { FrameData, FrameName } from './frame-data.ts';
import { isEnded, type Runs, type RunView, runView } from './run.ts';

export type FrameOf<Name extends FrameName> = Name extends FrameName
  ? { readonly name: Name; readonly data: FrameData[Name] }
  : never;
export type AnyFrame = FrameOf<FrameName>;

/** A frame as sent to readers: `data` is one line of JSON. */
export interface RunFrame {
  readonly n: number;
  readonly event: string;
  readonly data: string;
}

export function logName(run: string): string {
  return `run/${run}`;
}

export function frameText({ name, data }: AnyFrame): string {
  return `${name}\n${JSON.stringify(data)}`;
}

export function readFrame({ n, text }: Frame): RunFrame {
  const at = text.indexOf('\n');
  return { n, event: text.slice(0, at), data: text.slice(at + 1) };
}

/** The data of a run's last frame. */
export function doneData(run: string, status: RunEnd, partialText?: string): FrameData['done'] {
  const flag = status === 'finished' ? {} : { [status]: true };
  return { runId: run, status, ...flag, ...(partialText !== undefined && { partialText }) };
}

/** Parses the data of a frame. */
export function readFrameData<Name extends FrameName>(frame: RunFrame, _name: Name): FrameData[Name] {
  return JSON.parse(frame.data) as FrameData[Name];
}

/** Which run to follow, and from where. */
export interface FollowRequest {
  readonly owner: string;
  readonly runId: string;
  /** Frames after this number. @default 0 (all) */
  readonly after?: number;
  /** Stops following, without an error; the run continues. */
  readonly signal?: AbortSignal;
}

/** A run being followed. */
export interface Following {
  readonly run: RunView;
  /** The run has ended and no further frames will come. */
  readonly isOver: boolean;
  /**
   * In order and without gaps; ends after `done`. Pull-based: a slow reader buffers at most COMMON_LIMITS.logReadBytes.
   * Throws ERR_NOT_FOUND when the log is gone, ERR_STORE when the store stays down.
   */
  readonly frames: AsyncIterable<readonly RunFrame[]>;
}

/** How a run ended. */
export interface RunOutcome {
  readonly done: FrameData['done'];
  /** The first error, if any. */
  readonly error?: FrameData['error'];
  /** Absent when there was no reply. */
  readonly message?: Message;
}

export interface Follower {
  /**
   * Undefined when the run is not the owner's, does not exist, or its log has expired. Throws ERR_INPUT for an invalid
   * `after`.
   */
  follow(request: FollowRequest): Promise<Following | undefined>;
  /** Waits for the end. Undefined as for `follow`, and when the signal aborts. */
  outcome(request: Omit<FollowRequest, 'after'>): Promise<RunOutcome | undefined>;
}

export interface FollowerDeps {
  readonly runs: Runs;
  readonly logs: LogStore;
  readonly transcript: Transcript;
  readonly clock: Clock;
}

/** Follows runs by their logs. */
export function follower({ runs, logs, transcript, clock }: FollowerDeps): Follower {
  async function follow({ owner, runId, after = 0, signal }: FollowRequest): Promise<Following | undefined> {
    const run = await runs.get(runId);
    if (run?.body.owner !== owner) return undefined;
    // A queued run, or one whose process died early, has no log yet: create one to wait on. Its driver takes the log over,
    // because lease fences start at 2.
    if (!(isEnded(run) && run.context.sealed))
      await logs.open(logName(runId), { fence: 1, expiresAt: clock.now() + AGENT_LIMITS.runLogAliveMs });
    const page = await logs.read(logName(runId), { after, limit: 1 });
    if (!page) return undefined;
    const frames = logs.follow(logName(runId), { after, ...(signal && { signal }) });
    const isOver = page.ended && page.frames.length === 0;
    return { run: runView(run, clock.now()), isOver, frames: readFrames(frames) };
  }

  return {
    follow,
    async outcome({ runId, ...request }) {
      const following = await follow({ runId, ...request });
      if (!following) return undefined;
      let error: FrameData['error'] | undefined;
      for await (const frames of following.frames)
        for (const frame of frames) {
          if (frame.event === 'error') error ??= readFrameData(frame, 'error');
          if (frame.event !== 'done') continue;
          const message = await transcript.get(messageId(runId, 'ai'));
          return { done: readFrameData(frame, 'done'), ...(error && { error }), ...(message && { message }) };
        }
      return undefined;
    },
  };
}

async function* readFrames(pages: AsyncIterable<readonly { n: number; text: string }[]>) {
  for await (const page of pages) yield page.map(readFrame);
}
