// What a person wants to know of each route: method, path, method of the service, parameters of the query.

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { GATEWAY_LIMITS } from '../limits.ts';
import { parserOf } from '../request/message-builder.ts';
import type { Route } from './route.ts';

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
    parserOf(field);
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
