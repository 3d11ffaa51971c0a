// `twinline routes`: everything that a server of this configuration answers, who may ask, and how much at a time.

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import type { Config } from '../../config/config.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { EXIT_CONFIG } from '../../http/errors.ts';
import type { Access, RouteDescription, RouteGroup } from '../../http/route-table.ts';
import { findAccess, listSchemes } from '../../openapi/operation.ts';
import { readDeclaredGroupsWithGateway, readRoutesConfig } from '../declared-routes.ts';
import { formatTable } from '../terminal.ts';
import type { Verb } from '../verb.ts';
import { readSettings, SETTING_OPTIONS } from './start.ts';

export const routesVerb: Verb = {
  usage: '[options]',
  options: {
    '--json': 'as JSON',
    '--<setting> <value>': 'as for start, which names them; such as --gateway-file or --plugins',
  },
  run: async (args, env) => {
    const options = { ...SETTING_OPTIONS, json: { type: 'boolean' } } as const;
    const { values } = parseArgs({ args: [...args], options });
    const given = { ...env, ...readSettings(values) };
    const { config, problems } = readRoutesConfig(given);
    for (const problem of problems) console.error(pc.red(problem));
    if (!config) return EXIT_CONFIG;
    const rows = await listRoutes(config);
    console.log(values.json ? JSON.stringify(rows, null, 2) : formatRows(rows).join('\n'));
    return 0;
  },
};

export interface RouteRow {
  readonly method: string;
  /** As routers write it: `/v1/domains/:did`. */
  readonly path: string;
  readonly access: Access;
  /** Names of what proves who asks, one of which is needed; none for everybody and for telecom gateways. */
  readonly needs: readonly string[];
  /** Requests per window and client; undefined where there is no limit. */
  readonly rate: { readonly max: number; readonly windowMs: number } | undefined;
  /** Most bytes of a body; undefined where none is read. */
  readonly bodyBytes: number | undefined;
  /** Whether that is the most of one of its lines. */
  readonly perLine: boolean;
}

/** The table of routes, with those of the plugins and of the query gateway that this configuration names. */
async function listRoutes(config: Config): Promise<RouteRow[]> {
  const groups = await readDeclaredGroupsWithGateway(config);
  return groups.flatMap((group) => group.routes.map((route) => makeRow(route, group, config)));
}

function makeRow(route: RouteDescription, group: RouteGroup, { rateLimit: { max, windowMs } }: Config): RouteRow {
  const { method, path, rate, body } = route;
  const access = findAccess(route, group);
  return {
    ...{ method, path, access },
    needs: listSchemes(access),
    rate: rate === 'none' ? undefined : { max, windowMs },
    bodyBytes: body && (body.maxBytes ?? SERVER_LIMITS.jsonBodyBytes),
    perLine: body?.perLine ?? false,
  };
}

function formatRows(rows: readonly RouteRow[]): string[] {
  const cells = rows.map(({ method, path, access, needs, rate, bodyBytes, perLine }) => [
    method,
    path,
    access === 'telecom' ? 'telecom gateways' : needs.join(' or ') || 'public',
    rate ? `${rate.max} in ${rate.windowMs / 1_000} s` : 'any',
    bodyBytes === undefined ? '-' : `${bodyBytes} bytes${perLine ? ' a line' : ''}`,
  ]);
  return [...formatTable(['method', 'path', 'who', 'rate', 'body'], cells), `${rows.length} routes`];
}
