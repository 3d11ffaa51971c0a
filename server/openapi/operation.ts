// How a route is documented here, and what OpenAPI makes of it.

import { PROBLEMS, type Reason } from '../../lib/domain/problems.ts';
import type { Schema } from '../../lib/domain/schema/parts.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A parameter of a query, a header or a path. */
export interface Parameter {
  readonly description: string;
  readonly schema: Schema;
  /** @default false; those of a path always are */
  readonly required?: boolean;
}

/** What a route takes. */
export interface RequestContent {
  /** By media type. */
  readonly types: { readonly [mediaType: string]: Schema };
  /** @default true */
  readonly required?: boolean;
  readonly example?: unknown;
}

/** What a route answers with one status. */
export interface Answered {
  readonly description: string;
  /** By media type; without one there is no body. */
  readonly types?: { readonly [mediaType: string]: Schema };
  /** Headers that are always there, with what they say. */
  readonly headers?: { readonly [name: string]: string };
}

/** One method of one address. */
export interface Route {
  readonly method: Method;
  /** As OpenAPI writes it: `/v1/domains/{did}`. */
  readonly path: string;
  /** Names the operation for those who make clients of the document. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** Of the names in its path, where they differ from those of its part. */
  readonly parameters?: { readonly [name: string]: Parameter };
  readonly query?: { readonly [name: string]: Parameter };
  readonly headers?: { readonly [name: string]: Parameter };
  readonly body?: RequestContent;
  readonly answers: { readonly [status: number]: Answered };
  /** Names of security schemes, one of which it needs. @default those of its part */
  readonly security?: readonly string[];
  /** Refusals of the domain service that it may answer with, besides those that all of its part have. */
  readonly problems?: readonly Reason[];
}

/** The routes of one door. Whoever brings routes brings a part. */
export interface Part {
  /** The heading under which they are shown. */
  readonly tag: string;
  readonly description: string;
  readonly routes: readonly Route[];
  /** Of the parameters in its paths, by name. */
  readonly parameters?: { readonly [name: string]: Parameter };
  /** Names of security schemes, one of which each route needs. @default nothing */
  readonly security?: readonly string[];
  /** Answers of every route of the part. */
  readonly answers?: { readonly [status: number]: Answered };
  /** Refusals of every route of the part. */
  readonly problems?: readonly Reason[];
  /** Schemas that have a name of their own in the document. */
  readonly schemas?: { readonly [name: string]: Schema };
  readonly securitySchemes?: { readonly [name: string]: object };
}

const PROBLEM_TYPE = 'application/problem+json';

/** The OpenAPI operation of a route; `problem` is the schema of problem documents. */
export function operationOf(route: Route, part: Part, problem: Schema): object {
  const { id, summary, description, body, security } = { security: part.security, ...route };
  const problems = refusals([...(part.problems ?? []), ...(route.problems ?? []), ...bodyProblems(route)], problem);
  const parameters = [
    ...pathNames(route.path).map((name) => ({ name, in: 'path', ...pathParameter(route, part, name), required: true })),
    ...Object.entries(route.query ?? {}).map(([name, parameter]) => ({ name, in: 'query', ...parameter })),
    ...Object.entries(route.headers ?? {}).map(([name, parameter]) => ({ name, in: 'header', ...parameter })),
  ];
  const answers = { ...part.answers, ...route.answers };
  const statuses = new Set([...Object.keys(answers), ...Object.keys(problems)].map(Number));
  const responses = [...statuses].map((status) => [status, responseOf(answers[status], problems[status])]);
  return {
    operationId: id,
    tags: [part.tag],
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestOf(body) }),
    responses: Object.fromEntries(responses),
    security: (security ?? []).map((scheme) => ({ [scheme]: [] })),
  };
}

/** What is said of a name in the path of a route, if anything is. */
export function pathParameter(route: Route, part: Part, name: string): Parameter | undefined {
  return route.parameters?.[name] ?? part.parameters?.[name];
}

/** The names in a path: `did` of `/v1/domains/{did}`. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

function bodyProblems({ body, problems }: Route): readonly Reason[] {
  return body && problems ? ['bad-request', 'too-large', 'unsupported-media-type', 'invalid'] : [];
}

function requestOf({ types, required = true, example }: RequestContent): object {
  const content = Object.entries(types).map(([type, schema]) => [
    type,
    { schema, ...(example !== undefined && { example }) },
  ]);
  return { required, content: Object.fromEntries(content) };
}

function refusals(reasons: readonly Reason[], problem: Schema): { [status: number]: Answered } {
  const answers: { [status: number]: Answered } = {};
  for (const reason of new Set(reasons)) {
    const { status, title } = PROBLEMS[reason];
    const line = `\`${reason}\`: ${title}`;
    const before = answers[status]?.description;
    const description = before === undefined ? line : `${before}\n\n${line}`;
    answers[status] = { description, types: { [PROBLEM_TYPE]: problem } };
  }
  return answers;
}

function responseOf(answer: Answered | undefined, problem: Answered | undefined): object {
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
