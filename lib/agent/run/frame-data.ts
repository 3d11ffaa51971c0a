// What the frames of a run say, by name, as their readers get it.

import type { RunEnd } from '../../../machines/run-ends.ts';
import type { JsonObject } from '../../json/json.ts';

/** Why a reply failed, for users: operator faults appear as `unknown` with status 500. */
export type RunFault = {
  /** A message. */
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

/** The kind of a failure. */
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

/** The data of every frame by name. Times are RFC 3339. */
export interface FrameData {
  run: {
    readonly runId: string;
    readonly requestId: string;
    readonly status: 'running';
    /** Another process continues the run: truncate the text shown so far to `partialLength` UTF-16 units. */
    readonly resumed?: true;
    readonly partialLength?: number;
  };
  reasoning: Stamp & {
    readonly reasoning: string;
    readonly reasoningDetails?: readonly { readonly type: string; readonly text: string }[];
    readonly isComplete: boolean;
    readonly timestamp: string;
  };
  /** The next piece of the text, not all of it. */
  message: { readonly content: string; readonly timestamp: string };
  tool_call: ToolFrame & {
    readonly args: JsonObject;
    readonly status: 'isRunning' | 'done';
    /** Identical in both frames of a call. */
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
    /** The partial text that is kept, unless it is too long for a frame. */
    readonly partialText?: string;
  };
}

/** The names of frames. */
export type FrameName = keyof FrameData;
