// The plugin interface: routes, tools, gates and listeners that a deployment adds to the agent service. Plugins are trusted.

import type { Agent, Sent } from '../../lib/agent/agent.ts';
import type { RunReport, RunStart } from '../../lib/agent/options.ts';
import type { RoomEvent } from '../../lib/agent/room.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Delegations } from '../../lib/delegation/delegations.ts';
import type { Services } from '../../lib/engine/service.ts';
import type { HttpReply, Posted } from '../../lib/http/client.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import type { Schema } from '../../lib/json/schema.ts';
import type { DocumentStore, Kind } from '../../lib/store/store.ts';
import type { Parameter, RouteDescription } from '../http/route-description.ts';
import type { Log } from '../telemetry/log.ts';
import type { PluginExchange, PluginMiddleware, PluginRefusal, PluginRouter } from './exchange.ts';

/** One or all methods of an address that need no token; the path as the route has it, `/chats/:id`. */
export interface Excluded {
  readonly path: string;
  /** @default all methods of the path */
  readonly method?: string;
}

/** A tool that the agent may call. */
export interface PluginTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; what does not meet it never reaches the handler. */
  readonly schema: JsonObject;
  handler(args: JsonObject, ctx: PluginToolContext): Promise<Json> | Json;
}

/** What goes on in runs that this process drives. */
export interface PluginEvent {
  readonly type: RoomEvent | 'run_ended';
  readonly runId: string;
  readonly payload: JsonObject;
}

/** What is known of the request, the call of a tool or the event that a plugin works for now. */
export interface RequestInfo {
  /** The user whose token was checked; undefined on a public route. */
  readonly did?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly requestId?: string | undefined;
  /** An IANA name. */
  readonly timezone?: string | undefined;
  /** Never log or store it. */
  readonly matrixAccessToken?: string | undefined;
  /** Only when it may be on the public internet. */
  readonly matrixHomeserver?: string | undefined;
  /** Of the request. */
  readonly method?: string | undefined;
  /** Of the request. */
  readonly path?: string | undefined;
  /** Of the call of a tool. */
  readonly idempotencyKey?: string | undefined;
  /** Of the call of a tool: aborts when the result is no longer wanted. */
  readonly signal?: AbortSignal | undefined;
}

/** What a plugin may use of the server. */
export interface PluginHost {
  /** Of the plugin's own kinds. */
  readonly documents: Pick<DocumentStore, 'insert' | 'get' | 'replace' | 'remove' | 'find' | 'count'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The variables of the environment that the plugin has named in `env`. */
  readonly env: { readonly [name: string]: string | undefined };
  /** What flows may call, with the modules of SERVICES. */
  readonly services: Services;
  /** Mints invocations for other services, within what the user has delegated. */
  readonly delegations: Pick<Delegations, 'invoke'>;
  /** Sessions, transcripts and runs. Not before the server is open. */
  readonly agent: Pick<Agent, 'sessions' | 'transcript' | 'outcome' | 'follow' | 'abort'>;
  /** Says something as a user; gates are asked before, and their refusals thrown. */
  send(request: NewTurn): Promise<Sent>;
  /** POST to https addresses of the public internet; rejects with ERR_SERVICE or ERR_TIMEOUT, in words without secrets. */
  post(posted: Posted, signal: AbortSignal): Promise<HttpReply>;
  /** Aborts when the server ends: leave what is not done to others. */
  readonly closing: AbortSignal;
  /** Lets only operators through, as routes of operators do. */
  readonly operatorsOnly: PluginMiddleware;
  /** Parses a JSON body into `koa.request.body`, of 1 MiB at most; throws 400 or 413. */
  readonly jsonBody: PluginMiddleware;
  /** The error to throw for an answer with this status; more fields go beside the message. */
  refuse(status: number, message: string | readonly string[], more?: JsonObject): PluginRefusal;
}

export interface NewTurn {
  readonly did: string;
  readonly sessionId: string;
  readonly message: string;
  /** A UUID: a turn of this id is begun once, however often it is sent. @default a new one */
  readonly runId?: string;
  readonly timezone?: string;
}

/** Handed to everything that a plugin has: the server, and what is going on now. */
export interface PluginContext extends RequestInfo, PluginHost {
  /**
   * Tells the sockets of a session; `sessionId` and `requestId` are filled in, where there is a current session with its
   * own. Rejects with ERR_INPUT when there is none and the payload names none. `false`: it could not be sent.
   */
  readonly emit: { readonly [event in RoomEvent]: (payload: JsonObject) => Promise<boolean> };
  /** The user; throws 401 on a public route. */
  requireDid(): string;
}

/** Handed to a tool: what every call of one has. */
export interface PluginToolContext extends PluginContext {
  readonly did: string;
  readonly sessionId: string;
  /** Of the call: the same when it is made again after a crash. */
  readonly idempotencyKey: string;
  /** Aborts when the result is no longer wanted. */
  readonly signal: AbortSignal;
}

/** Clients that send a secret of the plugin as a bearer token. */
export interface PluginSecret {
  readonly bearer: string;
  /** How the secret is called, in the answer to requests without it. */
  readonly name: string;
}

type Described = Pick<
  RouteDescription,
  'id' | 'summary' | 'description' | 'parameters' | 'query' | 'headers' | 'body' | 'answers'
>;

/** One method of one address. What is not said for /openapi.json is made up from method and path. */
export interface PluginRoute<Ctx = PluginContext>
  extends Pick<RouteDescription, 'method' | 'path'>,
    Partial<Described> {
  /** Who may use it. @default 'user' */
  readonly access?: 'public' | 'user' | 'operator' | PluginSecret;
  /** Answers. What `parameters`, `query`, `headers` and `body` declare has been checked: `koa.state.input`. */
  handle(koa: PluginExchange, ctx: Ctx): unknown;
}

/** What /openapi.json says about a plugin's routes; what is missing is made up from the routes. */
export interface PluginDocumentation {
  readonly description?: string;
  /** Of routes that a function adds; `access` is not read. */
  readonly routes?: readonly RouteDescription[];
  readonly parameters?: { readonly [name: string]: Parameter };
  readonly schemas?: { readonly [name: string]: Schema };
}

// A method, so that one typed with the router of `@koa/router` fits, too.
interface RouteMaker {
  add(router: PluginRouter, ctx: PluginContext): Promise<void> | void;
}

/** What a plugin adds to the agent service: routes, tools, gates, and ears for what goes on. */
export interface Plugin {
  /** Lower-case letters, digits and dashes. */
  readonly name: string;
  readonly version: string;
  /** Names of plugins that must be there, too. */
  readonly dependsOn?: readonly string[];
  /** Names of variables of the environment that it reads. */
  readonly env?: readonly string[];
  /** Kinds of documents that it keeps; their names begin with `plugin-<name>-`. */
  readonly kinds?: readonly Kind[];
  /** Called once, before the server answers: what it throws ends the start. The agent is not there yet. */
  start?(ctx: PluginContext): Promise<void> | void;
  /**
   * Its routes, or a function that adds them; in both `ctx` is about the request that is being answered. Those that a function
   * adds need a token of a user, but for `authExcluded`.
   */
  readonly routes?: readonly PluginRoute[] | RouteMaker['add'];
  readonly authExcluded?: readonly Excluded[];
  readonly documentation?: PluginDocumentation;
  readonly tools?: readonly PluginTool[];
  /** Told of what goes on; what it throws is logged. */
  onEvent?(event: PluginEvent, ctx: PluginContext): Promise<void> | void;
  /** Asked on every protected route, once the user is known; what it throws refuses the request. */
  gate?(ctx: PluginContext): Promise<void> | void;
  /**
   * Called before a run is answered, and again after a takeover when the process dies: must act once per `runId`. What
   * `ctx.refuse` makes ends the run as failed; `settle` is called for it as for any other.
   */
  begin?(run: RunStart, ctx: PluginContext): Promise<void> | void;
  /** Called before a run ends, and again after a takeover when the process dies: must act once per `runId`. */
  settle?(report: RunReport, ctx: PluginContext): Promise<void> | void;
  /** What a model should know about the user before it answers. */
  instructions?(ctx: PluginContext): Promise<string | undefined> | string | undefined;
  /** One round of background work; how much was done. */
  sweep?(ctx: PluginContext): Promise<number>;
}
