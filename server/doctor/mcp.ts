// Checks of the MCP servers: whether each answers and lists tools.

import { systemClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { readMcpServers } from '../agent/mcp.ts';
import { advice, broken, type Check, type Finding, fine, type Patient } from './check.ts';

export const MCP_CHECKS: readonly Check[] = [
  { name: 'MCP servers answer', when: ({ config }) => config.mcpServersFile !== undefined, run: serverFindings },
];

async function serverFindings({ config }: Patient): Promise<Finding[]> {
  const servers = await readMcpServers(config.mcpServersFile!);
  const [{ mcpConnection }, { mcpSdk }] = await Promise.all([
    import('../../lib/agent/mcp/connection.ts'),
    import('../../lib/agent/mcp/sdk.ts'),
  ]);
  const sdk = await mcpSdk();
  return Promise.all(
    servers.map(async (server) => {
      const problems: unknown[] = [];
      const onProblem = (error: unknown) => void problems.push(error);
      const connection = mcpConnection(server, { sdk, clock: systemClock, onProblem });
      await connection.look();
      const count = connection.tools().length;
      await connection.close();
      const [problem] = problems;
      if (problem !== undefined)
        return broken(wordsOf(problem), `Check its url and headers in ${config.mcpServersFile}.`);
      if (count > 0) return fine(`"${server.name}" answers and offers ${count} tools`);
      return advice(`"${server.name}" answers and offers no tool that can be called`, 'Look at its own settings.');
    }),
  );
}

const wordsOf = (error: unknown) => (error instanceof TwinlineError ? error.message : 'the connection failed');
