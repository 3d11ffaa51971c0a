// The frames of a run: their names, their shapes and their text in the log; the number of a frame is its id.

import type { RunEnd } from '../../../machines/agent-stream.ts';
import type { Frame } from '../../store/log-store.ts';
import type { JsonObject } from '../../store/store.ts';

/** Why a reply failed, as users may read it: faults of the operator appear as `unknown` with status 500. */
export type RunFault = {
  /** In words. */
  readonly error: string;
  readonly kind?: FaultKind;
  readonly source?: 'byo' | 'platform';
  readonly provider?: string;
  readonly providerLabel?: string;
  /** An HTTP status. */
  readonly status?: number;
  readonly retryable?: boolean;
  readonly detail?: string;
};

export type FaultKind =
  | 'billing'
  | 'rate_limit'
  | 'auth'
  | 'timeout'
  | 'server'
  | 'network'
  | 'unknown'
  | 'byo_fallback';

type Stamp = { readonly sessionId: string; readonly requestId: string };
type ToolFrame = Stamp & { readonly toolName: string; readonly output?: string };

/** The data of every frame, by its name. Times are RFC 3339. */
export interface FrameData {
  run: {
    readonly runId: string;
    readonly requestId: string;
    readonly status: 'running';
    /** Somebody else goes on with it: what was shown of the text is cut to `partialLength` UTF-16 units. */
    readonly resumed?: true;
    readonly partialLength?: number;
  };
  reasoning: Stamp & {
    readonly reasoning: string;
    readonly reasoningDetails?: readonly { readonly type: string; readonly text: string }[];
    readonly isComplete: boolean;
    readonly timestamp: string;
  };
  /** What comes next of the text, not all of it. */
  message: { readonly content: string; readonly timestamp: string };
  tool_call: ToolFrame & {
    readonly args: JsonObject;
    readonly status: 'isRunning' | 'done';
    /** The same in both frames of a call. */
    readonly eventId: string;
  };
  action_call: ToolFrame & {
    readonly toolCallId: string;
    readonly args?: JsonObject;
    readonly status: 'isRunning' | 'done' | 'error';
    readonly error?: string;
  };
  render_component: Stamp & {
    readonly componentName: string;
    readonly args?: JsonObject;
    readonly status?: string;
    readonly eventId?: string;
  };
  'router.update': Stamp & { readonly step: string };
  error: RunFault & Stamp & { readonly timestamp: string };
  done: {
    readonly runId: string;
    readonly status: RunEnd;
    readonly interrupted?: true;
    readonly aborted?: true;
    readonly failed?: true;
    /** What is kept of the text, unless it is too long for a frame. */
    readonly partialText?: string;
  };
}

export type FrameName = keyof FrameData;
export type FrameOf<Name extends FrameName> = Name extends FrameName
  ? { readonly name: Name; readonly data: FrameData[Name] }
  : never;
export type AnyFrame = FrameOf<FrameName>;

/** A frame as readers get it: `data` is one line of JSON. */
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

/** A frame as Server-Sent Events carry it. */
export function sseText({ n, event, data }: RunFrame): string {
  return `event: ${event}\nid: ${n}\ndata: ${data}\n\n`;
}

/** How the last frame of a run says that it has ended. */
export function doneData(run: string, status: RunEnd, partialText?: string): FrameData['done'] {
  const flag = status === 'finished' ? {} : { [status]: true };
  return { runId: run, status, ...flag, ...(partialText !== undefined && { partialText }) };
}

/** The data of a frame as values. */
export function dataOf<Name extends FrameName>(frame: RunFrame, _name: Name): FrameData[Name] {
  return JSON.parse(frame.data) as FrameData[Name];
}
