// What a person sees when the server has started: where things are, and one line to dial with.

import { IN_MEMORY } from './config/generated.ts';
import type { Config } from './config.ts';
import type { RunningServer } from './start.ts';

/** The lines to print; only of what this build has. */
export function welcome(config: Config, { url, metricsUrl }: Pick<RunningServer, 'url' | 'metricsUrl'>): string[] {
  const fields = "-d sessionId=s1 -d serviceCode='*2233#' -d phoneNumber=+260971230001 -d text=";
  const places = [
    ['USSD endpoint', `${url}/api/ussd`],
    ['sessions', `${url}/api/ussd/sessions`],
    ['health', `${url}/health`],
    ['metrics', `${metricsUrl ?? url}/metrics`],
    ['menus', config.menusDir],
    ['data', config.dataDir === IN_MEMORY ? 'in memory, gone at the end' : config.dataDir],
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
