// `twinline routes`: everything that a server of this configuration answers, who may ask, and how much at a time.

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import { USSD_LIMITS } from '../../../lib/ussd/limits.ts';
import type { Config } from '../../config/config.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { EXIT_CONFIG } from '../../http/errors.ts';
import type { OpenApiDocument } from '../../openapi/document.ts';
import { readScratchConfig, withScratchServer } from '../scratch-server.ts';
import { formatTable } from '../terminal.ts';
import type { Verb } from '../verb.ts';
import { SETTING_OPTIONS, settingsOf } from './start.ts';

export const routesVerb: Verb = {
  summary: 'List every route: who may ask, how often, and how large bodies may be',
  usage: '[options]',
  options: {
    '--json': 'as JSON',
    '--<setting> <value>': 'as for start, which names them; such as --gateway-file or --plugins',
  },
  run: async (args, env) => {
    const options = { ...SETTING_OPTIONS, json: { type: 'boolean' } } as const;
    const { values } = parseArgs({ args: [...args], options });
    const given = { ...env, ...settingsOf(values) };
    const { config, problems } = readScratchConfig(given);
    for (const problem of problems) console.error(pc.red(problem));
    if (!config) return EXIT_CONFIG;
    const rows = await listed(config);
    console.log(values.json ? JSON.stringify(rows, null, 2) : drawn(rows).join('\n'));
    return 0;
  },
};

export interface RouteRow {
  readonly method: string;
  /** As routers write it: `/v1/domains/:did`. */
  readonly path: string;
  /** Names of what proves who asks, one of which is needed; none for everybody, null where the document does not say. */
  readonly needs: readonly string[] | null;
  /** Requests per window and client; undefined where nobody is limited. */
  readonly rate: { readonly max: number; readonly windowMs: number } | undefined;
  /** Most bytes of a body; undefined where none is read. */
  readonly bodyBytes: number | undefined;
  /** Whether that is the most of one of its lines. */
  readonly perLine: boolean;
}

function listed(config: Config): Promise<RouteRow[]> {
  return withScratchServer(config, async (server) => {
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApiDocument;
    return server.routes.map((route) => rowOf(route, document, config));
  });
}

interface Operation {
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}

const UNLIMITED = ['/livez', '/readyz'];
const USSD = '/api/ussd';
const LINES = 'application/x-ndjson';

function rowOf(
  { method, path }: { readonly method: string; readonly path: string },
  { paths }: OpenApiDocument,
  { rateLimit: { max, windowMs } }: Config,
): RouteRow {
  const operation = paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] as Operation | undefined;
  const types = Object.keys(operation?.requestBody?.content ?? {});
  const perLine = types.includes(LINES);
  const bodyBytes = path.startsWith(USSD)
    ? USSD_LIMITS.ussdBodyBytes
    : perLine
      ? DOMAIN_LIMITS.bulkLineBytes
      : SERVER_LIMITS.jsonBodyBytes;
  return {
    method,
    path,
    needs: operation?.security ? [...new Set(operation.security.flatMap((one) => Object.keys(one)))] : null,
    rate: UNLIMITED.includes(path) ? undefined : { max, windowMs },
    bodyBytes: types.length ? bodyBytes : undefined,
    perLine,
  };
}

function drawn(rows: readonly RouteRow[]): string[] {
  const cells = rows.map(({ method, path, needs, rate, bodyBytes, perLine }) => [
    method,
    path,
    needs === null ? 'not documented' : needs.join(' or ') || 'public',
    rate ? `${rate.max} in ${rate.windowMs / 1_000} s` : 'any',
    bodyBytes === undefined ? '-' : `${bodyBytes} bytes${perLine ? ' a line' : ''}`,
  ]);
  return [...formatTable(['method', 'path', 'who', 'rate', 'body'], cells), `${rows.length} routes`];
}
