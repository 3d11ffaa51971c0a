// The query gateway, as OpenAPI describes it: an operation for each route of its descriptors.

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

// Every status that a code of the node may become.
const ANSWERS: { readonly [status: number]: RouteAnswer } = {
  400: describeFailure('A value of the path, the query or a header is wrong, or the node says so'),
  401: {
    ...describeFailure('No key, or none that counts; or the node asks who calls'),
    headers: { 'WWW-Authenticate': 'How to come in' },
  },
  403: describeFailure('Keys may not call this method, or the node refuses it'),
  404: describeFailure('The node does not have it'),
  409: describeFailure('The node has it already, or another call came first'),
  429: describeFailure('Too many requests from one address, or too many for the node'),
  499: describeFailure('The node says that the call was cancelled'),
  500: describeFailure('The node failed, or its answer cannot be read'),
  501: describeFailure('The node does not have this method, or it is disabled here'),
  502: describeFailure('The answer of the node is too large'),
  503: describeFailure('The node cannot be reached, or there is too much to do'),
  504: describeFailure('The node did not answer in time'),
};

const HEADERS: { readonly [name: string]: Parameter } = {
  'x-cosmos-block-height': { description: 'The height of the chain to ask about; the latest without', schema: TEXT },
  'Grpc-Timeout': {
    description: 'How long it may take, such as 500m for half a second',
    schema: { type: 'string', pattern: '^[0-9]{1,8}[HMSmun]$' },
  },
};

const METHODS: ReadonlySet<string> = new Set<Method>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** The part of the document for these routes. Methods that OpenAPI does not know are left out. */
export function gatewayPart({ settings, routes }: Catalog, served: readonly Served[]): RouteGroup {
  const schemas = messageSchemas(settings.json);
  const rows = new Map(routeRows(routes).map((row, at) => [routes[at]!, row]));
  const ids = new Map<string, number>();
  const operations = served
    .filter(({ method }) => METHODS.has(method))
    .map(
      (one): RouteDescription =>
        describeOperation(one, { row: rows.get(one.route)!, schemas, id: freshId(ids, one.route.rpc) }),
    );
  return {
    tag: 'Query gateway',
    description: `Methods of the gRPC services of a node, as their descriptors say.${
      settings.legacy.length ? ` Routes of earlier versions answer, too: ${settings.legacy.join(', ')}.` : ''
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
      ...(!streaming && method === 'GET' && { 304: { description: 'What you have is what there is' } }),
      ...(body && { 413: describeFailure('The body is too large'), 415: describeFailure('The body is encoded') }),
    },
  };
}

function listHint({ input }: GatewayRoute, path: string): string {
  return findPath(input, path)?.at(-1)?.fieldKind === 'list' ? ', with commas between its values' : '';
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

function describeParameter({ type, repeated, values }: QueryParameter): Parameter {
  const one = values.length ? { enum: values } : valueSchema(type);
  return { description: type, schema: repeated ? { type: 'array', items: one } : one };
}
