// The connection to one MCP server: opened on demand, and reopened when the server has dropped it.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../clock.ts';
import { optionalPackage, TwinlineError } from '../../errors.ts';
import { isObject } from '../../given.ts';
import { boundedFetch } from '../../http/bounded-fetch.ts';
import { traced } from '../../http/tracing.ts';
import type { JsonObject } from '../../json/json.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { McpServer } from './invocation.ts';

export type McpSdk = Awaited<ReturnType<typeof load>>;

/** A tool as listed by its server. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

export interface McpCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** For this request only. */
  readonly headers: { readonly [name: string]: string };
  readonly signal: AbortSignal;
}

export type McpConnection = ReturnType<typeof mcpConnection>;

type Client = InstanceType<McpSdk['Client']>;
type Transport = InstanceType<McpSdk['StreamableHTTPClientTransport']>;
interface Live {
  readonly client: Client;
  readonly transport: Transport;
  /** Requests under way. */
  users: number;
}

/** One MCP server: connected on demand, with a cached list of tools. */
export function mcpConnection(
  server: McpServer,
  { sdk, clock, onProblem }: { sdk: McpSdk; clock: Clock; onProblem: (error: unknown) => void },
) {
  const only = new AsyncLocalStorage<McpCall['headers']>();
  const fetch = fetchFor(clock, only);
  let live: Promise<Live> | undefined;
  let tools: readonly McpTool[] = [];
  let freshUntil = 0;
  let looking: Promise<void> | undefined;
  let isClosed = false;

  function openOnce(): Promise<Live> {
    const connection = live ?? connect();
    live = connection;
    connection.catch(() => forget(connection));
    return connection;
  }

  function forget(one: Promise<Live> | undefined): void {
    if (live === one) live = undefined;
  }

  async function connect(): Promise<Live> {
    if (isClosed) throw unreachable(server, 'it was closed');
    const client = new sdk.Client({ name: 'twinline', version: '1.0.0' }, { capabilities: {} });
    client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => void look());
    // Failures are reported by the operations that they affect.
    client.onerror = () => {};
    const options = { fetch, ...(server.headers && { requestInit: { headers: { ...server.headers } } }) };
    const transport = new sdk.StreamableHTTPClientTransport(new URL(server.url), options);
    await client.connect(transport as Parameters<Client['connect']>[0], { timeout: AGENT_LIMITS.mcpConnectMs });
    return { client, transport, users: 0 };
  }

  /**
   * Every failure but the server's answer to the request itself ends the session: the next request begins one. Retries once
   * if the server does not know the session: then it cannot have executed the request.
   */
  async function ask<T>(request: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let tries = 1; ; tries++) {
      const mine = openOnce();
      const connected = await mine.catch((error: unknown) => {
        throw unreachable(server, describeError(error));
      });
      connected.users++;
      try {
        return await request(connected.client);
      } catch (error) {
        if (!signal?.aborted && !isAnswer(error)) forget(mine);
        if (tries === 2 || !isForgotten(error)) throw unreachable(server, describeError(error));
      } finally {
        // Others may still wait for answers of a session that was given up.
        if (--connected.users === 0 && live !== mine) await connected.client.close().catch(() => {});
      }
    }
  }

  function look(): Promise<void> {
    looking ??= list()
      .then(
        (listedTools) => {
          tools = listedTools;
          freshUntil = clock.monotonic() + AGENT_LIMITS.mcpFreshMs;
        },
        (error: unknown) => {
          freshUntil = clock.monotonic() + AGENT_LIMITS.mcpRetryMs;
          if (!isClosed) onProblem(error);
        },
      )
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  async function list(): Promise<McpTool[]> {
    const tools: McpTool[] = [];
    for (let cursor: string | undefined, page = 0; page < AGENT_LIMITS.mcpPages; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const answer = await ask((client) =>
        client.request({ method: 'tools/list', params }, sdk.ListToolsResultSchema, {
          timeout: AGENT_LIMITS.mcpConnectMs,
        }),
      );
      tools.push(...answer.tools.filter(isCallable).map(makeTool));
      cursor = answer.nextCursor;
      if (cursor === undefined || tools.length >= AGENT_LIMITS.mcpToolsPerServer) break;
    }
    return tools.slice(0, AGENT_LIMITS.mcpToolsPerServer);
  }

  const ping = () => ask(async (client) => void (await client.ping({ timeout: AGENT_LIMITS.mcpConnectMs })));

  return {
    server,
    /** The tools last listed; none until the server has answered once. Refreshes the list in the background when it is stale. */
    tools(): readonly McpTool[] {
      if (clock.monotonic() >= freshUntil && !isClosed) void look();
      return tools;
    },
    /** Refreshes the list now. Never rejects. */
    look,
    /**
     * Resolves when the server answers; otherwise rejects with ERR_SERVICE, having asked nothing of it. Pings twice, because
     * a kept connection may have been closed, and a ping has no effect.
     */
    ready: () => ping().catch(ping),
    /** The raw result of the tool. Rejects with ERR_SERVICE when the server cannot be reached. */
    async call({ tool, args, headers, signal }: McpCall): Promise<unknown> {
      const request = { method: 'tools/call' as const, params: { name: tool, arguments: args } };
      const own = signalUntilDone(signal);
      // The caller has its own timeout; this one is for requests that ignore the signal.
      const options = { signal: own.signal, timeout: AGENT_LIMITS.mcpToolMs * 2 };
      try {
        const attributes = {
          'mcp.method.name': 'tools/call',
          'mcp.server': server.name,
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': tool,
        };
        return await traced(`tools/call ${tool}`, { way: 'out', attributes }, () =>
          ask((client) => only.run(headers, () => client.request(request, sdk.CallToolResultSchema, options)), signal),
        );
      } finally {
        own.leave();
      }
    },
    async close(): Promise<void> {
      isClosed = true;
      const connected = await live?.catch(() => undefined);
      if (!connected) return;
      const over = new AbortController();
      const goodbye = connected.transport.terminateSession().catch(() => {});
      await Promise.race([goodbye, clock.wait(AGENT_LIMITS.mcpCloseMs, over.signal)]);
      over.abort();
      await connected.client.close();
    },
  };
}

function fetchFor(clock: Clock, only: AsyncLocalStorage<McpCall['headers']>): typeof globalThis.fetch {
  const bounds = { clock, bytes: AGENT_LIMITS.mcpAnswerBytes, lineBytes: AGENT_LIMITS.mcpAnswerBytes };
  const asking = boundedFetch({ ...bounds, headersMs: AGENT_LIMITS.mcpToolMs, stallMs: AGENT_LIMITS.mcpToolMs });
  // The notification stream of a server is silent most of the time.
  const listening = boundedFetch({
    ...bounds,
    headersMs: AGENT_LIMITS.mcpConnectMs,
    stallMs: AGENT_LIMITS.mcpSilenceMs,
  });
  return (input, init = {}) => {
    if (init.method !== 'POST') return listening(input, init);
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(only.getStore() ?? {})) headers.set(name, value);
    return asking(input, { ...init, headers });
  };
}

// The SDK never unsubscribes from a request's signal, and on abort cancels requests answered long ago.
function signalUntilDone(outer: AbortSignal) {
  const own = new AbortController();
  const abort = () => own.abort(outer.reason);
  if (outer.aborted) abort();
  else outer.addEventListener('abort', abort, { once: true });
  return { signal: own.signal, leave: () => outer.removeEventListener('abort', abort) };
}

// Task-only tools refuse plain calls.
const isCallable = ({ execution }: { execution?: { taskSupport?: string | undefined } | undefined }) =>
  execution?.taskSupport !== 'required';

function makeTool(tool: { name: string; description?: string | undefined; inputSchema: object }): McpTool {
  const { name, description = '', inputSchema } = tool;
  return { name, description: description.slice(0, 4_096), schema: inputSchema as JsonObject };
}

const UNKNOWN_SESSION =
  /session.{0,80}\b(not found|unknown|invalid|expired|required|missing|terminated|closed|not exist)|\b(no|no valid|not a valid|invalid|unknown|missing|expired)\b.{0,30}\bsession|not initialized|expect\w* initialize/i;
const MESSAGE_CHARS = 1_000;

// The specification says 404. Others say 400, 401 or 422, or answer 200 with an error of JSON-RPC, and name the session.
function isForgotten(error: unknown): boolean {
  if (!isObject(error) || typeof error.code !== 'number' || isAnswer(error)) return false;
  return error.code === 404 || UNKNOWN_SESSION.test(String(error.message).slice(0, MESSAGE_CHARS));
}

// An error of JSON-RPC, unless it is about the session: the codes that implementations chose for that also mean that the
// connection was closed or that no answer came in time.
function isAnswer(error: unknown): boolean {
  return isObject(error) && error.name === 'McpError' && !SESSION_CODES.has(error.code);
}

const SESSION_CODES: ReadonlySet<unknown> = new Set([-32_000, -32_001, -32_600]);

function describeError(error: unknown): string {
  if (error instanceof TwinlineError) return error.message;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (/timed? ?out/i.test(String(message))) return 'it did not answer in time';
  if (typeof code === 'number' && code >= 400) return `it answered ${code}`;
  return typeof code === 'number' ? `it answered with the error ${code}` : 'the connection failed';
}

// Messages of other servers may contain secrets, so pass on codes only.
function unreachable({ name }: McpServer, why: string): TwinlineError {
  return new TwinlineError('ERR_SERVICE', `The MCP server "${name}" is not available: ${why}.`);
}

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
  const { CallToolResultSchema, ListToolsResultSchema, ToolListChangedNotificationSchema } = types;
  const schemas = { CallToolResultSchema, ListToolsResultSchema, ToolListChangedNotificationSchema };
  return { Client, StreamableHTTPClientTransport, ...schemas };
}
