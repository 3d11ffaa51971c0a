// Checks of the query gateway: that its file can be used, and that its node answers.

import { readGatewayFile } from '../gateway/file.ts';
import { openCatalog } from '../gateway/open.ts';
import { advice, broken, type Check, type Finding, fine } from './check.ts';

const READY_MS = 2_000;

export const GATEWAY_CHECKS: readonly Check[] = [
  {
    name: 'query gateway',
    when: ({ config }) => config.gatewayFile !== undefined,
    run: async ({ config }): Promise<Finding[]> => {
      const file = readGatewayFile(config.gatewayFile!);
      const { catalog, channel } = await openCatalog(file, { patienceMs: READY_MS });
      try {
        const calls = catalog.routes.filter(({ use }) => use === 'call').length;
        const words = `${calls} of ${catalog.routes.length} routes of ${config.gatewayFile} lead to methods`;
        const odd = catalog.warnings.map((warning) => advice(warning, 'See: npx twinline gateway routes'));
        return [
          fine(words),
          ...odd,
          ...gateFinding(file.settings.gate !== undefined, config.production),
          await nodeFinding(channel),
        ];
      } finally {
        await channel.close();
      }
    },
  },
];

function gateFinding(isGated: boolean, production: boolean): Finding[] {
  if (isGated || !production) return [];
  return [advice('the query gateway has no gate: everybody may ask the node through it', 'Set "gate" in its file.')];
}

async function nodeFinding(channel: Awaited<ReturnType<typeof openCatalog>>['channel']): Promise<Finding> {
  if (await channel.ready(READY_MS)) return fine(`the node ${channel.name} of the query gateway answers`);
  const { trouble } = channel.health();
  const why = trouble === undefined ? `no connection within ${READY_MS / 1_000} s` : trouble;
  return broken(
    `the node ${channel.name} of the query gateway cannot be reached (${why})`,
    'Check "upstream" and "tls".',
  );
}
