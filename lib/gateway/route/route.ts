// The route table: compiles every HTTP binding of a set of descriptors, and matches requests by method and path.

import { type DescField, type DescMethod, type Registry, ScalarType } from '@bufbuild/protobuf';
import type { DescMessage } from '#protobuf';
import { configFileError } from '../../config-file.ts';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import type { Descriptors } from '../descriptors/descriptors.ts';
import { type HttpRule, readHttpRules } from '../descriptors/options.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { type Bind, compileBinding } from '../request/bind.ts';
import { fieldParser } from '../request/values.ts';
import { decodePath, PathTree, parseTemplate, type Template, type Variable } from './paths.ts';

/** An HTTP route to a service method. */
export interface Route {
  /** `GET`, …, or `*` for any method. */
  readonly method: string;
  /** Verbatim from the descriptors. */
  readonly template: string;
  /** `ixo.entity.v1beta1.Query/Entity` */
  readonly rpc: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
  /** Whether the node replies with a stream of messages. */
  readonly streaming: boolean;
  /** Fields bound by the path. */
  readonly variables: readonly string[];
  /** '': no body; `*`: the whole request; otherwise a field name. */
  readonly body: string;
  /** '': the whole reply; otherwise the field to return. */
  readonly responseBody: string;
  /** Encodes the request message. Throws ERR_INPUT. */
  readonly bind: Bind;
}

/** The result of matching a method and path. */
export type Match =
  | {
      readonly kind: 'found';
      readonly route: Route;
      /** Decoded values of the variables. */
      readonly values: readonly string[];
    }
  /** The path exists, but only for other methods. */
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' };

/** A binding that is not served. */
export interface LeftOut {
  /** `ixo.entity.v1beta1.Query/Entity` */
  readonly rpc: string;
  /** `GET /ixo/entity/{id}`; '' when the method's option is unreadable. */
  readonly path: string;
  readonly reason: string;
}

/** All routes, with a matcher. */
export interface RouteTable {
  /** By service and method, in descriptor order. */
  readonly routes: readonly Route[];
  /** Bindings that are not served, and why. */
  readonly left: readonly LeftOut[];
  /**
   * Matches a request; `path` is still encoded, without the query. GET routes also answer HEAD. Throws ERR_INPUT for a
   * malformed value in the path.
   */
  match(method: string, path: string): Match;
}

/** Options of `createRouteTable`. */
export interface RouteTableOptions {
  /** Names the descriptors in messages. @default 'The descriptors' */
  readonly source?: string;
  /** Methods (`package.Service/Method`) that yield when another one has the same path. @default none */
  readonly standsBack?: (rpc: string) => boolean;
}

interface Leaf {
  readonly route: Route;
  readonly variables: readonly Variable[];
}

/**
 * Compiles all HTTP bindings. A binding that cannot be served is skipped: a broken template, a variable or body that is not a
 * field of the request, a stream of requests. If two bindings have the same method and path, the later one wins, as in
 * grpc-gateway. Throws ERR_CONFIG with every reason when there are bindings but none can be served.
 * @example
 * import { readFileSync } from 'node:fs';
 *
 * const table = createRouteTable(readDescriptorSet(readFileSync('library.pb')));
 * const match = table.match('GET', '/v1/books/7');
 * match.kind === 'found' && match.route.rpc; // → 'demo.Library/Get'
 * table.match('GET', '/v9').kind; // → 'unknown'
 */
export function createRouteTable(descriptors: Descriptors, options: RouteTableOptions = {}): RouteTable {
  requireGiven('make a route table', { descriptors }, { descriptors: 'descriptors' });
  const { source = 'The descriptors', standsBack = () => false } = options;
  const routes = new Set<Route>();
  const leftOut: LeftOut[] = [];
  const tree = new PathTree<Map<string, Leaf>>();

  function leaveOut({ rpc, method, template }: Pick<Route, 'rpc' | 'method' | 'template'>, reason: string): void {
    leftOut.push({ rpc, path: `${method} ${template}`.trim(), reason });
  }

  function add(rule: HttpRule, method: DescMethod): void {
    const rpc = rpcName(method);
    try {
      const template = parseRule(rule, method);
      const route = compileRoute(rule, { rpc, template, method, registry: descriptors.registry });
      const byMethod = tree.add(template, () => new Map());
      const other = byMethod.get(route.method)?.route;
      const winner = other && standsBack(rpc) && !standsBack(other.rpc) ? other : route;
      const loser = winner === route ? other : route;
      if (loser) leaveOut(loser, `it has the path of ${winner.rpc} (${winner.template}), which is served`);
      if (winner !== route) return;
      if (other) routes.delete(other);
      byMethod.set(route.method, { route, variables: template.variables });
      routes.add(route);
    } catch (error) {
      leaveOut({ rpc, ...rule }, (error as Error).message);
    }
  }

  for (const method of descriptors.methods)
    try {
      for (const rule of readHttpRules(method)) add(rule, method);
    } catch (error) {
      const reason = `its google.api.http option is unreadable: ${(error as Error).message}`;
      leftOut.push({ rpc: rpcName(method), path: '', reason });
    }
  if (leftOut.length && !routes.size)
    throw configFileError(
      source,
      leftOut.map(({ rpc, path, reason }) => ({ field: rpc, error: path ? `${path}: ${reason}` : reason })),
    );
  return { routes: [...routes], left: leftOut, match: (method, path) => matchPath(tree, method, path) };
}

function rpcName({ parent, name }: DescMethod): string {
  return `${parent.typeName}/${name}`;
}

function parseRule({ isNested, method, template, body, responseBody }: HttpRule, rpc: DescMethod): Template {
  if (rpc.methodKind === 'client_streaming' || rpc.methodKind === 'bidi_streaming')
    throw new Error('it takes a stream of requests');
  if (isNested) throw new Error('an additional binding has additional bindings');
  if (!method || !template) throw new Error('its google.api.http option names no method and path');
  const parsed = parseTemplate(template);
  if (body !== '' && method === 'GET') throw new Error('a GET request has no body');
  if (responseBody !== '' && !rpc.output.fields.some(({ name }) => name === responseBody))
    throw new Error(`response_body is the field ${responseBody}, which ${rpc.output.typeName} does not have`);
  return parsed;
}

interface Binding {
  readonly rpc: string;
  readonly template: Template;
  readonly method: DescMethod;
  readonly registry: Registry;
}

function compileRoute(rule: HttpRule, { rpc, template, method: rpcMethod, registry }: Binding): Route {
  const { method, body, responseBody } = rule;
  const { input, output, methodKind } = rpcMethod;
  const variables = template.variables.map(({ path }) => path);
  const bind = compileBinding({ input, variables, body, method, registry });
  const streaming = methodKind === 'server_streaming';
  return { method, template: rule.template, rpc, input, output, streaming, variables, body, responseBody, bind };
}

function matchPath(tree: PathTree<Map<string, Leaf>>, method: string, path: string): Match {
  if (path.length > GATEWAY_LIMITS.gatewayPathChars)
    throw new TwinlineError(
      'ERR_INPUT',
      `The path has ${path.length} characters; ${GATEWAY_LIMITS.gatewayPathChars} are allowed.`,
    );
  const allow = new Set<string>();
  const match = tree.find(path, (byMethod, segments): Match | undefined => {
    const leaf = byMethod.get(method) ?? (method === 'HEAD' ? byMethod.get('GET') : undefined) ?? byMethod.get('*');
    if (leaf) return { kind: 'found', route: leaf.route, values: decodeVariables(leaf.variables, segments) };
    for (const one of byMethod.keys()) allow.add(one);
    return undefined;
  });
  if (match) return match;
  if (!allow.size) return { kind: 'unknown' };
  if (allow.has('GET')) allow.add('HEAD');
  return { kind: 'method', allow: [...allow].sort() };
}

// Decode after matching, so that an encoded slash cannot lead to another route.
function decodeVariables(variables: readonly Variable[], segments: readonly string[]): string[] {
  return variables.map(({ start, end, multiple }) => decodePath(segments.slice(start, end).join('/'), multiple));
}

/** A route in a listing. */
export interface RouteRow {
  readonly method: string;
  readonly path: string;
  readonly rpc: string;
  readonly streaming: boolean;
  readonly query: readonly QueryParameter[];
}

/** A query parameter of a route. */
export interface QueryParameter {
  /** `pagination.limit`; for a map, `labels[key]`. */
  readonly name: string;
  /** `uint64`, `string`, or the name of an enum or well-known message. */
  readonly type: string;
  readonly repeated: boolean;
  /** The values of an enum. */
  readonly values: readonly string[];
}

/**
 * One row per route, in order.
 * @example
 * import { readFileSync } from 'node:fs';
 *
 * const { routes } = createRouteTable(readDescriptorSet(readFileSync('library.pb')));
 * const row = routeRows(routes).find(({ rpc }) => rpc === 'demo.Library/Get');
 * [row?.path, row?.query[0]?.name]; // → ['/v1/books/{id}', 'other']
 */
export function routeRows(routes: readonly Route[]): RouteRow[] {
  return routes.map((route) => ({
    method: route.method,
    path: route.template,
    rpc: route.rpc,
    streaming: route.streaming,
    query: route.body === '*' ? [] : queryParameters(route),
  }));
}

function queryParameters({ input, variables, body }: Route): QueryParameter[] {
  const boundNames = new Set([...variables, body]);
  const list = (type: DescMessage, prefix: string, depth: number): QueryParameter[] =>
    type.fields.flatMap((field) => {
      const name = `${prefix}${field.name}`;
      if (boundNames.has(name)) return [];
      if (hasText(field)) return [describeParameter(field, name)];
      const isInside = field.fieldKind === 'message' && depth < GATEWAY_LIMITS.gatewayParameterDepth;
      return isInside ? list(field.message, `${name}.`, depth + 1) : [];
    });
  return list(input, '', 1);
}

/** Whether the field has a text form. */
function hasText(field: DescField): boolean {
  try {
    fieldParser(field);
    return true;
  } catch {
    return false;
  }
}

function describeParameter(field: DescField, name: string): QueryParameter {
  const { fieldKind, scalar, message, enum: enumType } = field;
  return {
    name: fieldKind === 'map' ? `${name}[key]` : name,
    type: enumType?.typeName ?? message?.typeName ?? ScalarType[scalar!].toLowerCase(),
    repeated: fieldKind === 'list',
    values: enumType?.values.map((value) => value.name) ?? [],
  };
}
