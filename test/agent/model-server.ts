// A scripted OpenAI-compatible endpoint on loopback: every request takes the next answer of the script, in the real wire format.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the endpoint was asked. */
export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: unknown; readonly tool_calls?: unknown }[];
    readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[];
    readonly tool_choice?: unknown;
    readonly stream?: boolean;
    readonly stream_options?: unknown;
    readonly temperature?: unknown;
  };
}

export type Answer = (response: ServerResponse, asked: Asked) => void | Promise<void>;

export interface ModelServer {
  readonly url: string;
  readonly asked: Asked[];
  /** Answers whose connection the client has closed before they were whole. */
  readonly cut: () => number;
  close(): Promise<void>;
}

/** After the last answer of the script, the last one is given again. */
export async function modelServer(...script: readonly Answer[]): Promise<ModelServer> {
  const asked: Asked[] = [];
  let cut = 0;
  const server = createServer(async (request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) cut++;
    });
    response.on('error', () => {});
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += piece;
    const one = { path: request.url!, headers: request.headers, body: text ? JSON.parse(text) : {} } as Asked;
    asked.push(one);
    await script[Math.min(asked.length, script.length) - 1]!(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    cut: () => cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Delta = { readonly [name: string]: unknown };

const chunk = (delta: Delta, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'small',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
export const DONE = 'data: [DONE]\n\n';
export const USAGE = event({ ...chunk({}), choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } });

export const said = (content: string): string => event(chunk({ content }));
export const thought = (text: string): string => event(chunk({ reasoning_content: text }));
export const ended = (reason = 'stop'): string => event(chunk({}, reason)) + USAGE + DONE;

/** A call of a tool in the pieces in which models give it. */
export function called(name: string, args: string, { id = 'call_1', index = 0 } = {}): string {
  const half = Math.floor(args.length / 2);
  const piece = (one: Delta) => event(chunk({ tool_calls: [{ index, ...one }] }));
  return (
    piece({ id, type: 'function', function: { name, arguments: '' } }) +
    piece({ function: { arguments: args.slice(0, half) } }) +
    piece({ function: { arguments: args.slice(half) } })
  );
}

/** Answers with these events, and ends. */
export const streams =
  (...events: readonly string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const one of events) response.write(one);
    response.end();
  };

export const says = (...texts: readonly string[]): Answer =>
  streams(event(chunk({ role: 'assistant', content: '' })), ...texts.map(said), ended());

export const calls = (...parts: readonly string[]): Answer => streams(...parts, ended('tool_calls'));

/** Answers with an error as providers write it. */
export const fails =
  (status: number, error: Delta = {}, headers: { readonly [name: string]: string } = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message: 'sk-canary at api.provider.example', ...error } }));
  };

/** Begins with these events, and then says nothing more. */
export const hangs =
  (...events: readonly string[]): Answer =>
  (response) => {
    if (!events.length) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.join(''));
  };

/** Begins with these events, and breaks the connection. */
export const breaks =
  (...events: readonly string[]): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await new Promise<void>((resolve) => response.write(events.join(''), () => resolve()));
    response.destroy();
  };
