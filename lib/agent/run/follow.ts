// Reading a run: its frames after any number, then new ones as they come, whichever process makes them.

import { AGENT_LIMITS } from '../limits.ts';
import { type Message, messageId } from '../session/message.ts';
import { dataOf, type FrameData, logName, type RunFrame, readFrame } from './frames.ts';
import { isEnded, type RunView, runView } from './run.ts';
import type { RunnerOptions } from './runner.ts';

export interface FollowRequest {
  readonly owner: string;
  readonly runId: string;
  /** Frames after this number; 0 for all. @default 0 */
  readonly after?: number;
  /** Ends the following without an error; the run goes on. */
  readonly signal?: AbortSignal;
}

export interface Following {
  readonly run: RunView;
  /** The run has ended, and no frame comes after that number. */
  readonly isOver: boolean;
  /**
   * In order and without a gap; ends after `done`. Nothing is read before it is asked for: a slow reader holds one read
   * of SHARED_LIMITS.logReadBytes at most. Throws ERR_NOT_FOUND when the log is gone, ERR_STORE when the store stays away.
   */
  readonly frames: AsyncIterable<readonly RunFrame[]>;
}

/** How a run has ended. */
export interface RunOutcome {
  readonly done: FrameData['done'];
  /** The first one, if there was any. */
  readonly error?: FrameData['error'];
  /** Missing when nothing was said. */
  readonly message?: Message;
}

export interface Follower {
  /** Undefined for a run that is not theirs, was never there, or whose log has expired. Throws ERR_INPUT for a bad `after`. */
  follow(request: FollowRequest): Promise<Following | undefined>;
  /** Waits for the end. Undefined as with `follow`, and when the signal aborts. */
  outcome(request: Omit<FollowRequest, 'after'>): Promise<RunOutcome | undefined>;
}

/** Follows runs by their logs. */
export function follower({
  runs,
  logs,
  transcript,
  clock,
}: Pick<RunnerOptions, 'runs' | 'logs' | 'transcript' | 'clock'>): Follower {
  async function follow({ owner, runId, after = 0, signal }: FollowRequest): Promise<Following | undefined> {
    const run = await runs.get(runId);
    if (run?.body.owner !== owner) return undefined;
    // A run that waits in the queue, or whose process died early, has no log yet: one is made to wait at. Its driver takes it
    // over, for the fences of leases begin at 2.
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
          if (frame.event === 'error') error ??= dataOf(frame, 'error');
          if (frame.event !== 'done') continue;
          const message = await transcript.get(messageId(runId, 'ai'));
          return { done: dataOf(frame, 'done'), ...(error && { error }), ...(message && { message }) };
        }
      return undefined;
    },
  };
}

async function* readFrames(pages: AsyncIterable<readonly { n: number; text: string }[]>) {
  for await (const page of pages) yield page.map(readFrame);
}
