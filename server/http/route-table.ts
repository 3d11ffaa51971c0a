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

/** The part of a request that handlers read. Koa's context is one. */
export interface RouteRequest
  extends Pick<Context, 'method' | 'path' | 'querystring' | 'state' | 'get' | 'accepts' | 'request' | 'req'> {
  /** Path parameters. */
  readonly params: { readonly [name: string]: string };
}

/** A response as a value. */
export interface Reply {
  /** @default 200 */
  readonly status?: number;
  /** `Vary` is appended. */
  readonly headers?: { readonly [name: string]: string };
  /** Objects are sent as JSON, streams are piped. */
  readonly body?: object | string;
}

/** A response that writes itself to the context, such as an event stream or a page. */
export type ReplyWriter = (ctx: Context) => unknown;

/** A route whose handler returns its response instead of writing to the context. */
export interface ReplyRoute<Deps = never> extends RouteDescription {
  /** Errors that it throws become error responses. */
  reply(request: RouteRequest, deps: Deps): Reply | ReplyWriter | Promise<Reply | ReplyWriter>;
}

type GroupedRoute<Deps> = RouteDescription &
  Partial<Pick<Route<Deps>, 'handle'>> &
  Partial<Pick<ReplyRoute<Deps>, 'reply'>>;

/** Related routes, which share a heading in the documentation, dependencies and common answers. */
export interface RouteGroup<Deps = never> {
  /** The heading under which they are shown. */
  readonly tag: string;
  readonly description: string;
  /** The default access of its routes. Required, so that no route is public by accident. */
  readonly access: Access;
  /** First path segments, such as `/v1`, that belong to this group alone, including unknown paths below them. */
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

/** A router that distinguishes `/x`, `/X` and `/x/`, like all doors. */
export function newRouter(): Router {
  return new Router({ sensitive: true, strict: true });
}

export interface AddedRoutes<Deps> {
  readonly deps: Deps;
  readonly guards?: Guards;
  /** How requests are validated. @default PLAIN_INPUT */
  readonly input?: InputRules;
}

/**
 * Adds the routes of a group in order, each as guards, input validation and handler. Throws ERR_CONFIG when a guard is
 * missing.
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

/** The handler that writes the route's response to a context; undefined for routes that are only documented. */
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
  // Set headers first: Koa guesses a missing Content-Type.
  if (body !== undefined) ctx.body = body;
}

/** Makes a check whether a request is for a route of operators or of our own pages. */
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

/** The routes of a router, in order, without HEAD and pure middleware. */
export function listRoutes({ stack }: Router): ServedRoute[] {
  return stack.flatMap(({ path, methods }) =>
    methods.filter((method) => method !== 'HEAD').map((method) => ({ method, path: String(path) })),
  );
}

/** The key of a route, `GET /chats/:id`. */
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

/** The first segment of a path or URL, up to a colon: `v1` of `/v1/domains?limit=2` and of `/v1:batch`. */
export function firstSegment(url: string): string {
  let end = 1;
  while (end < url.length && !ENDS_SEGMENT.has(url.charCodeAt(end))) end++;
  return url.slice(1, end);
}

const ENDS_SEGMENT = new Set([...'/:?#'].map((char) => char.charCodeAt(0)));

/** The methods of a path; none for unknown paths. */
export function methodsAt(
  routers: readonly Router[],
  { path, method }: { readonly path: string; readonly method: string },
): string[] {
  return [...new Set(routers.flatMap((router) => router.match(path, method).path.flatMap(({ methods }) => methods)))];
}

/**
 * Handles a request that no route matched: answers OPTIONS with the path's methods, and throws a refusal for an unknown path
 * (worded by `unknown`) or method.
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

/** The refusal of a method that the path does not support. */
export function refuseMethod({ path, method }: ParameterizedContext, methods: readonly string[]): Refusal {
  return new Refusal('method-not-allowed', `${path} takes ${methods.join(', ')}, not ${method}`);
}
