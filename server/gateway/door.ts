// The HTTP door of the query gateway: from the path of a request to a method of the node, with refusals in its own form.

import type { Context, Middleware } from 'koa';
import type { Refusal as RefusalName, Route } from '../../lib/gateway/index.ts';
import { gatewayPart } from '../openapi/gateway.ts';
import type { Part } from '../openapi/operation.ts';
import type { ServedRoute } from '../route-list.ts';
import { type Front, gatewayFront, pathOf } from './front.ts';
import { createGate } from './gate.ts';
import { firstSegment, ownership } from './places.ts';
import { answerOf } from './refusal.ts';
import { reply } from './reply.ts';
import { readAsked } from './request.ts';
import { splitRoutes } from './served.ts';
import type { Service } from './service.ts';
import { answerUnary } from './unary.ts';

export interface GatewayDoor {
  /** Answers the gateway's paths. Other paths pass. Belongs before all that the front does itself. */
  readonly answer: Middleware;
  readonly routes: readonly ServedRoute[];
  /** Templates whose paths belong to other doors. */
  readonly hidden: readonly string[];
  /** Describes the routes; long with many of them, so ask when it is needed. */
  part(): Part;
}

export interface DoorDeps {
  readonly service: Service;
  /** Routes of the other doors, whose paths stay theirs. */
  readonly others: readonly ServedRoute[];
  readonly front: Front;
  /** Told of everything that is our fault. */
  readonly onFault: (error: unknown, ctx: Context) => void;
}

/** Opens the door. */
export function gatewayDoor({ service, others, front, onFault }: DoorDeps): GatewayDoor {
  const { catalog, counts, streams } = service;
  const { settings, answers } = catalog;
  const taken = new Set([...others.map(({ path }) => firstSegment(path)), ...NOT_IN_ROUTES]);
  const owns = ownership(settings, { routes: catalog.routes, taken });
  const gate = settings.gate && createGate(settings.gate.keys);
  const { served, hidden } = splitRoutes(catalog, owns);

  // Gives the route that answers.
  async function answer(ctx: Context): Promise<Route | undefined> {
    const { req } = ctx;
    if (gate && !gate(req.headers.authorization)) return refuse(ctx, 'no-credentials', CHALLENGE);
    const path = pathOf(req.url!);
    const match = catalog.match(req.method!, path);
    if (match.kind === 'unknown') return refuse(ctx, 'unknown-route');
    if (match.kind === 'method') return otherMethod(ctx, match.allow);
    const { route, values } = match;
    const plan = catalog.planOf(route);
    try {
      if (plan.use !== 'call') refuse(ctx, plan.use);
      else {
        const query = req.url!.slice(path.length + 1);
        const asked = await readAsked(req, { route, values, query }, settings);
        await (route.streaming ? streams.answer : answerUnary)(ctx, plan, { asked, service });
      }
    } catch (error) {
      fail(ctx, error);
    }
    return route;
  }

  function refuse(ctx: Context, refusal: RefusalName, headers?: readonly string[]): undefined {
    reply(ctx, { ...answers.ofRefusal(refusal), headers });
  }

  function otherMethod(ctx: Context, allow: readonly string[]): undefined {
    const headers = ['Allow', [...allow, 'OPTIONS'].join(', ')];
    if (ctx.method === 'OPTIONS') reply(ctx, { http: 204, headers });
    else refuse(ctx, 'method', headers);
  }

  function fail(ctx: Context, error: unknown, headers?: readonly string[]): void {
    const { http, body } = answerOf(error, answers);
    if (http === 500) onFault(error, ctx);
    // The rest of a body that is not read would be taken for the next request.
    reply(ctx, { http, body, headers: http === 413 ? CLOSING : headers });
  }

  async function serve(ctx: Context): Promise<string | undefined> {
    let route: Route | undefined;
    try {
      route = await answer(ctx);
    } catch (error) {
      fail(ctx, error);
    }
    counts.answered(route?.rpc, ctx.res.statusCode);
    return route?.template;
  }

  return {
    answer: gatewayFront(front, { owns, serve, fail }),
    routes: served.map(({ method, path }) => ({ method, path })),
    hidden,
    part: () => gatewayPart(catalog, served),
  };
}

const CHALLENGE = ['WWW-Authenticate', 'Bearer realm="gateway"'];
const CLOSING = ['Connection', 'close'];
// Sockets of the agent.
const NOT_IN_ROUTES = ['socket.io'];
