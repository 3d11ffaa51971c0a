// The route table: every HTTP binding of a set of descriptors, compiled, and found again by method and path.

import type { DescField, DescMessage, DescMethod } from '@bufbuild/protobuf';
import { TwinlineError } from '../../errors.ts';
import { type Descriptors, refused } from '../descriptors/descriptors.ts';
import { type HttpRule, readHttpRules } from '../descriptors/options.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { type Bind, compileBinding } from '../request/bind.ts';
import { fieldParser } from '../request/values.ts';
import { createPathTree, decodePath, type PathTree, parseTemplate, type Template, type Variable } from './paths.ts';

export interface Route {
  /** `GET`, …, or `*` for any. */
  readonly method: string;
  /** As in the descriptors. */
  readonly template: string;
  /** `ixo.entity.v1beta1.Query/Entity` */
  readonly rpc: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
  /** The node answers with a stream of messages. */
  readonly streaming: boolean;
  /** Names of the fields that the path gives. */
  readonly variables: readonly string[];
  /** '': no body; `*`: the whole request; else the field that it is. */
  readonly body: string;
  /** '': the whole reply; else the field that is the answer. */
  readonly responseBody: string;
  /** Bytes of the request message. Throws ERR_INPUT. */
  readonly bind: Bind;
}

export type Match =
  | {
      readonly kind: 'found';
      readonly route: Route;
      /** Values of the variables, decoded. */
      readonly values: readonly string[];
    }
  /** The path exists for other methods. */
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' };

/** A binding that is not served. */
export interface LeftOut {
  /** `ixo.entity.v1beta1.Query/Entity` */
  readonly rpc: string;
  /** `GET /ixo/entity/{id}`; '' when the option of the method cannot be read. */
  readonly path: string;
  readonly reason: string;
}

export interface RouteTable {
  /** By service and method, as in the descriptors. */
  readonly routes: readonly Route[];
  /** Bindings that no HTTP request can reach, and why. */
  readonly left: readonly LeftOut[];
  /**
   * Finds the route of a request: `path` as it came, without the query. HEAD is answered by GET routes. Throws ERR_INPUT
   * when a value in the path is malformed.
   */
  match(method: string, path: string): Match;
}

export interface RouteTableOptions {
  /** Names the descriptors in messages. @default 'The descriptors' */
  readonly source?: string;
  /** Methods (`package.Service/Method`) that stand back where another one has the same path. @default none */
  readonly standsBack?: (rpc: string) => boolean;
}

interface Placed {
  readonly route: Route;
  readonly variables: readonly Variable[];
}

type ByMethod = Map<string, Placed>;

/**
 * Compiles all HTTP bindings. One that cannot be served is left out: a broken template, a variable or body that is no
 * field of the request, a stream of requests. Of two bindings for one method and path the later one is served, as
 * grpc-gateway does. Throws ERR_CONFIG with every reason when there are bindings and none can be served.
 */
export function createRouteTable(descriptors: Descriptors, options: RouteTableOptions = {}): RouteTable {
  const { source = 'The descriptors', standsBack = () => false } = options;
  const routes = new Set<Route>();
  const left: LeftOut[] = [];
  const tree = createPathTree<ByMethod>();

  function add(method: DescMethod, rule: HttpRule): void {
    const rpc = rpcOf(method);
    try {
      const { route, template } = compileRoute({ rpc, rule, method, descriptors });
      const leaf = tree.at(template, () => new Map());
      const other = leaf.get(route.method)?.route;
      if (other && standsBack(rpc) && !standsBack(other.rpc)) {
        left.push(hiddenBy(other, route));
        return;
      }
      if (other) {
        routes.delete(other);
        left.push(hiddenBy(route, other));
      }
      leaf.set(route.method, { route, variables: template.variables });
      routes.add(route);
    } catch (error) {
      left.push({ rpc, path: pathOf(rule), reason: (error as Error).message });
    }
  }

  for (const method of descriptors.methods)
    try {
      for (const rule of readHttpRules(method)) add(method, rule);
    } catch (error) {
      const reason = `its google.api.http option cannot be read: ${(error as Error).message}`;
      left.push({ rpc: rpcOf(method), path: '', reason });
    }
  if (left.length && !routes.size)
    throw refused(
      source,
      left.map(({ rpc, path, reason }) => ({ field: rpc, error: path ? `${path}: ${reason}` : reason })),
    );
  return { routes: [...routes], left, match: (method, path) => match(tree, method, path) };
}

function rpcOf(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

function pathOf({ method, template }: Pick<HttpRule, 'method' | 'template'>): string {
  return `${method} ${template}`.trim();
}

function hiddenBy(winner: Route, { rpc, method, template }: Route): LeftOut {
  const reason = `it has the path of ${winner.rpc} (${winner.template}), which is served`;
  return { rpc, path: pathOf({ method, template }), reason };
}

interface Binding {
  readonly rpc: string;
  readonly rule: HttpRule;
  readonly method: DescMethod;
  readonly descriptors: Descriptors;
}

function compileRoute({ rpc, rule, method, descriptors }: Binding): { route: Route; template: Template } {
  const { input, output } = method;
  if (method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming')
    throw new Error('it takes a stream of requests');
  if (rule.isNested) throw new Error('an additional binding has additional bindings');
  const template = templateOf(rule);
  const variables = template.variables.map(({ path }) => path);
  const { body, responseBody } = rule;
  if (body !== '' && rule.method === 'GET') throw new Error('a GET request has no body');
  if (responseBody !== '' && !output.fields.some(({ name }) => name === responseBody))
    throw new Error(`response_body is the field ${responseBody}, which ${output.typeName} does not have`);
  const route: Route = {
    method: rule.method,
    template: rule.template,
    rpc,
    input,
    output,
    streaming: method.methodKind === 'server_streaming',
    variables,
    body,
    responseBody,
    bind: compileBinding({ input, variables, body, method: rule.method, registry: descriptors.registry }),
  };
  return { route, template };
}

function templateOf(rule: HttpRule): Template {
  if (!rule.method || !rule.template) throw new Error('its google.api.http option names no method and path');
  return parseTemplate(rule.template);
}

function match(tree: PathTree<ByMethod>, method: string, path: string): Match {
  const allow = new Set<string>();
  if (path.length > GATEWAY_LIMITS.gatewayPathChars)
    throw new TwinlineError(
      'ERR_INPUT',
      `The path has ${path.length} characters; ${GATEWAY_LIMITS.gatewayPathChars} are allowed.`,
    );
  const found = tree.find(path, (leaf, segments): Match | undefined => {
    const placed = leaf.get(method) ?? (method === 'HEAD' ? leaf.get('GET') : undefined) ?? leaf.get('*');
    if (placed) return { kind: 'found', route: placed.route, values: valuesOf(placed.variables, segments) };
    for (const one of leaf.keys()) allow.add(one);
    return undefined;
  });
  if (found) return found;
  if (!allow.size) return { kind: 'unknown' };
  if (allow.has('GET')) allow.add('HEAD');
  return { kind: 'method', allow: [...allow].sort() };
}

// Decoded after the match: an encoded slash cannot lead to another route.
function valuesOf(variables: readonly Variable[], segments: readonly string[]): string[] {
  return variables.map(({ start, end, multiple }) => decodePath(segments.slice(start, end).join('/'), multiple));
}

export interface RouteRow {
  readonly method: string;
  readonly path: string;
  readonly rpc: string;
  readonly streaming: boolean;
  readonly query: readonly QueryParameter[];
}

export interface QueryParameter {
  /** `pagination.limit`; of a map `labels[key]`. */
  readonly name: string;
  /** `uint64`, `string`, the name of an enum or of a well-known message. */
  readonly type: string;
  readonly repeated: boolean;
  /** Of an enum: what may be given. */
  readonly values: readonly string[];
}

/** One row for each route, in their order. */
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
  const taken = new Set([...variables, body]);
  const found: QueryParameter[] = [];
  const walk = (type: DescMessage, prefix: string, depth: number): void => {
    for (const field of type.fields) {
      const name = `${prefix}${field.name}`;
      if (taken.has(name)) continue;
      if (isText(field)) found.push(parameter(field, name));
      else if (field.fieldKind === 'message' && depth < GATEWAY_LIMITS.gatewayParameterDepth)
        walk(field.message, `${name}.`, depth + 1);
    }
  };
  walk(input, '', 1);
  return found;
}

/** Whether one text can stand for a value of the field. */
function isText(field: DescField): boolean {
  try {
    fieldParser(field);
    return true;
  } catch {
    return false;
  }
}

const TYPES =
  'double float int64 uint64 int32 fixed64 fixed32 bool string group message bytes uint32 enum sfixed32 sfixed64 sint32 sint64';

function parameter(field: DescField, name: string): QueryParameter {
  const named = field.enum?.typeName ?? field.message?.typeName;
  return {
    name: field.fieldKind === 'map' ? `${name}[key]` : name,
    type: named ?? TYPES.split(' ')[field.scalar! - 1]!,
    repeated: field.fieldKind === 'list',
    values: field.enum?.values.map((value) => value.name) ?? [],
  };
}
