// The agent service of this server: assembles its parts, its door and its background work.

import type { Middleware } from 'koa';
import { type Agent, openAgent } from '../../lib/agent/agent.ts';
import type { Responder } from '../../lib/agent/responder.ts';
import type { FlowResponder } from '../../lib/agent/responders/flow.ts';
import type { Clock } from '../../lib/clock.ts';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { DELEGATION_KINDS, delegations } from '../../lib/delegation/delegations.ts';
import { tokenGuard } from '../../lib/delegation/guard.ts';
import { didIxoKeys, didWebKeys, type ResolveKeys } from '../../lib/delegation/issuer-keys.ts';
import type { OracleKey } from '../../lib/delegation/oracle-key.ts';
import { revocations } from '../../lib/delegation/revocations.ts';
import { type Disposables, openWithDisposables } from '../../lib/disposables.ts';
import type { Conversation, Inspector } from '../../lib/engine/conversation.ts';
import type { Services } from '../../lib/engine/service.ts';
import type { SenderOptions } from '../../lib/http/client.ts';
import type { Channel } from '../../lib/store/channel.ts';
import type { LogStore } from '../../lib/store/log-store.ts';
import { memoryChannel, memoryLogs } from '../../lib/store/memory/index.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import type { Audit } from '../audit/audit.ts';
import type { Config } from '../config/config.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { eventStreams } from '../http/event-streams.ts';
import type { ReadClient } from '../http/middleware/client.ts';
import type { DeclaredRoute } from '../http/route-table.ts';
import { openPlugins, type Plugins } from '../plugins/open.ts';
import type { Plugin } from '../plugins/plugin.ts';
import { openReaders } from '../sockets/leaving.ts';
import { openSockets } from '../sockets/open.ts';
import { hearSockets, tellSockets } from '../sockets/room-events.ts';
import { openSocketServer, type Door as SocketDoor } from '../sockets/socket-server.ts';
import { logsOnDisk } from '../stores/backends.ts';
import type { GivenStores } from '../stores/given.ts';
import type { Stores } from '../stores/stores.ts';
import type { Log } from '../telemetry/log.ts';
import { type AgentCounts, agentCounts } from './counts.ts';
import { type AgentDoor, agentDoor } from './door.ts';
import { openMcpService } from './mcp.ts';
import { openResponder } from './responders.ts';

export interface AgentService {
  readonly door: AgentDoor;
  readonly sockets: SocketDoor;
  /** Documentation of the plugins' routes. */
  readonly documentation: Plugins['documentation'];
  /** Metrics for Prometheus. */
  readonly metrics: () => readonly string[];
  /** Uses an edited flow for new sessions. */
  readonly add: FlowResponder['add'];
  /** Runs one round of background work; true when there is more to do. */
  sweep(): Promise<boolean>;
  /** Ends streams and sockets and accepts no more runs; other instances continue those in progress. */
  drain(waitMs: number): Promise<void>;
  close(): Promise<void>;
}

interface AgentParts {
  readonly stores?: GivenStores;
  readonly responder?: Responder;
  readonly plugins?: readonly Plugin[];
}

export interface AgentServiceOptions {
  readonly config: Config;
  readonly stores: Stores;
  readonly redis: RedisConnection | undefined;
  /** The first signs; tokens to the DIDs of all of them are taken. */
  readonly oracleKeys: readonly [OracleKey, ...OracleKey[]];
  readonly conversations: readonly Conversation[];
  readonly services: Services;
  /** Receives the inspection events of chats, runs and delegations. */
  readonly inspector?: Inspector | undefined;
  readonly log: Log;
  readonly clock: Clock;
  /** The clock for sessions. */
  readonly sessionClock: Clock;
  /** Routes of the server, which plugins may not take. */
  readonly ownRoutes: readonly DeclaredRoute[];
  readonly readClient: ReadClient;
  /** Admits operators only. */
  readonly operatorsOnly: Middleware;
  /** Records what operators do. */
  readonly audit: Pick<Audit, 'append'>;
  /** Logs, responder and plugins provided by an embedding program. */
  readonly parts?: AgentParts;
  /** For tests: how plugins reach other servers, and how did:web documents are fetched. */
  readonly sender?: SenderOptions | undefined;
  readonly onProblem: () => void;
}

/** Opens the service; throws ERR_CONFIG for an unusable key or flow, ERR_STORE when its logs cannot be opened. */
export function openAgentService(options: AgentServiceOptions): Promise<AgentService> {
  return openWithDisposables((ends) => open(options, ends));
}

async function open(options: AgentServiceOptions, ends: Disposables): Promise<AgentService> {
  const { config, stores, redis, services, log, clock, parts = {} } = options;
  const { defer, disposeAll } = ends;
  const { documents } = stores;
  const counts = agentCounts();
  const report = (what: string) => (error: unknown) => {
    options.onProblem();
    log.error({ err: error }, what);
  };
  const revokeKeys = (keys: readonly string[]) => {
    counts.revoke();
    live.sockets.revoke(keys);
  };
  const tokens = await openTokens(options, revokeKeys);
  const plugins = await openPlugins({
    ...{ config, documents, services, clock, log, ownRoutes: options.ownRoutes, sender: options.sender },
    ...{ operatorsOnly: options.operatorsOnly, audit: options.audit, given: parts.plugins },
  });
  defer(plugins.close);
  const { logs, channel } = await openRunStores(config, { redis, clock, given: parts.stores?.logs });
  defer(() => Promise.all([logs.close(), channel.close()]));
  const onProblem = report('a socket of the agent failed');
  const socketServer = await openSocketServer({ config, redis, clock, onProblem });
  defer(socketServer.close);
  const common = { counts, report, tokens, plugins, logs, channel, socketServer };
  const { agent, mcp, add } = await openChats(options, common, ends);
  const live = await openLiveReaders(options, { ...common, agent }, ends);
  const { delegationService } = tokens;
  plugins.bind({ agent, delegations: delegationService });
  const { delegationAuth } = config.agent;
  const door = agentDoor({
    ...{ agent, streams: live.streams, readers: live.readers, plugins, guard: tokens.guard, delegationAuth },
    readClient: options.readClient,
    models: config,
    redact: config.redact,
    onRefused: counts.refuse,
    onAccepted: counts.accept,
    delegations: delegationService,
    onFault: (error, ctx) => {
      options.onProblem();
      log.error({ err: error, requestId: ctx.state.requestId }, 'a request to the agent service failed');
    },
  });
  return {
    door,
    sockets: socketServer.door,
    documentation: plugins.documentation,
    metrics: counts.metrics,
    add,
    sweep: async () => {
      const rounds = [agent.sweep(), delegationService.sweep(), plugins.sweep(), mcp.sweep(COMMON_LIMITS.sweepBatch)];
      return (await Promise.all(rounds)).some((count) => count >= COMMON_LIMITS.sweepBatch);
    },
    drain: async (waitMs) => {
      plugins.close();
      await agent.close(waitMs);
      live.streams.close();
      await socketServer.close();
    },
    close: disposeAll,
  };
}

type Tokens = Awaited<ReturnType<typeof openTokens>>;

/** What checks tokens, and the delegations that users store. `onRevoked` gets the revocation keys of a revoked one. */
async function openTokens(options: AgentServiceOptions, onRevoked: (keys: readonly string[]) => void) {
  const { config, stores, inspector, clock } = options;
  const { documents } = stores;
  await documents.declare(DELEGATION_KINDS);
  const [key, ...older] = options.oracleKeys;
  const did = config.agent.did ?? key.did;
  const olderKeys = config.agent.did === undefined ? older : [];
  const revoked = revocations({ documents });
  const guard = tokenGuard({
    audience: [did, ...olderKeys.map((older) => older.did)],
    clock,
    maxTtlSeconds: { invocation: config.agent.maxTtlSeconds },
    methods: issuerMethods(config.agent, options.sender),
    revoked: revoked.has,
  });
  const delegationService = delegations({
    ...{ documents, clock, keyring: config.keyring, guard, inspector, key, issuer: did, olderKeys },
    revocations: revoked,
    onRevoked: ({ keys }) => onRevoked(keys),
  });
  return { did, guard, isRevoked: revoked.has, delegationService };
}

interface CommonParts {
  readonly counts: AgentCounts;
  readonly report: (what: string) => (error: unknown) => void;
  readonly tokens: Tokens;
  readonly plugins: Plugins;
  readonly logs: LogStore;
  readonly channel: Channel;
  readonly socketServer: Awaited<ReturnType<typeof openSocketServer>>;
}

/** The agent, and what it answers with: the responder, the tools of plugins and of MCP servers. */
async function openChats(
  options: AgentServiceOptions,
  { counts, report, tokens, plugins, logs, channel, socketServer }: CommonParts,
  { defer }: Disposables,
) {
  const { config, stores, services, inspector, log, clock, parts = {} } = options;
  const { documents } = stores;
  const { replyBytes, quotas, keepSessionsMs, name } = config.agent;
  const { did, delegationService, isRevoked } = tokens;
  const mcp = await openMcpService({
    ...{ config, documents, clock, delegations: delegationService, revoked: isRevoked },
    onProblem: report('an MCP server cannot be asked'),
  });
  defer(mcp.close);
  const isAnswered =
    parts.responder !== undefined ||
    config.model !== undefined ||
    options.conversations.some(({ id }) => id === config.agent.flow);
  if (!isAnswered)
    log.warn({ flow: config.agent.flow }, 'chats will not be answered: the flow named by AGENT_FLOW is not loaded');
  const { responder, add } = await openResponder({
    ...{ config, keyring: config.keyring, services, inspector, clock, sessionClock: options.sessionClock },
    ...{ given: parts.responder, snapshots: stores.snapshots, conversations: options.conversations },
    report: (error, what) => report(what)(error),
  });
  const agent = await openAgent({
    ...{ documents, logs, channel, responder, inspector, clock, replyBytes, quotas, keepSessionsMs },
    tell: tellSockets(socketServer.io, report('a socket of the agent failed')),
    isHeard: hearSockets(socketServer.io),
    oracle: { name, did, entityDid: did },
    hostTools: () => [...plugins.tools, ...mcp.tools(new Set(plugins.tools.map((tool) => tool.name)))],
    ...plugins.listeners,
    onEnd: (end) => {
      counts.end(end);
      plugins.listeners.onEnd?.(end);
    },
    onProblem: report('background work of the agent failed'),
  });
  defer(agent.close);
  return { agent, mcp, add };
}

/** Those who read a session as it goes on: sockets and streams. */
async function openLiveReaders(
  { config, clock, log }: AgentServiceOptions,
  { agent, counts, report, tokens, plugins, channel, socketServer }: CommonParts & { readonly agent: Agent },
  { defer }: Disposables,
) {
  const { guard, isRevoked } = tokens;
  const sockets = await openSockets({
    ...{ agent, guard, delegationAuth: config.agent.delegationAuth, channel, clock, isRevoked },
    onAccepted: counts.accept,
    onRefused: (reason) => {
      counts.refuse(reason);
      log.info({ route: '/socket.io/', reason }, 'a socket was not let in');
    },
    server: socketServer,
    gate: plugins.gate,
    onProblem: report('a socket of the agent failed'),
  });
  defer(sockets.close);
  const onProblem = report('a stream of the agent failed');
  const most = { all: SERVER_LIMITS.eventStreams, perOwner: SERVER_LIMITS.eventStreamsPerUser };
  const streams = eventStreams({ clock, most, onProblem });
  const readers = await openReaders({ channel, clock, isRevoked, onProblem });
  defer(readers.close);
  return { sockets, streams, readers };
}

/** Key resolvers by DID method; unconfigured methods are not accepted. */
function issuerMethods(
  { didWebHosts, didIxoUrl }: Config['agent'],
  sender: SenderOptions = {},
): { readonly [method: string]: ResolveKeys } {
  return {
    ...(didWebHosts.length > 0 && { web: didWebKeys({ hosts: didWebHosts, ...sender }) }),
    ...(didIxoUrl !== undefined && { ixo: didIxoKeys({ url: new URL(didIxoUrl) }) }),
  };
}

interface RunStoreOptions {
  readonly redis: RedisConnection | undefined;
  readonly clock: Clock;
  readonly given: LogStore | undefined;
}

/** Opens the logs of runs and the channel between instances: on Redis, or in `dataDir` and this process. */
async function openRunStores(
  config: Config,
  { redis, clock, given: logStore }: RunStoreOptions,
): Promise<{ readonly logs: LogStore; readonly channel: Channel }> {
  if (redis) {
    const { openRedisLogs, redisChannel } = await import('../../lib/store/redis/index.ts');
    const channel = redisChannel({ connection: redis });
    return { logs: logStore ?? (await openRedisLogs({ connection: redis, clock })), channel };
  }
  if (logStore) return { logs: logStore, channel: memoryChannel() };
  if (config.dataDir === IN_MEMORY) return { logs: memoryLogs({ clock }), channel: memoryChannel() };
  return { logs: await logsOnDisk(config.dataDir, clock), channel: memoryChannel() };
}
