// `twinline gateway routes`: what the query gateway serves by its file, as a table of methods, paths and calls.

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { type RouteRow, routeRows } from '../../../lib/gateway/index.ts';
import { readGatewayFile } from '../../gateway/file.ts';
import { openCatalog } from '../../gateway/open.ts';
import { servedTemplates } from '../../gateway/places.ts';
import { Usage, type Verb } from '../verb.ts';

/** How long a node that must describe itself is asked for. */
const PATIENCE_MS = 5_000;

export const gatewayVerb: Verb = {
  summary: 'List the routes of the query gateway with their methods and query parameters',
  usage: 'routes [file] [options]',
  options: { '--json': 'the routes as JSON', '(default)': 'the file GATEWAY_FILE' },
  run: async (args, env) => {
    const options = { json: { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [what, path = env.GATEWAY_FILE?.trim(), ...more] = positionals;
    if (what !== 'routes') throw new Usage('The gateway can be asked for its routes: twinline gateway routes.');
    if (more.length) throw new Usage('Only one file can be given.');
    if (!path) throw new Usage('Name the file of the gateway, or set GATEWAY_FILE.');
    const { rows, warnings } = await rowsOf(path);
    console.log(values.json ? JSON.stringify(rows, null, 2) : rows.map(drawn).join('\n'));
    for (const warning of warnings) console.error(pc.yellow(warning));
    return 0;
  },
};

interface Row extends RouteRow {
  /** Whether requests reach the node, or why not. */
  readonly use: 'call' | 'disabled' | 'forbidden';
}

async function rowsOf(path: string): Promise<{ rows: Row[]; warnings: readonly string[] }> {
  const file = readGatewayFile(path);
  const { catalog, channel } = await openCatalog(file, { patienceMs: PATIENCE_MS });
  await channel.close();
  const rows = routeRows(catalog.routes).flatMap((row, at) => {
    const route = catalog.routes[at]!;
    const { use } = catalog.planOf(route);
    return servedTemplates(route, file.settings).map((template): Row => ({ ...row, path: template, use }));
  });
  return { rows, warnings: catalog.warnings };
}

function drawn({ method, path, rpc, streaming, query, use }: Row): string {
  const names = query.map(({ name, repeated }) => (repeated ? `${name}*` : name)).join(' ');
  const marks = [...(streaming ? ['stream'] : []), ...(use === 'call' ? [] : [use])];
  const line = `${method.padEnd(6)} ${path}  ${pc.dim('→')} ${rpc}${marks.length ? ` (${marks.join(', ')})` : ''}`;
  return names ? `${line}\n       ${pc.dim(`? ${names}`)}` : line;
}
