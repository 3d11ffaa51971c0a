// What OpenAPI makes of a declared route.

import { PROBLEMS, type Reason } from '../../lib/domain/problems.ts';
import type { Schema } from '../../lib/json/schema.ts';
import { FOREIGN_PAGE_ANSWER } from '../http/common-answers.ts';
import { REASON_STATUS } from '../http/errors.ts';
import {
  type Access,
  type Parameter,
  pathNames,
  type RequestContent,
  type RouteAnswer,
  type RouteDescription,
  type RouteGroup,
} from '../http/route-table.ts';

/** How each access is proved: by one of these, each of which is names of schemes that go together. */
const SCHEMES: { readonly [access in Access]: readonly (readonly string[])[] } = {
  public: [],
  telecom: [],
  'api-key': [['apiKey']],
  user: [['ucan', 'ucanType'], ['ucanDelegation']],
  operator: [['operatorToken']],
  'gateway-key': [['gatewayKey']],
};

const DESCRIPTIONS: { readonly [scheme: string]: object } = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'A key of API_KEYS_FILE' },
  ucan: { type: 'http', scheme: 'bearer', description: 'An invocation; it counts with X-Auth-Type' },
  ucanType: { type: 'apiKey', in: 'header', name: 'x-auth-type', description: 'The word ucan' },
  ucanDelegation: { type: 'apiKey', in: 'header', name: 'x-ucan-delegation' },
  operatorToken: { type: 'http', scheme: 'bearer', description: 'The OPERATOR_TOKEN of the server' },
  gatewayKey: { type: 'http', scheme: 'bearer', description: 'A key of GATEWAY_FILE' },
};

const PROBLEM_TYPE = 'application/problem+json';

/** Names of what proves an access, one of which is needed; none for everybody, and for telecom gateways. */
export function listSchemes(access: Access): readonly string[] {
  return SCHEMES[access].map(([first]) => first!);
}

/** The schemes that prove any of these accesses, as OpenAPI describes them. */
export function securitySchemes(accesses: Iterable<Access>): { readonly [name: string]: object } {
  const names = new Set([...accesses].flatMap((access) => SCHEMES[access].flat()));
  return Object.fromEntries([...names].map((name) => [name, DESCRIPTIONS[name]!]));
}

/** The OpenAPI operation of a route; `problem` is the schema of problem documents. */
export function describeOperation(route: RouteDescription, group: RouteGroup, problem: Schema): object {
  const { id, summary, description, body } = route;
  const reasons = [...(group.problems ?? []), ...(route.problems ?? []), ...bodyProblems(route)];
  const problems = refusals(reasons, problem);
  const parameters = [
    ...pathNames(route.path).map((name) => ({
      name,
      in: 'path',
      ...pathParameter(route, group, name),
      required: true,
    })),
    ...Object.entries(route.query ?? {}).map(([name, parameter]) => ({ name, in: 'query', ...parameter })),
    ...Object.entries(route.headers ?? {}).map(([name, parameter]) => ({ name, in: 'header', ...parameter })),
  ];
  const isOwn = findAccess(route, group) === 'operator' || route.ownPages;
  const answers: { readonly [status: number]: RouteAnswer } = {
    ...(isOwn && { 400: FOREIGN_PAGE_ANSWER }),
    ...group.answers,
    ...route.answers,
  };
  const statuses = new Set([...Object.keys(answers), ...Object.keys(problems)].map(Number));
  const responses = [...statuses].map((status) => [status, describeResponse(answers[status], problems[status])]);
  return {
    operationId: id,
    tags: [group.tag],
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: describeRequest(body) }),
    responses: Object.fromEntries(responses),
    security: SCHEMES[findAccess(route, group)].map((all) => Object.fromEntries(all.map((scheme) => [scheme, []]))),
  };
}

/** Who may use a route of a group. */
export function findAccess(route: RouteDescription, group: Pick<RouteGroup, 'access'>): Access {
  return route.access ?? group.access;
}

/** What is said of a name in the path of a route, if anything is. */
export function pathParameter(route: RouteDescription, group: RouteGroup, name: string): Parameter | undefined {
  return route.parameters?.[name] ?? group.parameters?.[name];
}

function bodyProblems({ body, problems }: RouteDescription): readonly Reason[] {
  return body && problems ? ['bad-request', 'too-large', 'unsupported-media-type', 'invalid'] : [];
}

function describeRequest({ types, required = true, example: common }: RequestContent): object {
  const content = Object.entries(types).map(([type, schema]) => {
    const example = common ?? firstExample(schema);
    return [type, { schema, ...(example !== undefined && { example }) }];
  });
  return { required, content: Object.fromEntries(content) };
}

function firstExample(schema: Schema): unknown {
  return typeof schema === 'object' && Array.isArray(schema.examples) ? schema.examples[0] : undefined;
}

function refusals(reasons: readonly Reason[], problem: Schema): { [status: number]: RouteAnswer } {
  const answers: { [status: number]: RouteAnswer } = {};
  for (const reason of new Set(reasons)) {
    const status = REASON_STATUS[reason];
    const line = `\`${reason}\`: ${PROBLEMS[reason].title}`;
    const before = answers[status]?.description;
    const description = before === undefined ? line : `${before}\n\n${line}`;
    answers[status] = { description, types: { [PROBLEM_TYPE]: problem } };
  }
  return answers;
}

function describeResponse(answer: RouteAnswer | undefined, problem: RouteAnswer | undefined): object {
  const both = [answer, problem].filter((one) => one !== undefined);
  const types = Object.assign({}, ...both.map(({ types }) => types ?? {})) as Record<string, Schema>;
  const content = Object.entries(types).map(([type, schema]) => [type, { schema }]);
  const headers = Object.entries(answer?.headers ?? {}).map(([name, text]) => [
    name,
    { description: text, required: true, schema: { type: 'string' } },
  ]);
  return {
    description: both.map(({ description }) => description).join('\n\n'),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(content.length > 0 && { content: Object.fromEntries(content) }),
  };
}
