// What plugins see of a request and its response: the usable parts of Koa's context and router. These types are published, so
// that plugins need no types of Koa; a handler typed with Koa's own `Context` also fits.

import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * The values that passed a route's schemas, with defaults; all undefined if the route declares nothing to check. Types follow
 * the schemas: `koa.state.input.body as { text: string }`.
 */
export interface PluginInput {
  readonly path: { readonly [name: string]: unknown };
  readonly query: { readonly [name: string]: unknown };
  readonly headers: { readonly [name: string]: unknown };
  readonly body: unknown;
}

/** A request and its response: Koa's context. */
export interface PluginExchange {
  /** Node's request and response. */
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Path and query. */
  readonly url: string;
  /** Decoded path parameters. */
  readonly params: { readonly [name: string]: string };
  /** As sent; validated values are in `state.input.query`. */
  readonly query: { readonly [name: string]: string | readonly string[] | undefined };
  readonly request: {
    /** The JSON body, if the route reads one; the validated value is in `state.input.body`. */
    readonly body?: unknown;
  };
  /** Validated values are in `state.input`. */
  readonly state: { readonly input: PluginInput; readonly [name: string]: unknown };
  /** @default 404, and 200 once there is a body */
  status: number;
  /** Sent as JSON unless it is a string, a Buffer or a stream. */
  body: unknown;
  /** The media type of the response. */
  type: string;
  /** A request header, case-insensitive; '' if missing. */
  get(name: string): string;
  /** Sets a response header. */
  set(name: string, value: string | string[]): void;
  redirect(url: string): void;
  /** Throws a refusal; its message is shown for a status below 500. */
  throw(status: number, message?: string): never;
}

/** Middleware that runs before a handler. */
export type PluginMiddleware = (koa: PluginExchange, next: () => Promise<unknown>) => unknown;

/** Adds a route for one method: a path such as `/chats/:id`, then its handlers in order. */
type AddRoute = (path: string, ...steps: readonly PluginMiddleware[]) => unknown;

/** The router passed to plugins that do not list their routes: one of `@koa/router`. */
export interface PluginRouter {
  readonly get: AddRoute;
  readonly post: AddRoute;
  readonly put: AddRoute;
  readonly patch: AddRoute;
  readonly delete: AddRoute;
}

/** The error made by `ctx.refuse`: when thrown, it is answered with its body and status. */
export interface PluginRefusal extends Error {
  readonly body: { readonly statusCode: number; readonly message: string | readonly string[] };
}
