// The query gateway serves a Cosmos node's gRPC queries as HTTP/JSON. It sits in front of the server, with the same admission
// as other doors but without their middleware, and has its own error format. Measurements are in test/bench.

import { hash } from 'node:crypto';
import type { Middleware } from 'koa';
import type { RefusalName, Route } from '../../lib/gateway/index.ts';
import { REFUSALS, Refusal } from '../http/errors.ts';
import { type Admit, type Exchange, type FastPath, requestId } from '../http/fast-path.ts';
import { type AnsweredRequest, OVERLOADED, type Recorder } from '../http/middleware/answer-errors.ts';
import type { RouteGroup, ServedRoute } from '../http/route-table.ts';
import { errorResponse, sendResponse } from './answers/response.ts';
import type { Streams } from './answers/streams.ts';
import { answerUnary, type Service } from './answers/unary.ts';
import { gatewayPart } from './documentation.ts';
import { listTaken, type Owns, ownership, splitRoutes } from './places.ts';
import { readRequest } from './request.ts';

/** What the server provides to this door. */
export interface Front {
  readonly admit: Admit;
  /** CORS for web pages; other clients send no Origin. */
  readonly cors: Middleware;
  /** Counts and logs the response. */
  readonly record: Recorder;
}

export interface GatewayDoor {
  /** Whether the gateway serves the path of a URL (still encoded). */
  readonly owns: Owns;
  /** Answers its requests, including those from pages of other origins. Mount it before all other middleware. */
  readonly answer: Middleware;
  /** Answers its requests before any middleware. */
  readonly fastPath: FastPath;
  readonly routes: readonly ServedRoute[];
  /** Templates whose paths belong to other doors. */
  readonly hidden: readonly string[];
  /** The OpenAPI part; slow with many routes, so call it on demand. */
  part(): RouteGroup;
}

export interface DoorDeps {
  readonly service: Service;
  readonly streams: Streams;
  /** Routes of the other doors, which keep their paths. */
  readonly others: readonly ServedRoute[];
  readonly front: Front;
  /** Called for every internal error. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

const NO_ROUTE = 'none';

/** Opens the door. */
export function gatewayDoor({ service, streams, others, front, onFault }: DoorDeps): GatewayDoor {
  const { admit, cors, record } = front;
  const { catalog, counts } = service;
  const { settings, answers } = catalog;
  const owns = ownership(settings, { routes: catalog.routes, taken: listTaken(others) });
  const gate = settings.gate && createGate(settings.gate.keys);
  const { served, hidden } = splitRoutes(catalog, owns);

  async function answer(exchange: Exchange): Promise<void> {
    const startedAt = performance.now();
    const outcome = await enter(exchange);
    const { req, res, requestId } = exchange;
    record({ ...outcome, method: req.method!, status: res.statusCode, begun: startedAt, requestId });
  }

  async function enter(exchange: Exchange): Promise<Pick<AnsweredRequest, 'route' | 'reason'>> {
    const admission = await admit(exchange.req);
    if (admission.kind === 'admitted') return { route: (await serve(exchange)) ?? NO_ROUTE };
    const { seconds } = admission;
    const words = `${REFUSALS['too-many-requests'].words}. Try again in ${seconds} s`;
    const refusal =
      admission.kind === 'overloaded' ? new Refusal('unavailable') : new Refusal('too-many-requests', words);
    fail(exchange, refusal, ['Retry-After', String(seconds)]);
    return { route: NO_ROUTE, reason: admission.kind === 'overloaded' ? OVERLOADED : undefined };
  }

  // Returns the matched template, if any. Never rejects.
  async function serve(exchange: Exchange): Promise<string | undefined> {
    let route: Route | undefined;
    try {
      route = await callNode(exchange);
    } catch (error) {
      fail(exchange, error);
    }
    counts.countAnswer(route?.rpc, exchange.res.statusCode);
    return route?.template;
  }

  // Returns the route that answers.
  async function callNode(exchange: Exchange): Promise<Route | undefined> {
    const { req } = exchange;
    if (gate && !gate(req.headers.authorization)) return refuse(exchange, 'no-credentials', CHALLENGE);
    const path = cutPath(req.url!);
    const match = catalog.match(req.method!, path);
    if (match.kind === 'unknown') return refuse(exchange, 'unknown-route');
    if (match.kind === 'method') return otherMethod(exchange, match.allow);
    const { route, values } = match;
    try {
      if (route.use !== 'call') refuse(exchange, route.use);
      else {
        const mark = req.url!.indexOf('?');
        const query = mark < 0 ? '' : req.url!.slice(mark + 1);
        const request = await readRequest(req, { route, values, query }, service);
        await (route.streaming ? streams.answer : answerUnary)(exchange, route, { request, service });
      }
    } catch (error) {
      fail(exchange, error);
    }
    return route;
  }

  function refuse(exchange: Exchange, refusal: RefusalName, headers?: readonly string[]): undefined {
    sendResponse(exchange, { ...answers.ofRefusal(refusal), headers });
  }

  function otherMethod(exchange: Exchange, allow: readonly string[]): undefined {
    const headers = ['Allow', [...allow, 'OPTIONS'].join(', ')];
    if (exchange.req.method === 'OPTIONS') sendResponse(exchange, { http: 204, headers });
    else refuse(exchange, 'method', headers);
  }

  function fail(exchange: Exchange, error: unknown, headers?: readonly string[]): void {
    const { http, body } = errorResponse(error, answers);
    if (http === 500) onFault(error, exchange.requestId);
    // The unread rest of a body would be taken for the next request, so close the connection.
    sendResponse(exchange, { http, body, headers: http === 413 ? CLOSING : headers });
  }

  return {
    owns: (url) => owns(cutPath(url)),
    answer: (ctx) => {
      const exchange = { req: ctx.req, res: ctx.res, requestId: requestId(ctx.req) };
      ctx.res.setHeader('X-Request-Id', exchange.requestId);
      // The CORS middleware answers preflight requests through Koa.
      return cors(ctx, () => {
        ctx.respond = false;
        return answer(exchange);
      });
    },
    fastPath: { answer, onFault },
    routes: served.map(({ method, path }) => ({ method, path })),
    hidden,
    part: () => gatewayPart(catalog, served),
  };
}

// The URL up to its question mark, still encoded. A base URL with a slash at its end makes two of the first one.
function cutPath(url: string): string {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  return path.startsWith('//') ? path.replace(/^\/+/, '/') : path;
}

const CHALLENGE = ['WWW-Authenticate', 'Bearer realm="gateway"'];
const CLOSING = ['Connection', 'close'];

/** Whether the value of an Authorization header is a valid key. */
export type Gate = (authorization: string | undefined) => boolean;

const HASHED = /^sha256:([0-9a-f]{64})$/;
const BEARER = /^Bearer +([\x21-\x7e]{1,256})$/i;

/** Accepts keys or their SHA-256. Looks up hashes, so that timing reveals nothing about a key. */
export function createGate(keys: readonly string[]): Gate {
  const digests = new Set(keys.map((key) => HASHED.exec(key)?.[1] ?? hash('sha256', key)));
  return (authorization = '') => {
    const key = BEARER.exec(authorization)?.[1];
    return key !== undefined && digests.has(hash('sha256', key));
  };
}
