// The context of plugins: the server, the current request or turn, and events to the rooms of sessions.

import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { Agent } from '../../lib/agent/agent.ts';
import { ROOM_EVENTS, type RoomEvent } from '../../lib/agent/room.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Delegations } from '../../lib/delegation/delegations.ts';
import type { Services } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { publicExchange, type SenderOptions } from '../../lib/http/client.ts';
import { isPublicHost, isPublicUrl } from '../../lib/http/hosts.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { DocumentStore, Kind } from '../../lib/store/store.ts';
import type { Audit } from '../audit/audit.ts';
import type { Config } from '../config/config.ts';
import { readTimeZone } from '../http/check-input.ts';
import { jsonBody } from '../http/json-body.ts';
import type { DeclaredRoute } from '../http/route-table.ts';
import { type Log, pluginLog } from '../telemetry/log.ts';
import { type AgentUser, MISSING } from '../user/authenticate.ts';
import { AgentError, type AgentErrorBody, plainAgentError } from '../user/errors.ts';
import type { PluginMiddleware } from './exchange.ts';
import type { Plugin, PluginContext, PluginHost, RequestInfo } from './plugin.ts';

export interface PluginDeps {
  /** The server's own routes, which plugins must not take. */
  readonly ownRoutes: readonly DeclaredRoute[];
  readonly config: Config;
  /** Plugins in addition to the configured ones. */
  readonly given?: readonly Plugin[] | undefined;
  readonly documents: DocumentStore;
  readonly services: Services;
  readonly clock: Clock;
  readonly log: Log;
  /** Admits only operators. */
  readonly operatorsOnly: Middleware;
  /** Records operator actions. */
  readonly audit: Pick<Audit, 'append'>;
  /** For tests: how plugins reach other servers. */
  readonly sender?: SenderOptions | undefined;
}

/** What plugins use but is opened after them, because it uses them. */
export interface Late {
  readonly agent: Agent;
  readonly delegations: Pick<Delegations, 'invoke'>;
}

/** Calls the gates of all plugins in order; rejects with the first error. */
export type AskGates = (request: RequestInfo) => Promise<void>;

interface ServerHooks {
  /** Throws until the agent service is open. */
  readonly late: () => Late;
  readonly gate: AskGates | undefined;
  readonly closing: AbortSignal;
}

export type MakeContext = (now: () => RequestInfo) => PluginContext;

/** Makes contexts, plugin by plugin; their fields read the current request on every access. */
export function contextMaker(deps: PluginDeps, hooks: ServerHooks): (plugin: Plugin) => MakeContext {
  const { config, documents, log } = deps;
  const server = serverHost(deps, hooks);
  return ({ name, kinds = [], env = [] }) => {
    const host: PluginHost = {
      ...server,
      documents: limitDocuments(documents, kinds),
      env: Object.fromEntries(env.map((variable) => [variable, config.plugins.variable(variable)])),
      log: pluginLog(log, name, config),
    };
    return (now) => {
      const fields = FIELDS.map((field) => [field, { enumerable: true, get: () => now()[field] }]);
      const emit = emitters(hooks, now);
      const own = { ...host, emit, requireDid: () => requireDid(now()) };
      return Object.defineProperties(own, Object.fromEntries(fields)) as PluginContext;
    };
  };
}

const FIELDS = [
  'did',
  'sessionId',
  'requestId',
  'timezone',
  'matrixAccessToken',
  'matrixHomeserver',
  'method',
  'path',
  'idempotencyKey',
  'signal',
] as const satisfies readonly (keyof RequestInfo)[];

// The part shared by all plugins and requests.
function serverHost(
  { config, services, clock, sender, operatorsOnly }: PluginDeps,
  { late, gate, closing }: ServerHooks,
): Omit<PluginHost, 'documents' | 'env' | 'log'> {
  return {
    clock,
    services,
    closing,
    delegations: { invoke: (user, request) => late().delegations.invoke(user, request) },
    agent: {
      get sessions() {
        return late().agent.sessions;
      },
      get transcript() {
        return late().agent.transcript;
      },
      outcome: (run) => late().agent.outcome(run),
      follow: (run) => late().agent.follow(run),
      abort: (run) => late().agent.abort(run),
    },
    async send({ did, sessionId, message, runId, timezone }) {
      const requestId = randomUUID();
      await gate?.({ did, sessionId, requestId, timezone });
      return late().agent.send({
        owner: did,
        session: sessionId,
        requestId,
        request: { message, ...(timezone && { timezone }) },
        multitask: 'enqueue',
        ...(runId !== undefined && { runId }),
      });
    },
    post: publicExchange(sender),
    // Plugins see only those parts of Koa's context that need none of its types.
    operatorsOnly: operatorsOnly as unknown as PluginMiddleware,
    jsonBody: jsonBody() as unknown as PluginMiddleware,
    refuse: (statusCode, message, more = {}) =>
      new AgentError(config.redact.json({ statusCode, message, ...more }) as AgentErrorBody),
  };
}

function requireDid({ did }: RequestInfo): string {
  if (did !== undefined) return did;
  throw plainAgentError(401, MISSING);
}

function emitters({ late }: ServerHooks, now: () => RequestInfo): PluginContext['emit'] {
  const emit = async (event: RoomEvent, payload: JsonObject) => {
    const { sessionId = payload.sessionId, requestId = payload.requestId } = now();
    if (typeof sessionId !== 'string' || sessionId === '')
      throw new TwinlineError(
        'ERR_INPUT',
        `The event ${event} has no session: there is no current one, and the payload names none. Add sessionId to the payload.`,
      );
    const { room } = late().agent;
    return room.tell(sessionId, event, { ...payload, sessionId, ...(requestId !== undefined && { requestId }) });
  };
  const all = ROOM_EVENTS.map((event) => [event, (payload: JsonObject = {}) => emit(event, payload)]);
  return Object.fromEntries(all) as PluginContext['emit'];
}

/** Restricts documents to some kinds; others throw ERR_INPUT, like undeclared ones. */
function limitDocuments(documents: DocumentStore, kinds: readonly Kind[]): PluginHost['documents'] {
  const names = new Set(kinds.map(({ name }) => name));
  const checkOwnKind = (kind: Kind): Kind => {
    if (names.has(kind.name)) return kind;
    throw new TwinlineError(
      'ERR_INPUT',
      `The kind ${JSON.stringify(kind.name)} does not belong to this plugin. Declare it in "kinds".`,
    );
  };
  return {
    insert: async (kind, id, body) => documents.insert(checkOwnKind(kind), id, body),
    get: async (kind, id) => documents.get(checkOwnKind(kind), id),
    replace: async (kind, id, revision, body) => documents.replace(checkOwnKind(kind), id, revision, body),
    remove: async (kind, id, revision) => documents.remove(checkOwnKind(kind), id, revision),
    find: async (kind, query) => documents.find(checkOwnKind(kind), query),
    count: async (kind, query) => documents.count(checkOwnKind(kind), query),
  };
}

/** Reads a request. A public route has no user, so its Matrix token is ignored. */
export function requestInfo(ctx: Pick<Context, 'state' | 'get' | 'method' | 'path'>): RequestInfo {
  const { user, requestId } = ctx.state as { user?: AgentUser; requestId?: string };
  const token = ctx.get('x-matrix-access-token');
  return {
    did: user?.did,
    requestId,
    timezone: readTimeZone(ctx.get('x-timezone')),
    matrixAccessToken: user && token ? token : undefined,
    matrixHomeserver: publicHomeserver(ctx.get('x-matrix-homeserver') || undefined),
    method: ctx.method,
    path: ctx.path,
  };
}

/** Returns the URL or host name unchanged; undefined if it is malformed or names a private host. */
export function publicHomeserver(address: string | undefined): string | undefined {
  if (address === undefined || address.length > 512) return undefined;
  const isPublic = /^https?:\/\//i.test(address)
    ? isPublicUrl(address)
    : /^[\w-]+(\.[\w-]+)+(:\d{1,5})?$/.test(address) && isPublicHost(address.replace(/:\d+$/, ''));
  return isPublic ? address : undefined;
}
