// The route table: every HTTP binding of a set of descriptors, compiled, and found again by method and path.

import type { DescMessage, DescMethod } from '@bufbuild/protobuf';
import { type Detail, TwinlineError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { type Descriptors, refused } from './descriptors.ts';
import { type HttpRule, httpRules } from './http-rule.ts';
import { named } from './named.ts';
import { createPathTree, type PathTree } from './path-tree.ts';
import { decodePath } from './percent.ts';
import { type Bind, compileBinding } from './query.ts';
import { parseTemplate, type Template, type Variable } from './template.ts';

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

export interface RouteTable {
  /** By service and method, as in the descriptors. */
  readonly routes: readonly Route[];
  /** Methods with an HTTP binding that no HTTP request can call, and why. */
  readonly left: readonly Detail[];
  /**
   * Finds the route of a request: `path` as it came, without the query. HEAD is answered by GET routes. Throws ERR_INPUT
   * when a value in the path is malformed.
   */
  match(method: string, path: string): Match;
}

interface Placed {
  readonly route: Route;
  readonly variables: readonly Variable[];
}

type ByMethod = Map<string, Placed>;

/**
 * Compiles all HTTP bindings. Throws ERR_CONFIG that lists every template that is broken or there twice, and every
 * variable or body that is no field of its request; `source` names the descriptors.
 */
export function createRouteTable(descriptors: Descriptors, source = 'The descriptors'): RouteTable {
  const routes: Route[] = [];
  const problems: Detail[] = [];
  const left: Detail[] = [];
  const tree = createPathTree<ByMethod>();
  for (const method of descriptors.methods) {
    const rpc = `${method.parent.typeName}/${method.name}`;
    try {
      const rules = httpRules(method);
      if (!rules.length) continue;
      if (method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming') {
        left.push({ field: rpc, error: 'it takes a stream of requests' });
        continue;
      }
      for (const rule of rules) routes.push(addRoute(tree, { rpc, rule, method, descriptors }));
    } catch (error) {
      problems.push({ field: rpc, error: (error as Error).message });
    }
  }
  if (problems.length) throw refused(source, problems);
  return { routes, left, match: (method, path) => match(tree, method, path) };
}

interface Binding {
  readonly rpc: string;
  readonly rule: HttpRule;
  readonly method: DescMethod;
  readonly descriptors: Descriptors;
}

function addRoute(tree: PathTree<ByMethod>, { rpc, rule, method, descriptors }: Binding): Route {
  const { input, output } = method;
  const template = templateOf(rule);
  const variables = template.variables.map(({ path }) => path);
  const { body, responseBody } = rule;
  if (body !== '' && rule.method === 'GET') throw new Error(`${rule.template}: a GET request has no body`);
  if (responseBody !== '' && !output.fields.some(({ name }) => name === responseBody))
    throw new Error(
      `${rule.template}: response_body is the field ${responseBody}, which ${output.typeName} does not have`,
    );
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
    bind: named(rule.template, () => compileBinding({ input, variables, body, registry: descriptors.registry })),
  };
  const placed = tree.at(template, () => new Map());
  const other = placed.get(route.method)?.route;
  if (other) throw new Error(`${route.method} ${route.template} leads to ${other.rpc} already, as ${other.template}`);
  placed.set(route.method, { route, variables: template.variables });
  return route;
}

function templateOf(rule: HttpRule): Template {
  if (!rule.method || !rule.template) throw new Error('its google.api.http option names no method and path');
  return named(rule.template, () => parseTemplate(rule.template));
}

function match(tree: PathTree<ByMethod>, method: string, path: string): Match {
  const allow = new Set<string>();
  if (path.length > LIMITS.gatewayPathChars)
    throw new TwinlineError(
      'ERR_INPUT',
      `The path has ${path.length} characters; ${LIMITS.gatewayPathChars} are allowed.`,
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
