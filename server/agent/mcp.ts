// The MCP servers of this server, as MCP_SERVERS lists them, and who may call what there.

import type { PassOptions } from '../../lib/agent/mcp/invocation.ts';
import type { McpOptions } from '../../lib/agent/mcp/servers.ts';
import type { HostTool } from '../../lib/agent/tool.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import type { Config } from '../config/config.ts';
import { readMcpServers } from './mcp-file.ts';

export interface McpServiceOptions
  extends Pick<McpOptions, 'clock' | 'onProblem'>,
    Pick<PassOptions, 'delegations' | 'revoked'> {
  readonly config: Pick<Config, 'mcpServersFile' | 'agent'>;
  /** With AGENT_KINDS declared before the first call of a tool. */
  readonly documents: DocumentStore;
}

export interface McpService {
  /** The tools that are known now; names in `taken` are those of others. */
  tools(taken?: ReadonlySet<string>): HostTool[];
  sweep(limit: number): Promise<number>;
  close(): Promise<void>;
}

const NONE: McpService = { tools: () => [], sweep: async () => 0, close: async () => {} };

/** Opens them; throws ERR_CONFIG when the file is wrong or the package is missing. A server that is away is no failure. */
export async function openMcpService(options: McpServiceOptions): Promise<McpService> {
  const { config, documents, clock, delegations, revoked, onProblem } = options;
  if (config.mcpServersFile === undefined) return NONE;
  const servers = await readMcpServers(config.mcpServersFile);
  const [{ openMcp }, { passes }, { spentTokens }] = await Promise.all([
    import('../../lib/agent/mcp/servers.ts'),
    import('../../lib/agent/mcp/invocation.ts'),
    import('../../lib/agent/mcp/invocation.ts'),
  ]);
  const spent = spentTokens({ documents, clock });
  const pass = passes({ clock, spent, delegations, revoked, maxTtlSeconds: config.agent.maxTtlSeconds });
  const mcp = await openMcp({ servers, pass, clock, onProblem });
  return { ...mcp, sweep: spent.sweep };
}
