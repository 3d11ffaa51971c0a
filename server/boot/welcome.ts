// What a person sees when the server has started: where things are, and one line to dial with.

import { createAdapters } from '../../lib/ussd/adapters.ts';
import type { Config } from '../config/config.ts';
import { BESIDE_DIALECTS } from '../ussd/adapters.ts';
import type { RunningServer } from './start.ts';

/** The lines to print; only of what this build has. */
export function welcome(
  config: Config,
  server: Pick<RunningServer, 'url' | 'metricsUrl' | 'places' | 'developmentKey' | 'routes' | 'publicRoutes'>,
): string[] {
  const { url, metricsUrl } = server;
  const fields = "-d sessionId=s1 -d serviceCode='*2233#' -d phoneNumber=+260971230001 -d text=";
  const kept = server.places.map(({ keeps, program, place, survives }) => [
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
    ...kept,
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
  const known = new Set<string>([...Object.keys(createAdapters('latest')), ...BESIDE_DIALECTS]);
  const isOwn = (name: string | undefined) => name !== undefined && !known.has(name);
  return [...new Set(routes.map(({ path }) => path).filter((path) => isOwn(BELOW_USSD.exec(path)?.[1])))];
}

const BELOW_USSD = /^\/api\/ussd\/([^/]+)/;

// What settings have brought in; what a program gives, it knows.
function listModules({ ussd, machines, services, plugins, lintRules }: Config): string[][] {
  const modules = { adapters: ussd.adapters, machines, services, plugins: plugins.modules, 'lint rules': lintRules };
  return Object.entries(modules).flatMap(([what, names]) => (names.length ? [[what, names.join(', ')]] : []));
}
