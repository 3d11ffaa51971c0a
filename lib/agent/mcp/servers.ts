// Offers the tools of all MCP servers as host tools, prefixed where names clash, and converts their results.

import type { Clock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { isObject, requireGiven } from '../../given.ts';
import type { Json } from '../../json/json.ts';
import { listCredentials, redactor } from '../../redact.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { HostTool } from '../responder.ts';
import { cutResult, fitsJson, wellFormedText } from '../well-formed.ts';
import { type McpConnection, type McpTool, mcpConnection, mcpSdk } from './connection.ts';
import type { McpServer, Pass } from './invocation.ts';

/** Options of `openMcp`. */
export interface McpOptions {
  readonly servers: readonly McpServer[];
  readonly pass: Pass;
  readonly clock: Clock;
  /** Called when a server cannot be reached; only its own tools are missing. */
  readonly onProblem: (error: unknown) => void;
}

/** The tools of the connected MCP servers. */
export interface Mcp {
  /** The currently available tools; names in `usedNames` belong to other tools. */
  tools(usedNames?: ReadonlySet<string>): HostTool[];
  close(): Promise<void>;
}

/**
 * Connects to the servers, waiting at most AGENT_LIMITS.mcpReadyMs: a slow or unreachable server is retried when tools are
 * requested. Throws ERR_CONFIG when the SDK is not installed.
 * @example
 * const noToken = async () => ({});
 * const mcp = await openMcp({ servers: [], pass: noToken, clock: systemClock, onProblem: console.error });
 * mcp.tools(); // → []
 * await mcp.close();
 */
export async function openMcp(options: McpOptions): Promise<Mcp> {
  requireGiven('connect to servers of tools', options, { pass: 'function', clock: 'clock' });
  const { servers, pass, clock, onProblem } = options;
  const sdk = await mcpSdk();
  const connections = servers.map((server) => mcpConnection(server, { sdk, clock, onProblem }));
  const over = new AbortController();
  const looked = Promise.all(connections.map((connection) => connection.look()));
  await Promise.race([looked, clock.wait(AGENT_LIMITS.mcpReadyMs, over.signal)]);
  over.abort();
  return {
    tools(usedNames = new Set()) {
      const available = connections.flatMap((connection) => connection.tools().map((tool) => ({ connection, tool })));
      const times = new Map<string, number>();
      for (const { tool } of available) times.set(tool.name, (times.get(tool.name) ?? 0) + 1);
      return available.map(({ connection, tool }) => {
        const isAmbiguous = usedNames.has(tool.name) || times.get(tool.name)! > 1;
        return hostTool(connection, { tool, pass, isAmbiguous });
      });
    },
    close: async () => void (await Promise.all(connections.map((connection) => connection.close()))),
  };
}

function hostTool(
  connection: McpConnection,
  { tool, pass, isAmbiguous }: { tool: McpTool; pass: Pass; isAmbiguous: boolean },
): HostTool {
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
      // Tokens are single-use: do not spend one on a server that is down.
      if (needsToken) await connection.ready();
      const headers = needsToken ? await pass(passing, context) : {};
      const answer = await connection.call({ tool: tool.name, args, headers, signal: context.signal });
      // The server may quote what we sent. Mask before cutting, because half a token is still a secret.
      const redact = redactor([...listCredentials(server.headers), ...listCredentials(headers)]);
      return toResult(redact.json(answer as Json), server.name);
    },
  };
}

/** Throws ERR_REFUSED with the server's message when the tool reports an error. */
function toResult(answer: unknown, server: string): Json {
  const { content, structuredContent, isError } = isObject(answer) ? answer : {};
  const text = (Array.isArray(content) ? content : []).map(partText).filter(Boolean).join('\n');
  if (isError === true) {
    const words = wellFormedText(text.slice(0, 1_000)) || 'it gave no reason';
    throw new TwinlineError('ERR_REFUSED', `The MCP server "${server}" says: ${words}`, { reason: 'tool-failed' });
  }
  if (isObject(structuredContent) && fitsJson(structuredContent as Json, AGENT_LIMITS.mcpResultChars))
    return structuredContent as Json;
  return text.length <= AGENT_LIMITS.mcpResultChars
    ? wellFormedText(text)
    : cutResult(text, AGENT_LIMITS.mcpResultChars);
}

type PartText = (part: { readonly [name: string]: unknown }) => string;

const PART_TEXT: { readonly [type: string]: PartText } = {
  text: ({ text }) => String(text),
  image: describeMedia,
  audio: describeMedia,
  resource_link: ({ uri, name }) => `[${String(name ?? 'a resource')}: ${String(uri)}]`,
  resource: ({ resource }) => {
    const { uri, text, blob } = isObject(resource) ? resource : {};
    return typeof text === 'string' ? text : `[${String(uri)}, ${String(blob ?? '').length} characters of base64]`;
  },
};

function describeMedia({ type, mimeType, data }: { readonly [name: string]: unknown }): string {
  return `[${String(type)} ${String(mimeType)}, ${String(data ?? '').length} characters of base64]`;
}

function partText(part: unknown): string {
  if (!isObject(part)) return '';
  const type = String(part.type);
  return Object.hasOwn(PART_TEXT, type) ? PART_TEXT[type]!(part) : `[${type}]`;
}

/** Whether this tool needs a token from the calling user. */
function isProtected({ protected: which = false }: McpServer, tool: string): boolean {
  return typeof which === 'boolean' ? which : which.includes(tool);
}
