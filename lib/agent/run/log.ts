// Writing the log of a run: frames are gathered while an append is under way, and a writer that was replaced stops.

import type { Clock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { retryDelay, STORE_BACKOFF } from '../../retry.ts';
import { SHARED_LIMITS } from '../../shared-limits.ts';
import type { AppendResult, LogStore } from '../../store/log-store.ts';
import type { JsonObject } from '../../store/store.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { type AnyFrame, dataOf, frameText, logOf, type RunFrame, readFrame } from './frames.ts';

export interface LogWriter {
  /** Takes a frame; resolves at once unless AGENT_LIMITS.runFramesWaiting are waiting. Rejects when the log is lost. */
  write(frame: AnyFrame): Promise<void>;
  /** Resolves when everything is in the log. Rejects when it is lost. */
  flush(): Promise<void>;
  /** The last frame: ends the log, which then is kept for AGENT_LIMITS.runLogKeepMs. */
  end(frame: AnyFrame): Promise<void>;
}

export interface WriterOptions {
  readonly logs: LogStore;
  readonly clock: Clock;
  readonly run: string;
  readonly fence: number;
  /** The number of the last frame that is there. */
  readonly last: number;
  /** When it aborts, writes still pending are no longer waited for. */
  readonly lost: AbortSignal;
  /** Told once when a higher fence has the log. */
  readonly onFenced: () => void;
}

/** Continues a log that was opened with this fence. */
export function logWriter(options: WriterOptions): LogWriter {
  const { clock } = options;
  const waiting: AnyFrame[] = [];
  let bytes = 0;
  let last = options.last;
  let working: Promise<void> | undefined;
  let failure: unknown;
  // A log that is full takes nothing more but its end.
  let isFull = false;

  async function work(): Promise<void> {
    // Frames that come in the same moment go out together.
    await Promise.resolve();
    while (waiting.length && !failure) {
      if (last > AGENT_LIMITS.runFramesFast) await clock.wait(AGENT_LIMITS.runGatherMs, options.lost);
      const texts = takeSome(waiting);
      bytes = waiting.length ? bytes - sizeOf(texts) : 0;
      const after = await appendPatiently(texts, false);
      if (after === 'full') waiting.length = 0;
      isFull ||= after === 'full';
      last = after === 'full' ? last : after;
    }
  }

  const appendPatiently = (texts: string[], end: boolean) => appended(options, texts, { expected: last, end });

  function start(): Promise<void> {
    working ??= work()
      .catch((error) => {
        failure = error;
        waiting.length = 0;
      })
      .finally(() => {
        working = undefined;
        if (waiting.length && !failure) void start();
      });
    return working;
  }

  async function flush(): Promise<void> {
    while (waiting.length || working) await start();
    if (failure) throw failure;
  }

  return {
    flush,
    async write(frame) {
      if (failure) throw failure;
      if (isFull) return;
      const merged = merge(waiting.at(-1), frame);
      if (merged) waiting[waiting.length - 1] = merged;
      else waiting.push(frame);
      bytes += sizeOf([frameText(frame)]);
      void start();
      if (bytes > AGENT_LIMITS.runFramesWaiting) await flush();
    },
    async end(frame) {
      await flush();
      await appendPatiently([frameText(frame)], true);
    },
  };
}

const sizeOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

// Text that is not yet written is merged into one frame.
function merge(before: AnyFrame | undefined, next: AnyFrame): AnyFrame | undefined {
  if (before?.name !== 'message' || next.name !== 'message') return undefined;
  const content = before.data.content + next.data.content;
  return content.length > AGENT_LIMITS.deltaChars ? undefined : { name: 'message', data: { ...before.data, content } };
}

function takeSome(waiting: AnyFrame[]): string[] {
  const texts: string[] = [];
  let bytes = 0;
  for (const frame of waiting) {
    const text = frameText(frame);
    bytes += Buffer.byteLength(text);
    if (texts.length && (bytes > SHARED_LIMITS.appendBytes || texts.length === SHARED_LIMITS.framesPerAppend)) break;
    texts.push(text);
  }
  // At once: taking them off one by one would move all that wait each time.
  waiting.splice(0, texts.length);
  return texts;
}

/** The number of the last frame, or that the log is full. An append whose answer was lost is repeated: the log knows it. */
async function appended(
  { logs, clock, run, fence, lost, onFenced }: WriterOptions,
  texts: string[],
  { expected, end }: { expected: number; end: boolean },
): Promise<number | 'full'> {
  for (let tries = 1; ; tries++) {
    const expiresAt = clock.now() + (end ? AGENT_LIMITS.runLogKeepMs : AGENT_LIMITS.runLogAliveMs);
    const result = await logs.append(logOf(run), texts, { fence, expiresAt, expected, end }).catch(away);
    if (result?.kind === 'appended') return result.last;
    if (result?.kind === 'full') return 'full';
    if (result?.kind === 'fenced') onFenced();
    if (result) throw refused(run, result);
    if (lost.aborted) throw new TwinlineError('ERR_STORE', `The log of run ${run} could not be written in time.`);
    await clock.wait(retryDelay(tries, STORE_BACKOFF), lost);
  }
}

function away(error: unknown): undefined {
  if (!(error instanceof TwinlineError && error.retry)) throw error;
}

function refused(run: string, { kind }: AppendResult): TwinlineError {
  return new TwinlineError(
    'ERR_CONFLICT',
    `The log of run ${run} takes no more frames from this process: it is ${kind}.`,
  );
}

export interface ReplayedCall {
  readonly kind: 'tool' | 'action';
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
  /** Undefined while no result was logged. */
  readonly end?: { readonly output?: string; readonly error?: string };
}

export interface Replay {
  /** The number of the last frame. */
  readonly last: number;
  /** The text as readers have it now. */
  readonly text: string;
  /** By their ids. */
  readonly calls: ReadonlyMap<string, ReplayedCall>;
  /** Any frames but those that every run begins with. */
  readonly isBegun: boolean;
  /** The names of the frames, each once. */
  readonly names: ReadonlySet<string>;
}

interface ReplayState {
  text: string;
  readonly calls: Map<string, ReplayedCall>;
}

/** Reads the whole log of a run. */
export async function replayLog(logs: LogStore, run: string): Promise<Replay> {
  const state: ReplayState = { text: '', calls: new Map() };
  const names = new Set<string>();
  let last = 0;
  for (;;) {
    const page = await logs.read(logOf(run), { after: last, limit: SHARED_LIMITS.pageSizeMax });
    for (const frame of page?.frames ?? []) {
      const read = readFrame(frame);
      names.add(read.event);
      REDUCERS[read.event]?.(state, read);
      last = frame.n;
    }
    if (!page || last >= page.last) break;
  }
  const isBegun = [...names].some((name) => name !== 'run' && name !== 'reasoning');
  return { last, ...state, isBegun, names };
}

const REDUCERS: { readonly [event: string]: (hearing: ReplayState, frame: RunFrame) => void } = {
  message: (hearing, frame) => {
    hearing.text += dataOf(frame, 'message').content;
  },
  run: (hearing, frame) => {
    const { partialLength } = dataOf(frame, 'run');
    if (partialLength !== undefined) hearing.text = hearing.text.slice(0, partialLength);
  },
  tool_call: ({ calls }, frame) => {
    const { eventId: id, toolName: name, args, status, output } = dataOf(frame, 'tool_call');
    const { toolName: _, ...given } = args;
    const end = status === 'done' ? { end: endOf({ output }) } : {};
    calls.set(id, { kind: 'tool', id, name, args: given, ...end });
  },
  action_call: ({ calls }, frame) => {
    const { toolCallId: id, toolName: name, args = {}, status, output, error } = dataOf(frame, 'action_call');
    const end = status === 'isRunning' ? {} : { end: endOf({ output, error }) };
    calls.set(id, { kind: 'action', id, name, args, ...end });
  },
};

function endOf({
  output,
  error,
}: {
  output?: string | undefined;
  error?: string | undefined;
}): NonNullable<ReplayedCall['end']> {
  return { ...(output !== undefined && { output }), ...(error !== undefined && { error }) };
}
