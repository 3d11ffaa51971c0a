// The routes of /v1 and of the agent service as types. The build writes this module from the OpenAPI document; the source says only what
// form an operation has, and knows no answer.

/** What a request of one route carries, and its answer. A body that is a text is sent as lines of JSON, a list as a JSON Patch. */
export interface RouteShape {
  readonly path?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string | number | boolean | undefined };
  readonly headers?: { readonly [name: string]: string | number | undefined };
  readonly body?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: a build knows the type of each answer
  readonly answer: any;
}

/** Each route by its line, such as `GET /v1/domains/{did}`. */
export type Routes = { readonly [line: string]: RouteShape };

/** The named schemas of the document. */
// biome-ignore lint/suspicious/noExplicitAny: a build knows each
export type ApiSchemas = { readonly [name: string]: any };
