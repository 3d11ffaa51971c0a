// Requests to middleware without a server: what it answers, read to its end.

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import Koa, { type Middleware } from 'koa';
import type { Answer, AskOptions } from './serve.ts';

const app = new Koa();

export async function askMiddleware(middleware: Middleware, url: string, options: AskOptions = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = options;
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const req = Object.assign(new IncomingMessage(new Socket()), { method, url, httpVersion: '1.1' });
  req.headers = { host: 'door.example', ...length, ...Object.fromEntries(names) };
  if (body !== undefined) req.push(body);
  req.push(null);
  req.complete = true;
  const ctx = app.createContext(req, new ServerResponse(req));
  await middleware(ctx as never, async () => {});
  const answer = typeof ctx.body === 'object' && ctx.body !== null ? await readBody(ctx.body) : String(ctx.body ?? '');
  const sent = Object.entries(ctx.response.headers).map(([name, value]) => [name, String(value)]);
  return { status: ctx.status, headers: Object.fromEntries(sent), text: answer, json: () => JSON.parse(answer) };
}

const readBody = async (body: object) => ('pipe' in body ? text(body as never) : JSON.stringify(body));
