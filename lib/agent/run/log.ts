// The log of a run, for the process that drives it: opened under the fence of its lease, replayed after a takeover, appended
// to.

import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import type { LogStore } from '../../store/log-store.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { RunnerOptions } from '../options.ts';
import { type AnyFrame, frameText, logName, type RunFrame, readFrame, readFrameData } from './frames.ts';
import { type HeldRun, lostRunError } from './lease.ts';

type LogDeps = Pick<RunnerOptions, 'logs' | 'clock'>;

export interface OpenedLog {
  readonly writer: LogWriter;
  readonly replay: Replay;
  /** Whether the log already has its last frame. */
  readonly isEnded: boolean;
}

/** Takes over the log and reads its content. Rejects when another process has the run. */
export async function openLog({ logs, clock }: LogDeps, lease: HeldRun): Promise<OpenedLog> {
  const { id, context } = lease.run;
  const expiresAt = clock.now() + AGENT_LIMITS.runLogAliveMs;
  const log = await lease.retry(() => logs.open(logName(id), { fence: context.fence, expiresAt }));
  if (log.kind === 'fenced') {
    lease.halt('lost');
    throw lostRunError(id);
  }
  const replay = log.last > 0 ? await lease.retry(() => replayLog(logs, id)) : EMPTY_REPLAY;
  return { writer: new LogWriter({ logs, clock }, lease, replay.last), replay, isEnded: log.ended };
}

/** Writes the frames of a run in order, after frame `last`; frames wait while an append is in progress. */
export class LogWriter {
  readonly #deps: LogDeps;
  readonly #lease: HeldRun;
  readonly #waiting: AnyFrame[] = [];
  #last: number;
  /** Of the frames that wait. */
  #bytes = 0;
  #working: Promise<void> | undefined;
  #failure: unknown;
  /** A full log accepts nothing but its last frame. */
  #isFull = false;

  constructor(deps: LogDeps, lease: HeldRun, last: number) {
    this.#deps = deps;
    this.#lease = lease;
    this.#last = last;
  }

  /** The number of frames in the log. */
  get last(): number {
    return this.#last;
  }

  /** Resolves once everything is in the log. Rejects when the log is lost. */
  async flush(): Promise<void> {
    while (this.#waiting.length || this.#working) await this.#start();
    if (this.#failure) throw this.#failure;
  }

  /**
   * Queues a frame; blocks only while more than AGENT_LIMITS.runFramesWaiting bytes are pending. Rejects when the log is
   * lost.
   */
  async write(frame: AnyFrame): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (this.#isFull) return;
    const merged = mergeText(this.#waiting.at(-1), frame);
    if (merged) this.#waiting[this.#waiting.length - 1] = merged;
    else this.#waiting.push(frame);
    this.#bytes += countBytes([frameText(frame)]);
    void this.#start();
    if (this.#bytes > AGENT_LIMITS.runFramesWaiting) await this.flush();
  }

  /** Writes the last frame, after which the log is kept for AGENT_LIMITS.runLogKeepMs. */
  async end(frame: AnyFrame): Promise<void> {
    await this.flush();
    await this.#append([frameText(frame)], true);
  }

  /** An append whose acknowledgement was lost is repeated; the log recognises it by `expected`. */
  async #append(texts: string[], end: boolean): Promise<void> {
    const { logs, clock } = this.#deps;
    const { id: run, context } = this.#lease.run;
    const result = await this.#lease.retry(() => {
      const expiresAt = clock.now() + (end ? AGENT_LIMITS.runLogKeepMs : AGENT_LIMITS.runLogAliveMs);
      return logs.append(logName(run), texts, { fence: context.fence, expiresAt, expected: this.#last, end });
    });
    if (result.kind === 'appended') this.#last = result.last;
    else if (result.kind === 'full') this.#isFull = true;
    else {
      if (result.kind === 'fenced') this.#lease.halt('lost');
      const words = `The log of run ${run} accepts no more frames from this process: it is ${result.kind}.`;
      throw new TwinlineError('ERR_CONFLICT', words);
    }
  }

  async #work(): Promise<void> {
    // Batch frames that are written in the same tick.
    await Promise.resolve();
    const waiting = this.#waiting;
    while (waiting.length && !this.#failure) {
      if (this.#last > AGENT_LIMITS.runFramesFast)
        await this.#deps.clock.wait(AGENT_LIMITS.runGatherMs, this.#lease.lost);
      const texts = takeBatch(waiting);
      this.#bytes = waiting.length ? this.#bytes - countBytes(texts) : 0;
      await this.#append(texts, false);
      if (this.#isFull) waiting.length = 0;
    }
  }

  #start(): Promise<void> {
    this.#working ??= this.#work()
      .catch((error) => {
        this.#failure = error;
        this.#waiting.length = 0;
      })
      .finally(() => {
        this.#working = undefined;
        if (this.#waiting.length && !this.#failure) void this.#start();
      });
    return this.#working;
  }
}

const countBytes = (texts: readonly string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Merges pending text with the text that follows; undefined when it does not fit into one frame. */
function mergeText(before: AnyFrame | undefined, next: AnyFrame): AnyFrame | undefined {
  if (before?.name !== 'message' || next.name !== 'message') return undefined;
  const content = before.data.content + next.data.content;
  return content.length > AGENT_LIMITS.deltaChars ? undefined : { name: 'message', data: { ...before.data, content } };
}

function takeBatch(waiting: AnyFrame[]): string[] {
  const texts: string[] = [];
  let bytes = 0;
  for (const frame of waiting) {
    const text = frameText(frame);
    bytes += Buffer.byteLength(text);
    if (texts.length && (bytes > COMMON_LIMITS.appendBytes || texts.length === COMMON_LIMITS.framesPerAppend)) break;
    texts.push(text);
  }
  // One splice: removing frames one by one would shift the rest each time.
  waiting.splice(0, texts.length);
  return texts;
}

export interface ReplayedCall {
  readonly kind: 'tool' | 'action';
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
  /** Absent until a result is logged. */
  readonly end?: { readonly output?: string; readonly error?: string };
}

/** The content of a log, so that a process taking over does not repeat it. */
export interface Replay {
  /** The number of the last frame. */
  readonly last: number;
  /** The text that readers have seen. */
  readonly text: string;
  /** By call id. */
  readonly calls: ReadonlyMap<string, ReplayedCall>;
  /** Whether there are frames besides those that every run starts with. */
  readonly isBegun: boolean;
  /** The names of all frames. */
  readonly names: ReadonlySet<string>;
}

const EMPTY_REPLAY: Replay = { last: 0, text: '', calls: new Map(), isBegun: false, names: new Set() };

async function replayLog(logs: LogStore, run: string): Promise<Replay> {
  const state: ReplayState = { text: '', calls: new Map() };
  const names = new Set<string>();
  let last = 0;
  for (;;) {
    const page = await logs.read(logName(run), { after: last, limit: COMMON_LIMITS.pageSizeMax });
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

interface ReplayState {
  text: string;
  readonly calls: Map<string, ReplayedCall>;
}

const REDUCERS: { readonly [event: string]: (state: ReplayState, frame: RunFrame) => void } = {
  message: (state, frame) => {
    state.text += readFrameData(frame, 'message').content;
  },
  run: (state, frame) => {
    const { partialLength } = readFrameData(frame, 'run');
    if (partialLength !== undefined) state.text = state.text.slice(0, partialLength);
  },
  tool_call: ({ calls }, frame) => {
    const { eventId: id, toolName: name, args, status, output } = readFrameData(frame, 'tool_call');
    const { toolName: _, ...toolArgs } = args;
    const end = output === undefined ? {} : { output };
    calls.set(id, { kind: 'tool', id, name, args: toolArgs, ...(status === 'done' && { end }) });
  },
  action_call: ({ calls }, frame) => {
    const { toolCallId: id, toolName: name, args = {}, status, output, error } = readFrameData(frame, 'action_call');
    const end = { ...(output !== undefined && { output }), ...(error !== undefined && { error }) };
    calls.set(id, { kind: 'action', id, name, args, ...(status !== 'isRunning' && { end }) });
  },
};
