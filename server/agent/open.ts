// The agent service of this server: what it is made of, its door, and what goes on behind it.

import { join } from 'node:path';
import { type Agent, openAgent } from '../../lib/agent/agent.ts';
import type { FlowResponder } from '../../lib/agent/responders/flow.ts';
import { systemClock } from '../../lib/clock.ts';
import { delegations } from '../../lib/delegation/delegations.ts';
import { tokenGuard } from '../../lib/delegation/guard.ts';
import { DELEGATION_KINDS } from '../../lib/delegation/kinds.ts';
import { parseOracleKey } from '../../lib/delegation/oracle-key.ts';
import { revocations } from '../../lib/delegation/revocations.ts';
import type { SenderOptions } from '../../lib/domain/webhook-address.ts';
import type { Services } from '../../lib/engine/service.ts';
import type { Watch } from '../../lib/engine/watch.ts';
import type { CompiledFlow } from '../../lib/flow/compile.ts';
import type { Keyring } from '../../lib/keyring.ts';
import { LIMITS } from '../../lib/limits.ts';
import type { Channel } from '../../lib/store/channel.ts';
import { lmdbLogs } from '../../lib/store/lmdb.ts';
import type { LogStore } from '../../lib/store/log-store.ts';
import { memoryChannel, memoryLogs } from '../../lib/store/memory.ts';
import type { RedisConnection } from '../../lib/store/redis-connection.ts';
import { IN_MEMORY } from '../config/generated.ts';
import type { Config } from '../config.ts';
import { eventStreams } from '../event-streams.ts';
import type { Log } from '../log.ts';
import { openPlugins, type Plugins } from '../plugins/open.ts';
import type { Door as SocketDoor } from '../sockets/door.ts';
import { openSockets } from '../sockets/open.ts';
import { tellSockets } from '../sockets/room-events.ts';
import { openSocketServer } from '../sockets/socket-server.ts';
import type { Stores } from '../stores.ts';
import { type AgentDoor, agentDoor } from './door.ts';
import { issuerMethods } from './issuers.ts';
import { openMcpService } from './mcp.ts';
import { modelList, withModels } from './models.ts';
import { openResponder } from './responders.ts';

export interface AgentService {
  readonly door: AgentDoor;
  readonly sockets: SocketDoor;
  /** Of the routes of plugins. */
  readonly documentation: Plugins['documentation'];
  /** Gives an edited flow to the sessions that begin from now on. */
  readonly add: FlowResponder['add'];
  /** One round of background work; true when there is more to do at once. */
  sweep(): Promise<boolean>;
  /** Ends streams and sockets and takes no more runs; others go on with those that are under way. */
  drain(waitMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface AgentServiceOptions {
  readonly config: Config;
  readonly stores: Stores;
  readonly redis: RedisConnection | undefined;
  readonly keyring: Keyring;
  readonly conversations: readonly CompiledFlow[];
  readonly services: Services;
  /** Whoever looks on at chats, runs and delegations. */
  readonly watch?: Watch | undefined;
  readonly log: Log;
  /** For tests: how plugins reach other servers. */
  readonly sender?: SenderOptions | undefined;
  readonly onProblem: () => void;
}

/** Opens the service; throws ERR_CONFIG when its key or its flow cannot be used, ERR_STORE when its logs cannot be opened. */
export async function openAgentService(options: AgentServiceOptions): Promise<AgentService> {
  const { config, stores, keyring, log } = options;
  const clock = systemClock;
  const { documents, snapshots } = stores;
  const key = parseOracleKey(config.oracleKey);
  const did = config.agent.did ?? key.did;
  const told = (error: unknown, what: string) => {
    options.onProblem();
    log.error({ err: error }, what);
  };
  await documents.declare(DELEGATION_KINDS);
  const revoked = revocations({ documents });
  const { services, sender } = options;
  const plugins = await openPlugins({ config, documents, services, clock, log, sender });
  const { logs, channel } = await runStores(config, options.redis);
  const { responder, add } = await openResponder({
    config,
    snapshots,
    keyring,
    conversations: options.conversations,
    services: options.services,
    watch: options.watch,
    told,
  });
  const mcp = await openMcpService({
    config,
    documents,
    clock,
    delegations: { invoke: (...asked) => granted.invoke(...asked) },
    revoked: revoked.has,
    onProblem: (error) => told(error, 'an MCP server cannot be asked'),
  });
  const socketProblem = (error: unknown) => told(error, 'a socket of the agent failed');
  const socketServer = openSocketServer({ config, redis: options.redis, onProblem: socketProblem });
  const hangUp = async (error: unknown): Promise<never> => {
    await Promise.all([socketServer.close(), mcp.close()]);
    throw error;
  };
  const agent: Agent = await openAgent({
    documents,
    logs,
    channel,
    responder,
    watch: options.watch,
    tell: tellSockets(socketServer.io, socketProblem),
    oracle: { name: config.agent.name, did, entityDid: did },
    clock,
    replyBytes: config.agent.replyBytes,
    hostTools: () => [...plugins.tools, ...mcp.tools(new Set(plugins.tools.map(({ name }) => name)))],
    ...plugins.listeners,
    onProblem: (error) => told(error, 'background work of the agent failed'),
  }).catch(hangUp);
  const guard = tokenGuard({
    audience: did,
    clock,
    maxTtlSeconds: { invocation: config.agent.maxTtlSeconds },
    methods: issuerMethods(config.agent),
    revoked: revoked.has,
  });
  const sockets = await openSockets({
    server: socketServer,
    agent,
    guard,
    delegationAuth: config.agent.delegationAuth,
    channel,
    clock,
    revoked: revoked.has,
    gate: plugins.gate,
    onProblem: socketProblem,
  }).catch(hangUp);
  const granted = delegations({
    documents,
    clock,
    keyring,
    guard,
    watch: options.watch,
    revocations: revoked,
    key,
    issuer: did,
    onRevoked: ({ keys }) => sockets.revoke(keys),
  });
  plugins.bind({ agent, delegations: granted });
  const streams = eventStreams({ onProblem: (error) => told(error, 'a stream of the agent failed') });
  const door = agentDoor({
    agent,
    delegations: granted,
    streams,
    plugins,
    guard,
    delegationAuth: config.agent.delegationAuth,
    onFault: (error, ctx) => {
      options.onProblem();
      log.error({ err: error, requestId: ctx.state.requestId }, 'a request to the agent service failed');
    },
  });
  return {
    door: withModels(door, modelList(config)),
    sockets: socketServer.door,
    documentation: plugins.documentation,
    add,
    sweep: async () =>
      (await Promise.all([agent.sweep(), granted.sweep(), plugins.sweep(), mcp.sweep(LIMITS.sweepBatch)])).some(
        (count) => count >= LIMITS.sweepBatch,
      ),
    drain: async (waitMs) => {
      plugins.close();
      await agent.close(waitMs);
      streams.close();
      await socketServer.close();
    },
    close: async () => {
      plugins.close();
      await agent.close();
      sockets.close();
      await socketServer.close();
      await Promise.all([logs.close(), channel.close(), mcp.close()]);
    },
  };
}

async function runStores(
  config: Config,
  redis: RedisConnection | undefined,
): Promise<{ logs: LogStore; channel: Channel }> {
  if (redis) {
    const { openRedisLogs, redisChannel } = await import('../../lib/store/redis.ts');
    return { logs: await openRedisLogs({ connection: redis }), channel: redisChannel({ connection: redis }) };
  }
  if (config.dataDir === IN_MEMORY) return { logs: memoryLogs(), channel: memoryChannel() };
  return { logs: lmdbLogs({ path: join(config.dataDir, 'runs') }), channel: memoryChannel() };
}
