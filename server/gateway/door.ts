// The HTTP door of the query gateway: from the path of a request to a method of the node, with refusals in its own form.

import type { Context, Middleware } from 'koa';
import type { HttpAnswer, Refusal as RefusalName } from '../../lib/gateway/index.ts';
import { gatewayPart } from '../openapi/gateway.ts';
import type { Part } from '../openapi/operation.ts';
import type { ServedRoute } from '../route-list.ts';
import { createGate } from './gate.ts';
import { firstSegment, ownership } from './places.ts';
import { answerOf } from './refusal.ts';
import { readAsked } from './request.ts';
import { splitRoutes } from './served.ts';
import type { Service } from './service.ts';
import { answerUnary } from './unary.ts';

export interface GatewayDoor {
  /** Tells what is refused before a request comes to the gateway in the gateway's form. Other paths pass. */
  readonly told: Middleware;
  /** Answers the gateway's paths. Other paths pass. */
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
  /** Told of everything that is our fault. */
  readonly onFault: (error: unknown, ctx: Context) => void;
}

/** Opens the door. */
export function gatewayDoor({ service, others, onFault }: DoorDeps): GatewayDoor {
  const { catalog, counts, streams } = service;
  const { settings, answers } = catalog;
  const taken = new Set([...others.map(({ path }) => firstSegment(path)), ...NOT_IN_ROUTES]);
  const owns = ownership(settings, { routes: catalog.routes, taken });
  const gate = settings.gate && createGate(settings.gate.keys);
  const { served, hidden } = splitRoutes(catalog, owns);

  const refuse = (ctx: Context, refusal: RefusalName) => put(ctx, answers.ofRefusal(refusal));

  // The method that answers, for those who count.
  async function serve(ctx: Context): Promise<string | undefined> {
    const { req } = ctx;
    if (gate && !gate(req.headers.authorization)) {
      ctx.set('WWW-Authenticate', 'Bearer realm="gateway"');
      refuse(ctx, 'no-credentials');
      return undefined;
    }
    const { path, query } = splitUrl(req.url!);
    const match = catalog.match(req.method!, path);
    if (match.kind === 'unknown') refuse(ctx, 'unknown-route');
    else if (match.kind === 'method') otherMethod(ctx, match.allow);
    if (match.kind !== 'found') return undefined;
    const { route, values } = match;
    const plan = catalog.planOf(route);
    (ctx as { _matchedRoute?: string })._matchedRoute = route.template;
    try {
      if (plan.use !== 'call') refuse(ctx, plan.use);
      else {
        const asked = await readAsked(req, { route, values, query }, settings);
        await (route.streaming ? streams.answer : answerUnary)(ctx, plan, { asked, service });
      }
    } catch (error) {
      fail(ctx, error);
    }
    return route.rpc;
  }

  function otherMethod(ctx: Context, allow: readonly string[]): void {
    ctx.set('Allow', [...allow, 'OPTIONS'].join(', '));
    if (ctx.method === 'OPTIONS') ctx.status = 204;
    else refuse(ctx, 'method');
  }

  function fail(ctx: Context, error: unknown): void {
    const answer = answerOf(error, answers);
    if (answer.http === 500) onFault(error, ctx);
    // The rest of a body that is not read would be taken for the next request.
    if (answer.http === 413) ctx.set('Connection', 'close');
    put(ctx, answer);
  }

  return {
    told: async (ctx, next) => {
      if (!owns(pathOf(ctx.req.url!))) return next();
      try {
        await next();
      } catch (error) {
        fail(ctx, error);
      }
    },
    answer: async (ctx, next) => {
      if (!owns(pathOf(ctx.req.url!))) return next();
      let rpc: string | undefined;
      try {
        rpc = await serve(ctx);
      } catch (error) {
        fail(ctx, error);
      }
      counts.answered(rpc, ctx.status);
    },
    routes: served.map(({ method, path }) => ({ method, path })),
    hidden,
    part: () => gatewayPart(catalog, served),
  };
}

// Sockets of the agent.
const NOT_IN_ROUTES = ['socket.io'];

function put(ctx: Context, { http, body }: HttpAnswer): void {
  ctx.status = http;
  ctx.res.setHeader('Content-Type', 'application/json');
  ctx.body = body;
}

function splitUrl(url: string): { path: string; query: string } {
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

function pathOf(url: string): string {
  return splitUrl(url).path;
}
