// What is declared of a route besides its handler. Published types come from here: nothing in them may need Koa's.

import type { Reason } from '../../lib/domain/problems.ts';
import type { Schema } from '../../lib/json/schema.ts';

/** One method of one address, which is written as routers do: `/v1/domains/:did`. */
export interface ServedRoute {
  readonly method: string;
  readonly path: string;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may use a route: everybody, telecom gateways that are let in, holders of an API key, users with a UCAN, operators, or
 * holders of a key of the query gateway. The guard of each is given to {@link addRoutes}.
 */
export type Access = 'public' | 'telecom' | 'api-key' | 'user' | 'operator' | 'gateway-key';

/** A parameter of a query, a header or a path. */
export interface Parameter {
  readonly description: string;
  readonly schema: Schema;
  /** @default false; those of a path always are */
  readonly required?: boolean;
}

/** What a route reads. */
export interface RequestContent {
  /** By media type. */
  readonly types: { readonly [mediaType: string]: Schema };
  /** @default true */
  readonly required?: boolean;
  /** For all of its types. @default the first of the `examples` of a type's schema */
  readonly example?: unknown;
  /** Most bytes that are read. @default SERVER_LIMITS.jsonBodyBytes */
  readonly maxBytes?: number;
  /** Whether `maxBytes` is the most of one line, of a body that may have any number of them. @default false */
  readonly perLine?: boolean;
  /** Who checks it. @default the check that runs before the handler */
  readonly checkedBy?: 'handler';
}

/** What a route declares of its requests; they are checked against it before its handler runs. */
export interface DeclaredInput {
  /** Of the names in its path, where they differ from those of its group. */
  readonly parameters?: { readonly [name: string]: Parameter };
  readonly query?: { readonly [name: string]: Parameter };
  readonly headers?: { readonly [name: string]: Parameter };
  readonly body?: RequestContent;
}

/** What a route answers with one status. */
export interface RouteAnswer {
  readonly description: string;
  /** By media type; without one there is no body. */
  readonly types?: { readonly [mediaType: string]: Schema };
  /** Headers that are always there, with what they say. */
  readonly headers?: { readonly [name: string]: string };
}

/** All that is declared of a route, but its handler. */
export interface RouteDescription extends DeclaredInput {
  readonly method: Method;
  /** As routers write it: `/v1/domains/:did`; of the query gateway, as OpenAPI does. */
  readonly path: string;
  /** Names the operation for those who make clients of the document. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** @default that of its group */
  readonly access?: Access;
  /** Only pages of this server may ask, with a JSON body. @default false */
  readonly ownPages?: true;
  /** `none`: not counted by the rate limit. @default counted */
  readonly rate?: 'none';
  readonly answers: { readonly [status: number]: RouteAnswer };
  /** Refusals of the domain service that it may answer with, besides those that all of its group have. */
  readonly problems?: readonly Reason[];
}
