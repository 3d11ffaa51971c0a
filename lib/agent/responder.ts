// The port behind which replies are made: a responder takes a turn and gives parts; it knows no HTTP, no log, no lease.

import type { Json, JsonObject } from '../json/json.ts';
import type { Redactor } from '../redact.ts';
import type { RunFault } from './run/frames.ts';
import type { RunRequest } from './run/run.ts';
import type { Message } from './session/message.ts';

/** A piece of a reply, in the order in which it is to be seen. */
export type ResponderPart =
  /** What comes next of the text. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A tool that the responder calls by itself; those of the {@link ToolBox} tell of themselves. */
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly args: JsonObject }
  | { readonly type: 'tool-result'; readonly id: string; readonly output: Json }
  | { readonly type: 'tool-error'; readonly id: string; readonly error: string }
  | { readonly type: 'render'; readonly component: string; readonly args?: JsonObject; readonly id?: string }
  | { readonly type: 'router'; readonly step: string }
  /** What the session is to be called, if it has no title yet. */
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  /** The reply has failed; nothing after it is looked at. */
  | { readonly type: 'error'; readonly fault: RunFault };

/** What a reply cost. Parts of one run are added up. */
export type TokenUsage = { readonly inputTokens: number; readonly outputTokens: number };

/** What came with the request and is never stored: after a crash the run goes on without it. */
export interface TurnSecrets {
  readonly matrixAccessToken?: string;
  /** The delegation or invocation that the request was authenticated with. */
  readonly delegation?: string;
  readonly invocation?: string;
  /** Base64 CARs by the names of MCP tools. */
  readonly mcpInvocations?: { readonly [tool: string]: string };
}

/** All of them, as a redactor takes them. */
export function listTurnSecrets({ mcpInvocations = {}, ...tokens }: TurnSecrets): string[] {
  return [...Object.values(tokens), ...Object.values(mcpInvocations)];
}

/** What a responder is given to answer. */
export interface ResponderTurn {
  readonly runId: string;
  readonly requestId: string;
  readonly session: string;
  /** The DID of the user. */
  readonly owner: string;
  readonly request: RunRequest;
  /** What was said before this turn, the oldest first. */
  history(): Promise<Message[]>;
  /** What plugins want a model to know of the user, each a few sentences. */
  instructions?(): Promise<readonly string[]>;
  readonly tools: ToolBox;
  /** Aborts when the reply is no longer wanted: stop, and yield no further parts. */
  readonly signal: AbortSignal;
  /** An earlier process may have given some parts already: those that are the same are not shown twice. */
  readonly isResumed: boolean;
  readonly secrets: TurnSecrets;
  /** What the responder keeps for the session: JSON of up to LIMITS.responderStateBytes bytes. */
  readonly state: { get(): Promise<Json | undefined>; set(value: Json): Promise<void> };
}

/** What answers chats: a model, a flow, or a part of yours. */
export interface Responder {
  /** Letters, digits and dashes. */
  readonly name: string;
  /**
   * Whether the same turn, taken again by another process, gives the same parts and does nothing twice. If not, a run
   * whose process died after it had begun to answer ends as interrupted.
   */
  readonly isResumable: boolean;
  /** A rejection fails the run; users get a general error without its message. */
  respond(turn: ResponderTurn): AsyncIterable<ResponderPart>;
  /** Throws away what it keeps elsewhere for a session that was deleted. */
  forget?(session: string): Promise<void>;
}

/** Where a tool runs: in the server, in a browser, or as an action of the client. */
export type ToolKind = 'host' | 'browser' | 'action';

/** A tool as a responder sees it. */
export interface ToolDescription {
  readonly kind: ToolKind;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; those of clients may be anything. */
  readonly schema: JsonObject;
}

/** What the call of a tool gave. */
export type ToolOutcome =
  | { readonly ok: true; readonly output: Json }
  /** In words, for the responder. */
  | { readonly ok: false; readonly error: string };

/** The tools that a responder may call. */
export interface ToolBox {
  /** Of tools with one name those of the server come first, then actions. */
  readonly tools: readonly ToolDescription[];
  /**
   * Calls a tool and tells readers of it. `id` names the call and is the same when a turn is taken again; without one it
   * is a new call. Never rejects: a tool that is unknown, fails or takes too long has failed, and the run goes on.
   */
  call(name: string, args: JsonObject, options?: { readonly id?: string }): Promise<ToolOutcome>;
}

/** The run that calls a tool of the server, and its user. */
export interface ToolContext {
  readonly owner: string;
  readonly session: string;
  readonly runId: string;
  readonly requestId: string;
  readonly request: RunRequest;
  readonly secrets: TurnSecrets;
  /** The same when the call is made again after a crash: act at most once per key. */
  readonly idempotencyKey: string;
  /** Aborts when its time is up or the run stops. */
  readonly signal: AbortSignal;
}

/** A tool that this server runs: of a plugin, or of an MCP server. */
export interface HostTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** @default AGENT_LIMITS.pluginToolMs */
  readonly timeoutMs?: number;
  /** Masks in what it says the secrets that it is configured with. @default there are none */
  readonly redact?: Redactor;
  readonly handler: (args: JsonObject, context: ToolContext) => Promise<Json> | Json;
}
