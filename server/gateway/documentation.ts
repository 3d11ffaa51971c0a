// The query gateway in OpenAPI: an operation for each route of its descriptors.

import {
  type Route as GatewayRoute,
  isHttpBody,
  type QueryParameter,
  type RouteRow,
  routeRows,
} from '../../lib/gateway/index.ts';
import { findPath } from '../../lib/gateway/request/message-builder.ts';
import type { Schema } from '../../lib/json/schema.ts';
import type { Method, Parameter, RouteAnswer, RouteDescription, RouteGroup } from '../http/route-table.ts';
import type { Catalog } from './catalog.ts';
import { type MessageSchemas, messageSchemas, valueSchema } from './message-schemas.ts';
import type { Served } from './places.ts';

const TEXT: Schema = { type: 'string' };
const JSON_TYPE = 'application/json';

const STATUS: Schema = {
  type: 'object',
  description: 'How a call ended (google.rpc.Status)',
  required: ['code', 'message', 'details'],
  properties: {
    code: { type: 'integer', description: 'The code of gRPC' },
    message: TEXT,
    details: { type: 'array', items: { type: 'object', additionalProperties: true } },
  },
};

const describeFailure = (description: string): RouteAnswer => ({ description, types: { [JSON_TYPE]: STATUS } });

// Every status that a gRPC code of the node can map to.
const ANSWERS: { readonly [status: number]: RouteAnswer } = {
  400: describeFailure('A value of the path, the query or a header is wrong, or the node says so'),
  401: {
    ...describeFailure('The key is missing or invalid, or the node requires authentication'),
    headers: { 'WWW-Authenticate': 'The authentication scheme' },
  },
  403: describeFailure('Keys may not call this method, or the node refuses it'),
  404: describeFailure('The node does not have it'),
  409: describeFailure('It already exists, or another call came first'),
  429: describeFailure('Too many requests from one address, or too many for the node'),
  499: describeFailure('The node reports that the call was cancelled'),
  500: describeFailure('The node failed, or its reply is malformed'),
  501: describeFailure('The node does not have this method, or it is disabled here'),
  502: describeFailure("The node's reply is too large"),
  503: describeFailure('The node is unreachable, or the server is overloaded'),
  504: describeFailure('The node did not answer in time'),
};

const HEADERS: { readonly [name: string]: Parameter } = {
  'x-cosmos-block-height': { description: 'The chain height to query; the latest if omitted', schema: TEXT },
  'Grpc-Timeout': {
    description: 'The timeout, such as 500m for half a second',
    schema: { type: 'string', pattern: '^[0-9]{1,8}[HMSmun]$' },
  },
};

const METHODS: ReadonlySet<string> = new Set<Method>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** The OpenAPI part for these routes. Methods unknown to OpenAPI are omitted. */
export function gatewayPart({ settings, routes }: Catalog, servedRoutes: readonly Served[]): RouteGroup {
  const schemas = messageSchemas(settings.json);
  const rows = new Map(routeRows(routes).map((row, at) => [routes[at]!, row]));
  const ids = new Map<string, number>();
  const operations = servedRoutes
    .filter(({ method }) => METHODS.has(method))
    .map(
      (one): RouteDescription =>
        describeOperation(one, { row: rows.get(one.route)!, schemas, id: freshId(ids, one.route.rpc) }),
    );
  return {
    tag: 'Query gateway',
    description: `Methods of a node's gRPC services, from their descriptors.${
      settings.legacy.length ? ` Routes of earlier versions are served as well: ${settings.legacy.join(', ')}.` : ''
    }`,
    routes: operations,
    answers: ANSWERS,
    access: settings.gate ? 'gateway-key' : 'public',
    schemas: { 'google.rpc.Status': STATUS, ...schemas.listNamed() },
  };
}

function freshId(ids: Map<string, number>, rpc: string): string {
  const count = (ids.get(rpc) ?? 0) + 1;
  ids.set(rpc, count);
  const id = rpc.replaceAll(/[./]/g, '_');
  return count === 1 ? id : `${id}_${count}`;
}

interface Operation {
  readonly row: RouteRow;
  readonly schemas: MessageSchemas;
  readonly id: string;
}

function describeOperation({ method, path, route, names }: Served, { row, schemas, id }: Operation): RouteDescription {
  const { input, output, body, responseBody, streaming } = route;
  const reply = responseBody ? schemas.ofField(output, responseBody) : schemas.of(output);
  return {
    method: method as Method,
    path,
    id,
    summary: route.rpc,
    parameters: Object.fromEntries(
      names.map(({ name, field }) => [
        name,
        { description: field === undefined ? 'Any text' : `The field ${field}${listHint(route, field)}`, schema: TEXT },
      ]),
    ),
    query: Object.fromEntries(row.query.map((one) => [one.name, describeParameter(one)])),
    headers: HEADERS,
    ...(body && {
      body: {
        types: { [JSON_TYPE]: body === '*' ? schemas.of(input) : schemas.ofField(input, body) },
        required: false,
      },
    }),
    answers: {
      200: describeReply(route, reply),
      ...(!streaming && method === 'GET' && { 304: { description: 'Not modified' } }),
      ...(body && {
        413: describeFailure('The body is too large'),
        415: describeFailure('The body has a Content-Encoding'),
      }),
    },
  };
}

function listHint({ input }: GatewayRoute, path: string): string {
  return findPath(input, path)?.at(-1)?.fieldKind === 'list' ? ', with values separated by commas' : '';
}

function describeReply({ output, responseBody, streaming }: GatewayRoute, reply: Schema): RouteAnswer {
  if (isHttpBody(output) && !responseBody) return { description: 'A body of any type', types: { '*/*': {} } };
  return streaming ? describeStream(reply) : { description: 'The reply', types: { [JSON_TYPE]: reply } };
}

function describeStream(reply: Schema): RouteAnswer {
  const line: Schema = { type: 'object', properties: { result: reply, error: STATUS } };
  return {
    description: 'A message in each line; the last one may be an error',
    types: { 'application/x-ndjson': { type: 'string', 'x-lines': line }, 'text/event-stream': TEXT },
  };
}

function describeParameter({ type, repeated: isRepeated, values }: QueryParameter): Parameter {
  const one = values.length ? { enum: values } : valueSchema(type);
  return { description: type, schema: isRepeated ? { type: 'array', items: one } : one };
}
