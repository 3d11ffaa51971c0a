// The HTTP door of the query gateway, at the front of the server: admitted as at other doors, without their middleware; then from the
// path of a request to a method of the node, with refusals in its own form. The numbers are in test/bench.

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

/** What the server does for all of its doors. */
export interface Front {
  readonly admit: Admit;
  /** For web pages; other clients send no Origin. */
  readonly cors: Middleware;
  /** Counts and logs what was answered. */
  readonly record: Recorder;
}

export interface GatewayDoor {
  /** Whether the path of a URL, as it came, is the gateway's to answer. */
  readonly owns: Owns;
  /** Answers one of its requests, for pages of other origins too. Belongs before all that the front does itself. */
  readonly answer: Middleware;
  /** Answers one of its requests before any middleware. */
  readonly fastPath: FastPath;
  readonly routes: readonly ServedRoute[];
  /** Templates whose paths belong to other doors. */
  readonly hidden: readonly string[];
  /** Describes the routes; long with many of them, so ask when it is needed. */
  part(): RouteGroup;
}

export interface DoorDeps {
  readonly service: Service;
  readonly streams: Streams;
  /** Routes of the other doors, whose paths stay theirs. */
  readonly others: readonly ServedRoute[];
  readonly front: Front;
  /** Told of everything that is our fault. */
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
    const begun = performance.now();
    const entered = await enter(exchange);
    const { req, res, requestId } = exchange;
    record({ ...entered, method: req.method!, status: res.statusCode, begun, requestId });
  }

  async function enter(exchange: Exchange): Promise<Pick<AnsweredRequest, 'route' | 'reason'>> {
    const admitted = await admit(exchange.req);
    if (admitted.kind === 'admitted') return { route: (await serve(exchange)) ?? NO_ROUTE };
    const { seconds } = admitted;
    const words = `${REFUSALS['too-many-requests'].words}. Try again in ${seconds} s`;
    const refusal =
      admitted.kind === 'overloaded' ? new Refusal('unavailable') : new Refusal('too-many-requests', words);
    fail(exchange, refusal, ['Retry-After', String(seconds)]);
    return { route: NO_ROUTE, reason: admitted.kind === 'overloaded' ? OVERLOADED : undefined };
  }

  // Gives the template that the path led to, if any. Never rejects.
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

  // Gives the route that answers.
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
        const query = req.url!.slice(path.length + 1);
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
    // The rest of a body that is not read would be taken for the next request.
    sendResponse(exchange, { http, body, headers: http === 413 ? CLOSING : headers });
  }

  return {
    owns: (url) => owns(cutPath(url)),
    answer: (ctx) => {
      const exchange = { req: ctx.req, res: ctx.res, requestId: requestId(ctx.req) };
      ctx.res.setHeader('X-Request-Id', exchange.requestId);
      // A question of a browser before its request is answered there, by Koa.
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

// A URL as it came, up to its question mark.
function cutPath(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

const CHALLENGE = ['WWW-Authenticate', 'Bearer realm="gateway"'];
const CLOSING = ['Connection', 'close'];

/** Whether the value of an Authorization header holds a key. */
export type Gate = (authorization: string | undefined) => boolean;

const HASHED = /^sha256:([0-9a-f]{64})$/;
const BEARER = /^Bearer +([\x21-\x7e]{1,256})$/i;

/** Takes keys, or the SHA-256 of keys. Hashes are looked up, so that the time it takes says nothing about a key. */
export function createGate(keys: readonly string[]): Gate {
  const known = new Set(keys.map((key) => HASHED.exec(key)?.[1] ?? hash('sha256', key)));
  return (authorization = '') => {
    const key = BEARER.exec(authorization)?.[1];
    return key !== undefined && known.has(hash('sha256', key));
  };
}
