// The services behind the doors: domain service, agent service and query gateway.

import type { Disposables } from '../../lib/disposables.ts';
import { type AgentService, openAgentService } from '../agent/open.ts';
import type { Config } from '../config/config.ts';
import { type DomainService, openDomain } from '../domain/open.ts';
import type { GatewayOptions, QueryGateway } from '../gateway/open.ts';
import { type OperatorRule, operatorsOnly } from '../http/middleware/operator.ts';
import type { Ground, Seams } from './ground.ts';
import type { Host } from './host.ts';
import { warnOfLostIssuers } from './notices.ts';
import { ownRoutes } from './route-groups.ts';

export interface DoorServices {
  readonly domain: DomainService;
  readonly agent: AgentService;
  /** Undefined without GATEWAY_FILE. */
  readonly query: QueryGateway | undefined;
}

export interface DoorServiceOptions {
  readonly ground: Ground;
  readonly host: Host;
  readonly operators: OperatorRule;
  readonly sender: Seams['webhookSender'];
}

/** Opens the services in order. */
export async function openDoorServices(
  config: Config,
  { ground, host, operators, sender }: DoorServiceOptions,
  { defer }: Disposables,
): Promise<DoorServices> {
  const { log, clock, oracleKeys, hub: inspector } = ground;
  const { metrics } = ground.observed;
  const { stores, redis, services, audit, menus, machines } = host;
  const onProblem = () => metrics.problem('http');
  const domain = await openDomain({
    ...{ documents: stores.documents, oracleKeys, clock, inspector, audit, log, onProblem },
    apiKeysFile: config.apiKeysFile,
    governanceFile: config.governanceFile,
    publicUrl: config.publicUrl,
    keyring: config.keyring,
    production: config.production,
    webhookSender: sender,
  });
  defer(domain.close);
  metrics.add(domain.metrics);
  await warnOfLostIssuers(stores.documents, config, log);
  const agent = await openAgentService({
    ...{ config, stores, redis, oracleKeys, services, inspector, log, clock, sender, audit, onProblem },
    ...{ ownRoutes: ownRoutes(config, ground.adapters), parts: ground.parts },
    conversations: [...menus.compiled.values(), ...machines],
    sessionClock: host.sessionClock,
    operatorsOnly: operatorsOnly(operators),
    readClient: operators.readClient,
  });
  defer(agent.close);
  metrics.add(agent.metrics);
  ground.observed.addStores(host.engine, stores.documents);
  const query = await openQuery(config, { log, clock, onProblem });
  defer(async () => query?.close());
  if (query) metrics.add(query.metrics);
  return { domain, agent, query };
}

// Loading the gateway takes a third of the startup time, so it is loaded only when configured.
async function openQuery(
  { gatewayFile: path, storeWaitMs: patienceMs }: Config,
  tools: Pick<GatewayOptions, 'log' | 'clock' | 'onProblem'>,
): Promise<QueryGateway | undefined> {
  if (path === undefined) return undefined;
  const { openGateway } = await import('../gateway/open.ts');
  return openGateway({ path, patienceMs, ...tools });
}
