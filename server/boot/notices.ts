// What a server says in its log about its own start: settings to look at, routes that are open, stores that come and go.

import type { DocumentStore } from '../../lib/store/store.ts';
import type { Config } from '../config/config.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import type { Finding } from '../doctor/check.ts';
import { lostIssuerFindings } from '../doctor/keys.ts';
import { limitFinding, proxyFinding } from '../doctor/machine.ts';
import { checkMenusDir, misspeltFindings } from '../doctor/settings.ts';
import { spaceFinding } from '../doctor/stores.ts';
import type { StoreHealth } from '../health/health.ts';
import type { ServedRoute } from '../http/route-table.ts';
import { findPassedOver } from '../stores/passed-over.ts';
import type { Stores } from '../stores/stores.ts';
import type { Log } from '../telemetry/log.ts';

const OPEN_DOOR =
  'USSD_GATEWAYS=*: every client that reaches this server can speak for any phone. List the addresses of your telecom gateway.';

/**
 * Warns of misspelt settings and of a disk that is almost full; in production also of menus that are only examples, proxies
 * that are not listed and limits that are soon reached.
 */
export function warnAtStart(config: Config, log: Log): void {
  const findings: Finding[] = misspeltFindings(config);
  if (config.production) findings.push(checkMenusDir(config));
  const isDiskUsed = config.redisUrl === undefined || config.mongodbUrl === undefined;
  if (isDiskUsed && config.dataDir !== IN_MEMORY) findings.push(spaceFinding(config.dataDir));
  if (config.production) findings.push(limitFinding(config));
  if (config.production && config.isBehindProxy) findings.push(proxyFinding(config));
  if (config.production && config.ussd.gateways === '*') log.warn(OPEN_DOOR);
  logFindings(findings, log);
}

function logFindings(findings: readonly Finding[], log: Log): void {
  for (const { level, words, fix } of findings) if (level !== 'fine') log.warn(`${words}. ${fix}`);
}

/** Warns of keys that are gone while credentials that they signed still count. */
export async function warnOfLostIssuers(documents: DocumentStore, config: Config, log: Log): Promise<void> {
  logFindings(await lostIssuerFindings(documents, config), log);
}

/** Warns of data in DATA_DIR that the settings pass over. */
export async function warnOfPassedOver(config: Config, stores: Stores, log: Log): Promise<void> {
  // The doctor says why it cannot be looked at.
  const found = await findPassedOver(config, stores).catch(() => undefined);
  if (found) log.warn(`${found.words}. ${found.fix}`);
}

/** In development it is a line for people, not one of the log. */
export function logPublicRoutes(routes: readonly ServedRoute[], log: Log, { production }: Config): void {
  const names = routes.map(({ method, path }) => `${method} ${path}`);
  if (names.length) log[production ? 'info' : 'debug']({ routes: names }, 'routes that need no token of a user');
}

/** Logs that a store is away, and that it is back. */
export function storeHealthLogger(log: Log): (store: StoreHealth) => void {
  return (store) => (store.away ? log.error(store, 'a store is away') : log.info(store, 'a store is back'));
}
