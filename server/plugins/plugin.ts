// The plugin interface: routes, tools, gates and listeners that a deployment adds to the agent service. Plugins are trusted.

import type { Agent } from '../../lib/agent/agent.ts';
import type { RunReport, RunStart } from '../../lib/agent/options.ts';
import type { Sent } from '../../lib/agent/requests.ts';
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

/** One or all methods of a path that need no token; the path as the route declares it, such as `/chats/:id`. */
export interface Excluded {
  readonly path: string;
  /** @default all methods of the path */
  readonly method?: string;
}

/** A tool for the agent. */
export interface PluginTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; invalid arguments never reach the handler. */
  readonly schema: JsonObject;
  handler(args: JsonObject, ctx: PluginToolContext): Promise<Json> | Json;
}

/** An event of a run driven by this process. */
export interface PluginEvent {
  readonly type: RoomEvent | 'run_ended';
  readonly runId: string;
  readonly payload: JsonObject;
}

/** The request, tool call or event that a plugin currently works for. */
export interface RequestInfo {
  /** The authenticated user; undefined on a public route. */
  readonly did?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly requestId?: string | undefined;
  /** An IANA name. */
  readonly timezone?: string | undefined;
  /** Never log or store it. */
  readonly matrixAccessToken?: string | undefined;
  /** Set only if its address is public. */
  readonly matrixHomeserver?: string | undefined;
  /** Requests only. */
  readonly method?: string | undefined;
  /** Requests only. */
  readonly path?: string | undefined;
  /** Tool calls only. */
  readonly idempotencyKey?: string | undefined;
  /** Tool calls only: aborts when the result is no longer needed. */
  readonly signal?: AbortSignal | undefined;
}

/** The parts of the server available to plugins. */
export interface PluginHost {
  /** Limited to the plugin's own kinds. */
  readonly documents: Pick<DocumentStore, 'insert' | 'get' | 'replace' | 'remove' | 'find' | 'count'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The environment variables that the plugin lists in `env`. */
  readonly env: { readonly [name: string]: string | undefined };
  /** The services that flows may call, from the modules of SERVICES. */
  readonly services: Services;
  /** Mints invocations for other services, within the user's delegation. */
  readonly delegations: Pick<Delegations, 'invoke'>;
  /** Sessions, transcripts and runs. Not available until the server is open. */
  readonly agent: Pick<Agent, 'sessions' | 'transcript' | 'outcome' | 'follow' | 'abort'>;
  /** Sends a message as a user; calls the gates first and throws their refusals. */
  send(request: NewTurn): Promise<Sent>;
  /** Sends a POST to public https addresses; rejects with ERR_SERVICE or ERR_TIMEOUT, without secrets in the message. */
  post(request: Posted, signal: AbortSignal): Promise<HttpReply>;
  /** Aborts on shutdown: leave unfinished work to other processes. */
  readonly closing: AbortSignal;
  /** Admits only operators, like operator routes. */
  readonly operatorsOnly: PluginMiddleware;
  /** Parses a JSON body of up to 1 MiB into `koa.request.body`; throws 400 or 413. */
  readonly jsonBody: PluginMiddleware;
  /** Makes the error to throw for this status; `more` adds fields to the body. */
  refuse(status: number, message: string | readonly string[], more?: JsonObject): PluginRefusal;
}

export interface NewTurn {
  readonly did: string;
  readonly sessionId: string;
  readonly message: string;
  /** A UUID; a turn with this id starts once, however often it is sent. @default a new one */
  readonly runId?: string;
  readonly timezone?: string;
}

/** The context of every plugin function: the server and the current request. */
export interface PluginContext extends RequestInfo, PluginHost {
  /**
   * Sends an event to the sockets of a session. `sessionId` and `requestId` default to the current ones. Rejects with
   * ERR_INPUT without a session. Resolves to `false` if the event could not be sent.
   */
  readonly emit: { readonly [event in RoomEvent]: (payload: JsonObject) => Promise<boolean> };
  /** The user; throws 401 on a public route. */
  requireDid(): string;
}

/** The context of a tool call. */
export interface PluginToolContext extends PluginContext {
  readonly did: string;
  readonly sessionId: string;
  /** The same when the call is repeated after a crash. */
  readonly idempotencyKey: string;
  /** Aborts when the result is no longer needed. */
  readonly signal: AbortSignal;
}

/** Access for clients that send a secret of the plugin as the bearer token. */
export interface PluginSecret {
  readonly bearer: string;
  /** Name of the secret in the 401 response. */
  readonly name: string;
}

type Described = Pick<
  RouteDescription,
  'id' | 'summary' | 'description' | 'parameters' | 'query' | 'headers' | 'body' | 'answers'
>;

/** One method of a path. Descriptions left out for /openapi.json are derived from method and path. */
export interface PluginRoute<Ctx = PluginContext>
  extends Pick<RouteDescription, 'method' | 'path'>,
    Partial<Described> {
  /** Who may call the route. @default 'user' */
  readonly access?: 'public' | 'user' | 'operator' | PluginSecret;
  /**
   * Handles the request. Everything declared by `parameters`, `query`, `headers` and `body` is validated: see
   * `koa.state.input`.
   */
  handle(koa: PluginExchange, ctx: Ctx): unknown;
}

/** OpenAPI documentation of a plugin's routes; what is missing is derived from the routes. */
export interface PluginDocumentation {
  readonly description?: string;
  /** For routes added by a function; `access` is ignored. */
  readonly routes?: readonly RouteDescription[];
  readonly parameters?: { readonly [name: string]: Parameter };
  readonly schemas?: { readonly [name: string]: Schema };
}

// A method, so that a function typed with the router of `@koa/router` fits, too.
interface RouteMaker {
  add(router: PluginRouter, ctx: PluginContext): Promise<void> | void;
}

/** An extension of the agent service: routes, tools, gates and event listeners. */
export interface Plugin {
  /** Lower-case letters, digits and dashes. */
  readonly name: string;
  readonly version: string;
  /** Names of plugins that it requires. */
  readonly dependsOn?: readonly string[];
  /** Names of the environment variables it reads. */
  readonly env?: readonly string[];
  /** Document kinds it stores; their names start with `plugin-<name>-`. */
  readonly kinds?: readonly Kind[];
  /** Called once before the server listens; an error aborts the start. The agent is not available yet. */
  start?(ctx: PluginContext): Promise<void> | void;
  /**
   * The routes, or a function that adds them; in both, `ctx` describes the current request. Routes added by a function need a
   * user token, except those in `authExcluded`.
   */
  readonly routes?: readonly PluginRoute[] | RouteMaker['add'];
  readonly authExcluded?: readonly Excluded[];
  readonly documentation?: PluginDocumentation;
  readonly tools?: readonly PluginTool[];
  /** Listens to run events; errors are logged. */
  onEvent?(event: PluginEvent, ctx: PluginContext): Promise<void> | void;
  /** Called on every protected route once the user is authenticated; an error refuses the request. */
  gate?(ctx: PluginContext): Promise<void> | void;
  /**
   * Called before a run is answered, and again by the process that takes over after a crash: must act once per `runId`. An
   * error made by `ctx.refuse` ends the run as failed; `settle` is still called for it.
   */
  begin?(run: RunStart, ctx: PluginContext): Promise<void> | void;
  /** Called before a run ends, and again by the process that takes over after a crash: must act once per `runId`. */
  settle?(report: RunReport, ctx: PluginContext): Promise<void> | void;
  /** Facts about the user for the model's prompt. */
  instructions?(ctx: PluginContext): Promise<string | undefined> | string | undefined;
  /** One round of background work; returns the amount done. */
  sweep?(ctx: PluginContext): Promise<number>;
}
