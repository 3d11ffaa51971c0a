// The table of routes. A route is declared once: method, path, who may ask, limits, parameters, body, answers and handler. The
// routers, the checks of bodies, /openapi.json, `twinline routes` and the ownership of paths are made from the declarations.

import Router from '@koa/router';
import type { Context, Middleware, ParameterizedContext } from 'koa';
import type { Reason } from '../../lib/domain/problems.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Schema } from '../../lib/json/schema.ts';
import { type InputRules, inputCheck, PLAIN_INPUT } from './check-input.ts';
import { Refusal } from './errors.ts';
import type {
  Access,
  Method,
  Parameter,
  RequestContent,
  RouteAnswer,
  RouteDescription,
  ServedRoute,
} from './route-description.ts';

export type { Access, Method, Parameter, RequestContent, RouteAnswer, RouteDescription, ServedRoute };

/** One method of one address. */
export interface Route<Deps = never> extends RouteDescription {
  /** Answers; `ctx.params`, and what the guard of its access leaves in `ctx.state`, are there. What it throws is answered. */
  handle(ctx: Context, deps: Deps): unknown;
}

/** What a handler reads of a request. A context of Koa is one. */
export interface RouteRequest
  extends Pick<Context, 'method' | 'path' | 'querystring' | 'state' | 'get' | 'accepts' | 'request' | 'req'> {
  /** Of the path. */
  readonly params: { readonly [name: string]: string };
}

/** An answer as a value. */
export interface Reply {
  /** @default 200 */
  readonly status?: number;
  /** `Vary` adds to what is there. */
  readonly headers?: { readonly [name: string]: string };
  /** An object is sent as JSON, a stream as it comes. */
  readonly body?: object | string;
}

/** An answer that writes itself: a stream that goes on, a page. */
export type ReplyWriter = (ctx: Context) => unknown;

/** A route whose handler returns its answer instead of writing it. */
export interface ReplyRoute<Deps = never> extends RouteDescription {
  /** Throws what is answered as an error. */
  reply(request: RouteRequest, deps: Deps): Reply | ReplyWriter | Promise<Reply | ReplyWriter>;
}

type GroupedRoute<Deps> = RouteDescription &
  Partial<Pick<Route<Deps>, 'handle'>> &
  Partial<Pick<ReplyRoute<Deps>, 'reply'>>;

/** Routes that belong together: they share a heading of the documentation, what they need, and what each of them may answer. */
export interface RouteGroup<Deps = never> {
  /** The heading under which they are shown. */
  readonly tag: string;
  readonly description: string;
  /** Who may use its routes, unless one says otherwise. Never left out: a route is not open by mistake. */
  readonly access: Access;
  /** First segments of paths, `/v1`, below which it answers everything, also what is no route: others add none there. */
  readonly owns?: readonly string[];
  readonly routes: readonly GroupedRoute<Deps>[];
  /** Of the parameters in its paths, by name. */
  readonly parameters?: { readonly [name: string]: Parameter };
  /** Answers of every route of the group. */
  readonly answers?: { readonly [status: number]: RouteAnswer };
  /** Refusals of every route of the group. */
  readonly problems?: readonly Reason[];
  /** Schemas that have a name of their own in the document. */
  readonly schemas?: { readonly [name: string]: Schema };
}

/** A route and who may use it. */
export interface DeclaredRoute extends ServedRoute {
  readonly access: Access;
  /** What its group owns. */
  readonly owns?: readonly string[] | undefined;
}

/** What stands before the routes of each access, and before those for our own pages; `public` needs none. */
export type Guards = { readonly [access in Exclude<Access, 'public'> | 'ownPages']?: Middleware };

/** A router that tells `/x`, `/X` and `/x/` apart, as all doors do. */
export function newRouter(): Router {
  return new Router({ sensitive: true, strict: true });
}

export interface AddedRoutes<Deps> {
  readonly deps: Deps;
  readonly guards?: Guards;
  /** How what a request brings is checked. @default PLAIN_INPUT */
  readonly input?: InputRules;
}

/**
 * Adds the routes of a group, in order: their guards, then the check of what they declare to read, then their handlers. Throws
 * ERR_CONFIG where a guard is missing.
 */
export function addRoutes<Deps>(
  router: Router,
  { routes, access: usual }: RouteGroup<Deps>,
  { deps, guards = {}, input = PLAIN_INPUT }: AddedRoutes<Deps>,
): void {
  for (const route of routes) {
    const { method, path, access = usual, ownPages } = route;
    const handle = findHandler(route);
    if (!handle) continue;
    const check = inputCheck(route, input);
    const needed = [...(access === 'public' ? [] : [access]), ...(ownPages ? (['ownPages'] as const) : [])];
    const before = needed.map((name) => guards[name] ?? missingGuard(name, { method, path }));
    const answer = async (ctx: Context) => {
      if (check) await check(ctx);
      return handle(ctx, deps);
    };
    router.register(path, [method.toLowerCase()], [...before, answer as Middleware], router.opts);
  }
}

/** What answers a request to the route, by writing to its context; undefined for a route that is only described. */
export function findHandler<Deps>(route: GroupedRoute<Deps>): ((ctx: Context, deps: Deps) => unknown) | undefined {
  const { handle, reply } = route;
  if (handle || !reply) return handle;
  return async (ctx, deps) => sendReply(ctx, await reply(ctx as Context & RouteRequest, deps));
}

async function sendReply(ctx: Context, reply: Reply | ReplyWriter): Promise<void> {
  if (typeof reply === 'function') {
    await reply(ctx);
    return;
  }
  const { status = 200, headers = {}, body } = reply;
  ctx.status = status;
  for (const [name, value] of Object.entries(headers))
    if (name === 'Vary') ctx.vary(value.split(', '));
    else ctx.set(name, value);
  // After the headers, which may say of what type it is.
  if (body !== undefined) ctx.body = body;
}

/** Tells which requests are for operators, or for our own pages: those to the routes of these groups that say so. */
export function ownRequestFinder(groups: readonly RouteGroup[]): (request: ServedRoute) => boolean {
  const routers = new Map<string, Router>();
  const routes = groups.flatMap(({ access: usual, routes }) => routes.map((route) => ({ access: usual, ...route })));
  for (const { method, path, access, ownPages } of routes) {
    if (access !== 'operator' && !ownPages) continue;
    const segment = firstSegment(path);
    const router = routers.get(segment) ?? newRouter();
    routers.set(segment, router.register(path, [method.toLowerCase()], []) && router);
  }
  return ({ method, path }) => routers.get(firstSegment(path))?.match(path, method).route ?? false;
}

function missingGuard(name: keyof Guards, { method, path }: ServedRoute): never {
  throw new TwinlineError('ERR_CONFIG', `${method} ${path} is for "${name}", and nothing checks who asks.`);
}

/** The routes of a router, in order. HEAD is not named beside GET, and what only passes requests on is left out. */
export function listRoutes({ stack }: Router): ServedRoute[] {
  return stack.flatMap(({ path, methods }) =>
    methods.filter((method) => method !== 'HEAD').map((method) => ({ method, path: String(path) })),
  );
}

/** A route as texts compare it: `GET /chats/:id`. */
export function routeKey({ method, path }: ServedRoute): string {
  return `${method} ${path.includes('{') ? path.replace(/\{(\w+)\}/g, ':$1') : path}`;
}

/** The names in a path, written as routers do or as OpenAPI does: `did` of `/v1/domains/:did`. `/a:undo` has none. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/\/:(\w+)|\{(\w+)\}/g)].map(([, plain, inBraces]) => (plain ?? inBraces)!);
}

/** A path as OpenAPI writes it: `/v1/domains/{did}`. */
export function openApiPath(path: string): string {
  return path.replace(/\/:(\w+)/g, '/{$1}');
}

/** What stands between the first two slashes of a path or a URL, up to a colon: `v1` of `/v1/domains?limit=2` and of `/v1:batch`. */
export function firstSegment(url: string): string {
  let end = 1;
  while (end < url.length && !ENDS_SEGMENT.has(url.charCodeAt(end))) end++;
  return url.slice(1, end);
}

const ENDS_SEGMENT = new Set([...'/:?#'].map((char) => char.charCodeAt(0)));

/** The methods that a path takes; none when no router knows it. */
export function methodsAt(
  routers: readonly Router[],
  { path, method }: { readonly path: string; readonly method: string },
): string[] {
  return [...new Set(routers.flatMap((router) => router.match(path, method).path.flatMap(({ methods }) => methods)))];
}

/**
 * Answers a request that no route has taken: OPTIONS with the methods of the path, all else by throwing a refusal: an unknown
 * path (in the words of `unknown`), or another method than the path takes.
 */
export function refuseUnrouted(
  ctx: ParameterizedContext,
  routers: readonly Router[],
  { unknown, patch }: { readonly unknown?: string; readonly patch?: string } = {},
): void {
  const { path, method } = ctx;
  const methods = methodsAt(routers, { path, method });
  if (methods.length === 0) throw new Refusal('not-found', unknown);
  ctx.set('Allow', methods.join(', '));
  if (patch !== undefined && methods.includes('PATCH')) ctx.set('Accept-Patch', patch);
  if (method !== 'OPTIONS') throw refuseMethod(ctx, methods);
  ctx.status = 204;
}

/** The refusal of a method that a path does not take. */
export function refuseMethod({ path, method }: ParameterizedContext, methods: readonly string[]): Refusal {
  return new Refusal('method-not-allowed', `${path} takes ${methods.join(', ')}, not ${method}`);
}
