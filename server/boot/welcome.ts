// What a person sees when the server has started: where things are, and one line to dial with.

import type { Config } from '../config/config.ts';
import type { RunningServer } from './start.ts';

/** The lines to print; only of what this build has. */
export function welcome(
  config: Config,
  server: Pick<RunningServer, 'url' | 'metricsUrl' | 'places' | 'developmentKey' | 'publicRoutes'>,
): string[] {
  const { url, metricsUrl } = server;
  const fields = "-d sessionId=s1 -d serviceCode='*2233#' -d phoneNumber=+260971230001 -d text=";
  const kept = server.places.map(({ keeps, program, place, survives }) => [
    `${keeps} in`,
    `${program}, ${place}: ${survives}`,
  ]);
  const places = [
    ['USSD endpoint', `${url}/api/ussd`],
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
