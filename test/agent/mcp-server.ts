// A real MCP server of the SDK on loopback: tools that say what they were called with, and notes of every request.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

/** A request as it came, and the method of its JSON-RPC message. */
export interface Noted {
  readonly method: string;
  readonly params: unknown;
  readonly headers: IncomingHttpHeaders;
}

export interface McpGround {
  readonly url: string;
  readonly origin: string;
  readonly noted: Noted[];
  /** Calls of tools, by their names. */
  readonly called: string[];
  /** What /.well-known/did.json answers. */
  document: unknown;
  /** Adds a tool, and tells clients that the list has changed. */
  add(name: string): void;
  /** Forgets all sessions, as a restart does; says so by this answer, by default as the specification has it. */
  forget(answer?: readonly [status: number, body: object | string]): void;
  /** Answers the next call of a tool by this error of the protocol. */
  refuseNext(error: { readonly code: number; readonly message: string }): void;
  /** Closes; the port can be taken again. */
  close(): Promise<void>;
}

const unwanted = (): never => {
  throw new Error('nobody asks for a task here');
};

type Content = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string };
interface Result {
  [name: string]: unknown;
  content: Content[];
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
}

const RESULTS: { readonly [tool: string]: (sent: object) => Result | Promise<Result> } = {
  hello: () => ({ content: [{ type: 'text', text: 'hello' }] }),
  data: () => ({ content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } }),
  picture: () => ({ content: [{ type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' }] }),
  fails: () => ({ content: [{ type: 'text', text: 'no such stove' }], isError: true }),
  large: () => ({ content: [{ type: 'text', text: 'x'.repeat(1_000_000) }] }),
  hangs: () => new Promise(() => {}),
  // What it was sent, as it came and encoded; with `-error` as the reason of a failure.
  quotes: (sent) => ({ content: [{ type: 'text', text: quote(sent) }], structuredContent: { sent } }),
  'quotes-error': (sent) => ({ content: [{ type: 'text', text: quote(sent) }], isError: true }),
  'quotes-token': (sent) => ({ content: [{ type: 'text', text: quote(sent) }] }),
};

const quote = (sent: object) => `${JSON.stringify(sent)} ${Buffer.from(JSON.stringify(sent)).toString('base64')}`;

/** Opens one with these tools; `port` to come back where it was. */
export async function mcpGround(names: readonly string[], port = 0): Promise<McpGround> {
  const noted: Noted[] = [];
  const called: string[] = [];
  const servers = new Set<McpServer>();
  const all = [...names];
  let refusal: { readonly code: number; readonly message: string } | undefined;
  let sessions = new Map<string, StreamableHTTPServerTransport>();
  let unknown: readonly [status: number, body: object | string] = [404, { error: 'canary' }];

  const addTo = (server: McpServer, name: string) => (name === 'task-only' ? addTask(server) : addPlain(server, name));
  // One that runs only as a task: the SDK's server lists it with taskSupport "required".
  const addTask = (server: McpServer) =>
    server.experimental.tasks.registerToolTask(
      'task-only',
      { description: 'Runs as a task', execution: { taskSupport: 'required' } },
      { createTask: unwanted, getTask: unwanted, getTaskResult: unwanted },
    );
  const addPlain = (server: McpServer, name: string) =>
    server.registerTool(name, { description: `Does ${name}` }, async ({ requestInfo }) => {
      called.push(name);
      return (RESULTS[name] ?? RESULTS.hello)!(requestInfo?.headers ?? {});
    });

  async function newSession(): Promise<StreamableHTTPServerTransport> {
    const server = new McpServer({ name: 'ground', version: '1.0.0' });
    for (const name of all) addTo(server, name);
    servers.add(server);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await server.connect(transport as Parameters<McpServer['connect']>[0]);
    return transport;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/.well-known/did.json') {
      response.writeHead(ground.document === undefined ? 404 : 200).end(JSON.stringify(ground.document ?? {}));
      return;
    }
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += piece;
    const body = text ? (JSON.parse(text) as { method?: string; params?: unknown; id?: unknown }) : undefined;
    noted.push({ method: body?.method ?? request.method!, params: body?.params, headers: request.headers });
    const id = request.headers['mcp-session-id'];
    if (refusal && body?.method === 'tools/call') {
      const { id: call } = body;
      const answer = { jsonrpc: '2.0', id: call, error: refusal };
      refusal = undefined;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return;
    }
    const transport = typeof id === 'string' ? sessions.get(id) : await newSession();
    if (transport) await transport.handleRequest(request, response, body);
    else if (request.method === 'GET') response.writeHead(405).end();
    else {
      const [status, words] = unknown;
      const text = typeof words === 'string' ? words : JSON.stringify({ ...words, id: body?.id });
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    }
  }

  const http = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const ground: McpGround = {
    url: `${origin}/mcp`,
    origin,
    noted,
    called,
    document: undefined,
    add(name) {
      all.push(name);
      for (const server of servers) if (server.isConnected()) addTo(server, name);
    },
    forget(answer = unknown) {
      sessions = new Map();
      unknown = answer;
    },
    refuseNext(error) {
      refusal = error;
    },
    async close() {
      await Promise.all([...servers].map((server) => server.close()));
      await new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      });
    },
  };
  return ground;
}
