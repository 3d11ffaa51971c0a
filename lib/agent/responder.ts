// The interface of responders, which produce replies: a responder takes a turn and yields parts. It knows nothing of HTTP,
// logs or leases.

import type { Json, JsonObject } from '../json/json.ts';
import type { Redactor } from '../redact.ts';
import type { RunFault } from './run/frame-data.ts';
import type { RunRequest } from './run/run.ts';
import type { Message } from './session/message.ts';

/** A part of a reply, in display order. */
export type ResponderPart =
  /** The next piece of the text. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A tool called by the responder itself; calls through the {@link ToolBox} are reported automatically. */
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly args: JsonObject }
  | { readonly type: 'tool-result'; readonly id: string; readonly output: Json }
  | { readonly type: 'tool-error'; readonly id: string; readonly error: string }
  | { readonly type: 'render'; readonly component: string; readonly args?: JsonObject; readonly id?: string }
  | { readonly type: 'router'; readonly step: string }
  /** The session's title, if it has none yet. */
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  /** The reply has failed; later parts are ignored. */
  | { readonly type: 'error'; readonly fault: RunFault };

/** What a reply cost; summed over the parts of a run. */
export type TokenUsage = { readonly inputTokens: number; readonly outputTokens: number };

/** Secrets that came with the request. Never stored: after a crash the run continues without them. */
export interface TurnSecrets {
  readonly matrixAccessToken?: string;
  /** The token that authenticated the request. */
  readonly delegation?: string;
  readonly invocation?: string;
  /** Base64 CARs by MCP tool name. */
  readonly mcpInvocations?: { readonly [tool: string]: string };
}

/** All secrets as a list, for a redactor. */
export function listTurnSecrets({ mcpInvocations = {}, ...tokens }: TurnSecrets): string[] {
  return [...Object.values(tokens), ...Object.values(mcpInvocations)];
}

/** A message for a responder to answer. */
export interface ResponderTurn {
  readonly runId: string;
  readonly requestId: string;
  readonly session: string;
  /** The DID of the user. */
  readonly owner: string;
  readonly request: RunRequest;
  /** The messages before this turn, oldest first. */
  history(): Promise<Message[]>;
  /** What plugins want a model to know about the user, a few sentences each. */
  instructions?(): Promise<readonly string[]>;
  readonly tools: ToolBox;
  /** Aborts when the reply is no longer needed: stop, and yield no more parts. */
  readonly signal: AbortSignal;
  /** Whether an earlier process may have yielded some parts already: identical ones are not shown twice. */
  readonly isResumed: boolean;
  readonly secrets: TurnSecrets;
  /** The responder's data for the session: JSON of up to LIMITS.responderStateBytes bytes. */
  readonly state: { get(): Promise<Json | undefined>; set(value: Json): Promise<void> };
}

/** Answers chats: a model, a flow, or your own implementation. */
export interface Responder {
  /** Letters, digits and dashes. */
  readonly name: string;
  /**
   * Whether repeating a turn in another process yields the same parts and has no effect twice. If not, a run whose process
   * died after it started to answer ends as interrupted.
   */
  readonly isResumable: boolean;
  /** A rejection fails the run; users see a generic error without its message. */
  respond(turn: ResponderTurn): AsyncIterable<ResponderPart>;
  /** Deletes data stored elsewhere for a deleted session. */
  forget?(session: string): Promise<void>;
}

/** Where a tool runs: in the server, in a browser, or as an action of the client. */
export type ToolKind = 'host' | 'browser' | 'action';

/** A tool, as described to a responder. */
export interface ToolDescription {
  readonly kind: ToolKind;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; schemas from clients are not validated. */
  readonly schema: JsonObject;
}

/** The outcome of a tool call. */
export type ToolOutcome =
  | { readonly ok: true; readonly output: Json }
  /** A message for the responder. */
  | { readonly ok: false; readonly error: string };

/** The tools that a responder may call. */
export interface ToolBox {
  /** If names clash, tools of the server take precedence, then actions. */
  readonly tools: readonly ToolDescription[];
  /**
   * Calls a tool and reports the call to readers. `id` identifies the call when a turn is repeated; without one it is a new
   * call. Never rejects: an unknown, failing or slow tool is a failed call, and the run goes on.
   */
  call(name: string, args: JsonObject, options?: { readonly id?: string }): Promise<ToolOutcome>;
}

/** The run that calls a tool of the server. */
export interface ToolContext {
  readonly owner: string;
  readonly session: string;
  readonly runId: string;
  readonly requestId: string;
  readonly request: RunRequest;
  readonly secrets: TurnSecrets;
  /** Stays the same when the call is repeated after a crash: act at most once per key. */
  readonly idempotencyKey: string;
  /** Aborts on timeout or when the run stops. */
  readonly signal: AbortSignal;
}

/** A tool run by this server: from a plugin or an MCP server. */
export interface HostTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** @default AGENT_LIMITS.pluginToolMs */
  readonly timeoutMs?: number;
  /** Masks the tool's own configured secrets in its output. @default nothing */
  readonly redact?: Redactor;
  readonly handler: (args: JsonObject, context: ToolContext) => Promise<Json> | Json;
}
