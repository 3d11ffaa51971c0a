// What a server says at its start: to the log which settings need a look and which routes are open, to people where everything is.

import type { DocumentStore } from '../../lib/store/store.ts';
import { createAdapters } from '../../lib/ussd/adapters.ts';
import type { Config } from '../config/config.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import type { Finding } from '../doctor/check.ts';
import { lostIssuerFindings } from '../doctor/keys.ts';
import { checkMenusDir, limitFinding, misspeltFindings, proxyFinding, sharingFinding } from '../doctor/machine.ts';
import { spaceFinding } from '../doctor/stores.ts';
import type { StoreHealth } from '../health/health.ts';
import type { ServedRoute } from '../http/route-table.ts';
import { findPassedOver } from '../stores/passed-over.ts';
import type { Stores } from '../stores/stores.ts';
import type { Log } from '../telemetry/log.ts';
import { BESIDE_DIALECTS } from '../ussd/adapters.ts';
import type { Host } from './host.ts';
import type { RunningServer } from './running-server.ts';

const OPEN_DOOR =
  'USSD_GATEWAYS=*: every client that reaches this server can speak for any phone. List the addresses of your telecom gateway.';

/**
 * Warns of misspelt settings and of a disk that is almost full; in production also of menus that are only examples, proxies
 * that are not listed, limits that are soon reached, and of data that only some instances share.
 */
export function warnAtStart(config: Config, log: Log): void {
  const findings: Finding[] = misspeltFindings(config);
  if (config.production) findings.push(checkMenusDir(config));
  const isDiskUsed = config.redisUrl === undefined || config.mongodbUrl === undefined;
  if (isDiskUsed && config.dataDir !== IN_MEMORY) findings.push(spaceFinding(config.dataDir));
  if (config.production) findings.push(limitFinding(config), sharingFinding(config));
  if (config.production && config.isBehindProxy) findings.push(proxyFinding(config));
  if (config.production && config.ussd.gateways === '*') log.warn(OPEN_DOOR);
  logFindings(findings, log);
}

function logFindings(findings: readonly Finding[], log: Log): void {
  for (const { level, words, fix } of findings) if (level !== 'fine') log.warn(`${words}. ${fix}`);
}

/** Logs which stores are open and what is served. In development a line for people says it, and none of the log. */
export function logOpened({ production }: Config, { places, menus, machines }: Opened, log: Log): void {
  const level = production ? 'info' : 'debug';
  for (const place of places) log[level](place, 'a store is open');
  for (const { id, version } of menus.compiled.values()) log[level]({ flow: id, version }, 'a menu is served');
  for (const { id, version } of machines) log[level]({ machine: id, version }, 'a machine is served');
}

type Opened = Pick<Host, 'places' | 'menus' | 'machines'>;

/** Warns of keys that are gone while credentials that they signed still count. */
export async function warnOfLostIssuers(documents: DocumentStore, config: Config, log: Log): Promise<void> {
  logFindings(await lostIssuerFindings(documents, config), log);
}

/** Warns of data in DATA_DIR that the settings pass over. */
export async function warnOfPassedOver(config: Config, stores: Stores, log: Log): Promise<void> {
  // The doctor says why it cannot be looked at.
  const data = await findPassedOver(config, stores).catch(() => undefined);
  if (data) log.warn(`${data.words}. ${data.fix}`);
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

/** The lines to print; only of what this build has. */
export function welcome(
  config: Config,
  server: Pick<RunningServer, 'url' | 'metricsUrl' | 'places' | 'developmentKey' | 'routes' | 'publicRoutes'>,
): string[] {
  const { url, metricsUrl } = server;
  const fields = "-d sessionId=s1 -d serviceCode='*2233#' -d phoneNumber=+260971230001 -d text=";
  const rows = server.places.map(({ keeps, program, place, survives }) => [
    `${keeps} in`,
    `${program}, ${place}: ${survives}`,
  ]);
  const places = [
    ['USSD endpoint', `${url}/api/ussd`],
    ...listOwnDialects(server.routes).map((path) => ['own dialect', `${url}${path}`]),
    ['home', `${url}/`],
    ['phones', `${url}/simulator`],
    ...(config.studio ? [['studio', `${url}/studio`]] : []),
    ['inspector', `${url}/inspector`],
    ['chat', `${url}/chat`],
    ['sessions', `${url}/api/ussd/sessions`],
    ['registry', `${url}/registry`],
    ['domains', `${url}/v1/domains`],
    ...(server.developmentKey === undefined ? [] : [['API key', `${server.developmentKey} (this run only)`]]),
    ['docs', `${url}/docs`],
    ['health', `${url}/health`],
    ['metrics', `${metricsUrl ?? url}/metrics`],
    ['menus', config.menusDir],
    ...listModules(config),
    ...rows,
    ...server.publicRoutes.map(({ method, path }) => ['needs no token', `${method} ${path}`]),
  ];
  return [
    `Twinline listens on ${url}`,
    ...places.map(([what, where]) => `  ${what!.padEnd(14)} ${where}`),
    'Dial:',
    `  curl -s ${url}/api/ussd ${fields}`,
    'Or with a phone in the terminal:',
    `  npx twinline chat --url ${url}`,
  ];
}

/** Paths of telecom dialects that are not shipped. */
function listOwnDialects(routes: RunningServer['routes']): string[] {
  const segments = new Set<string>([...Object.keys(createAdapters('latest')), ...BESIDE_DIALECTS]);
  const isOwn = (name: string | undefined) => name !== undefined && !segments.has(name);
  return [...new Set(routes.map(({ path }) => path).filter((path) => isOwn(BELOW_USSD.exec(path)?.[1])))];
}

const BELOW_USSD = /^\/api\/ussd\/([^/]+)/;

// What settings have brought in; what a program gives, it knows.
function listModules({ ussd, machines, services, plugins, lintRules }: Config): string[][] {
  const modules = { adapters: ussd.adapters, machines, services, plugins: plugins.modules, 'lint rules': lintRules };
  return Object.entries(modules).flatMap(([what, names]) => (names.length ? [[what, names.join(', ')]] : []));
}
