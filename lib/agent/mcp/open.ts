// The tools of all MCP servers, as tools of this server: named apart where they would be taken for each other.

import type { Clock } from '../../clock.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { HostTool } from '../tool.ts';
import { type McpConnection, type McpTool, mcpConnection } from './connection.ts';
import type { Pass } from './pass.ts';
import { resultOf } from './result.ts';
import { mcpSdk } from './sdk.ts';
import { isProtected, type McpServer } from './server.ts';

export interface McpOptions {
  readonly servers: readonly McpServer[];
  readonly pass: Pass;
  readonly clock: Clock;
  /** Told when a server cannot be asked; its tools are missed, and those of others are not. */
  readonly onProblem: (error: unknown) => void;
}

export interface Mcp {
  /** The tools that are known now; names in `taken` are those of others. */
  tools(taken?: ReadonlySet<string>): HostTool[];
  close(): Promise<void>;
}

/**
 * Connects to the servers, and waits for them for AGENT_LIMITS.mcpReadyMs at most: who is late or away is asked again when
 * tools are. Throws ERR_CONFIG when the package for it is not installed.
 */
export async function openMcp({ servers, pass, clock, onProblem }: McpOptions): Promise<Mcp> {
  const sdk = await mcpSdk();
  const connections = servers.map((server) => mcpConnection(server, { sdk, clock, onProblem }));
  const over = new AbortController();
  const looked = Promise.all(connections.map((connection) => connection.look()));
  await Promise.race([looked, clock.wait(AGENT_LIMITS.mcpReadyMs, over.signal)]);
  over.abort();
  return {
    tools(taken = new Set()) {
      const found = connections.flatMap((connection) => connection.tools().map((tool) => ({ connection, tool })));
      const times = new Map<string, number>();
      for (const { tool } of found) times.set(tool.name, (times.get(tool.name) ?? 0) + 1);
      return found.map(({ connection, tool }) => {
        const isAmbiguous = taken.has(tool.name) || times.get(tool.name)! > 1;
        return hostTool(connection, { tool, pass, isAmbiguous });
      });
    },
    close: async () => void (await Promise.all(connections.map((connection) => connection.close()))),
  };
}

interface Hosting {
  readonly tool: McpTool;
  readonly pass: Pass;
  readonly isAmbiguous: boolean;
}

function hostTool(connection: McpConnection, { tool, pass, isAmbiguous }: Hosting): HostTool {
  const { server } = connection;
  const apart = `${server.name}__${tool.name}`;
  const name = isAmbiguous ? apart : tool.name;
  return {
    name,
    description: tool.description,
    schema: tool.schema,
    timeoutMs: AGENT_LIMITS.mcpToolMs,
    handler: async (args, context) => {
      const passing = { server, tool: tool.name, names: [...new Set([name, apart, tool.name])] };
      const needsToken = isProtected(server, tool.name);
      // A token counts once: it is not used up for a server that is away.
      if (needsToken) await connection.ready();
      const headers = needsToken ? await pass(passing, context) : {};
      return resultOf(await connection.call({ tool: tool.name, args, headers, signal: context.signal }), server.name);
    },
  };
}
