// What is used of the SDK of the Model Context Protocol; it is loaded where servers are configured.

import { optionalPackage } from '../optional-package.ts';

export type McpSdk = Awaited<ReturnType<typeof load>>;

/** Throws ERR_CONFIG when the package is not installed. */
export function mcpSdk(): Promise<McpSdk> {
  return optionalPackage(load, { purpose: 'use MCP servers', packages: '@modelcontextprotocol/sdk@1' });
}

async function load() {
  const [{ Client }, { StreamableHTTPClientTransport }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const { CallToolResultSchema, ListToolsResultSchema, McpError, ToolListChangedNotificationSchema } = types;
  return {
    Client,
    StreamableHTTPClientTransport,
    CallToolResultSchema,
    ListToolsResultSchema,
    McpError,
    ToolListChangedNotificationSchema,
  };
}
