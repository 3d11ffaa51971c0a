// The connection to one MCP server: made when it is needed, and made anew when the server has dropped it.

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

/** A tool as its server lists it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

export interface McpCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** Of this request alone. */
  readonly headers: { readonly [name: string]: string };
  readonly signal: AbortSignal;
}

export type McpConnection = ReturnType<typeof mcpConnection>;

type Client = InstanceType<McpSdk['Client']>;
type Transport = InstanceType<McpSdk['StreamableHTTPClientTransport']>;
interface Live {
  readonly client: Client;
  readonly transport: Transport;
}

/** One MCP server: connected to when it is needed, its tools listed and cached. */
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
    const made = live ?? connect();
    live = made;
    made.catch(() => forget(made));
    return made;
  }

  function forget(one: Promise<Live> | undefined): void {
    if (live === one) live = undefined;
  }

  async function leave(one: Promise<Live>): Promise<void> {
    forget(one);
    const left = await one.catch(() => undefined);
    await left?.client.close().catch(() => {});
  }

  async function connect(): Promise<Live> {
    if (isClosed) throw unreachable(server, 'it was closed');
    const client = new sdk.Client({ name: 'twinline', version: '1.0.0' }, { capabilities: {} });
    client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => void look());
    // Every failure is reported by the operation that it makes fail.
    client.onerror = () => {};
    const options = { fetch, ...(server.headers && { requestInit: { headers: { ...server.headers } } }) };
    const transport = new sdk.StreamableHTTPClientTransport(new URL(server.url), options);
    await client.connect(transport as Parameters<Client['connect']>[0], { timeout: AGENT_LIMITS.mcpConnectMs });
    return { client, transport };
  }

  /** Once more on a new connection when the server has forgotten this one: then it has not done anything. */
  async function ask<T>(request: (client: Client) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const mine = openOnce();
      try {
        return await request((await mine).client);
      } catch (error) {
        if (isForgotten(error) || isBroken(error)) await leave(mine);
        if (tries === 2 || !isForgotten(error)) throw unreachable(server, describeError(error));
      }
    }
  }

  function look(): Promise<void> {
    looking ??= list()
      .then(
        (found) => {
          tools = found;
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
    const found: McpTool[] = [];
    for (let cursor: string | undefined, page = 0; page < AGENT_LIMITS.mcpPages; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const answer = await ask((client) =>
        client.request({ method: 'tools/list', params }, sdk.ListToolsResultSchema, {
          timeout: AGENT_LIMITS.mcpConnectMs,
        }),
      );
      found.push(...answer.tools.filter(isCallable).map(makeTool));
      cursor = answer.nextCursor;
      if (cursor === undefined || found.length >= AGENT_LIMITS.mcpToolsPerServer) break;
    }
    return found.slice(0, AGENT_LIMITS.mcpToolsPerServer);
  }

  const ping = () => ask(async (client) => void (await client.ping({ timeout: AGENT_LIMITS.mcpConnectMs })));

  return {
    server,
    /** The tools as they were last listed; none until the server has answered once. Lists them anew after a while. */
    tools(): readonly McpTool[] {
      if (clock.monotonic() >= freshUntil && !isClosed) void look();
      return tools;
    },
    /** Lists the tools now. Never rejects. */
    look,
    /**
     * Resolves when the server answers. Rejects with ERR_SERVICE when it does not: then nothing was asked of it. Pings twice:
     * a connection that was kept may have been closed meanwhile, and a ping does no harm.
     */
    ready: () => ping().catch(ping),
    /** The result of the tool, not validated. Rejects with ERR_SERVICE when the server cannot be asked. */
    async call({ tool, args, headers, signal }: McpCall): Promise<unknown> {
      const request = { method: 'tools/call' as const, params: { name: tool, arguments: args } };
      const own = signalUntilDone(signal);
      // The caller has a time limit of its own; this one is for requests that ignore its signal.
      const options = { signal: own.signal, timeout: AGENT_LIMITS.mcpToolMs * 2 };
      try {
        const attributes = {
          'mcp.method.name': 'tools/call',
          'mcp.server': server.name,
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': tool,
        };
        return await traced(`tools/call ${tool}`, { way: 'out', attributes }, () =>
          ask((client) => only.run(headers, () => client.request(request, sdk.CallToolResultSchema, options))),
        );
      } finally {
        own.leave();
      }
    },
    async close(): Promise<void> {
      isClosed = true;
      const found = await live?.catch(() => undefined);
      if (!found) return;
      const over = new AbortController();
      const goodbye = found.transport.terminateSession().catch(() => {});
      await Promise.race([goodbye, clock.wait(AGENT_LIMITS.mcpCloseMs, over.signal)]);
      over.abort();
      await found.client.close();
    },
  };
}

function fetchFor(clock: Clock, only: AsyncLocalStorage<McpCall['headers']>): typeof globalThis.fetch {
  const bounds = { clock, bytes: AGENT_LIMITS.mcpAnswerBytes, lineBytes: AGENT_LIMITS.mcpAnswerBytes };
  const asking = boundedFetch({ ...bounds, headersMs: AGENT_LIMITS.mcpToolMs, stallMs: AGENT_LIMITS.mcpToolMs });
  // The stream by which a server tells of changes is silent most of the time.
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

// The SDK listens to the signal of a request for good, and cancels what has been answered long ago when it aborts.
function signalUntilDone(outer: AbortSignal) {
  const own = new AbortController();
  const abort = () => own.abort(outer.reason);
  if (outer.aborted) abort();
  else outer.addEventListener('abort', abort, { once: true });
  return { signal: own.signal, leave: () => outer.removeEventListener('abort', abort) };
}

// One that runs only as a task refuses every plain call.
const isCallable = ({ execution }: { execution?: { taskSupport?: string | undefined } | undefined }) =>
  execution?.taskSupport !== 'required';

function makeTool(tool: { name: string; description?: string | undefined; inputSchema: object }): McpTool {
  const { name, description = '', inputSchema } = tool;
  return { name, description: description.slice(0, 4_096), schema: inputSchema as JsonObject };
}

// What a server says to a session that it does not know any more.
function isForgotten(error: unknown): boolean {
  return isObject(error) && error.code === 404;
}

// Errors with a number came from the server over a connection that works, and our own are about one request.
function isBroken(error: unknown): boolean {
  return !(error instanceof TwinlineError) && !(isObject(error) && typeof error.code === 'number');
}

function describeError(error: unknown): string {
  if (error instanceof TwinlineError) return error.message;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (/timed? ?out/i.test(String(message))) return 'it did not answer in time';
  if (typeof code === 'number' && code >= 400) return `it answered ${code}`;
  return typeof code === 'number' ? `it answered with the error ${code}` : 'the connection failed';
}

// Messages of other servers may hold secrets: only codes are passed on.
function unreachable({ name }: McpServer, why: string): TwinlineError {
  return new TwinlineError('ERR_SERVICE', `The MCP server "${name}" cannot be asked: ${why}.`);
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
