// What plugins see of a request and its answer: the parts of Koa's context, and of its router, that they may use. Published types come
// from here: they name these parts by themselves, so that a plugin needs no types of Koa. A handler that is typed with Koa's own
// `Context` fits, too.

import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * What the schemas of a route let through, with their defaults; all of it is undefined in a route that declares nothing to check.
 * Types follow the schemas: `koa.state.input.body as { text: string }`.
 */
export interface PluginInput {
  readonly path: { readonly [name: string]: unknown };
  readonly query: { readonly [name: string]: unknown };
  readonly headers: { readonly [name: string]: unknown };
  readonly body: unknown;
}

/** A request that is answered: Koa's context. */
export interface PluginExchange {
  /** The request and the answer of Node. */
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Path and query. */
  readonly url: string;
  /** Decoded values of the names in the route's path. */
  readonly params: { readonly [name: string]: string };
  /** As sent; checked values are in `state.input.query`. */
  readonly query: { readonly [name: string]: string | readonly string[] | undefined };
  readonly request: {
    /** The JSON body, where the route reads one; checked values are in `state.input.body`. */
    readonly body?: unknown;
  };
  /** What was checked is in `state.input`. */
  readonly state: { readonly input: PluginInput; readonly [name: string]: unknown };
  /** @default 404, and 200 once there is a body */
  status: number;
  /** Sent as JSON unless it is a text, a Buffer or a stream. */
  body: unknown;
  /** The media type of the answer. */
  type: string;
  /** A header of the request, by any case; '' when it is missing. */
  get(name: string): string;
  /** Sets a header of the answer. */
  set(name: string, value: string | string[]): void;
  redirect(url: string): void;
  /** Throws a refusal whose words are shown when the status is below 500. */
  throw(status: number, message?: string): never;
}

/** A step before a handler: Koa's middleware. */
export type PluginMiddleware = (koa: PluginExchange, next: () => Promise<unknown>) => unknown;

/** Adds a route for one method: the path as `/chats/:id`, then what answers it, in order. */
type AddRoute = (path: string, ...steps: readonly PluginMiddleware[]) => unknown;

/** What a plugin adds routes to, where it does not list them: a router of `@koa/router`. */
export interface PluginRouter {
  readonly get: AddRoute;
  readonly post: AddRoute;
  readonly put: AddRoute;
  readonly patch: AddRoute;
  readonly delete: AddRoute;
}

/** What `ctx.refuse` makes: thrown, it answers with its body and the status in it. */
export interface PluginRefusal extends Error {
  readonly body: { readonly statusCode: number; readonly message: string | readonly string[] };
}
