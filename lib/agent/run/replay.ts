// Reads the log of a run back into its text and calls, so that a process that takes the run over does not repeat them.

import { SHARED_LIMITS } from '../../shared-limits.ts';
import type { LogStore } from '../../store/log-store.ts';
import type { JsonObject } from '../../store/store.ts';
import { dataOf, logOf, type RunFrame, readFrame } from './frames.ts';

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
