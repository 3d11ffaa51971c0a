// Requests to the domain service: common declarations of its routes, and reading parameters, bodies and preconditions.

import type { ErrorObject } from 'ajv';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import { type Reason, refuse, refuseFlaw } from '../../lib/domain/problems.ts';
import type { Patch } from '../../lib/domain/twin/patch.ts';
import { cutText } from '../../lib/errors.ts';
import { describeValue, type InputRules, readInput } from '../http/check-input.ts';
import { PROBLEM_ANSWERS } from '../http/common-answers.ts';
import { BodyError, JSON_TYPES, type JsonBody, type JsonBodyOptions, readJsonBody } from '../http/json-body.ts';
import type { Parameter, ReplyRoute, RouteGroup, RouteRequest } from '../http/route-table.ts';

const TEXT = { type: 'string' } as const;

export const JSON_TYPE = 'application/json';

/** The protocol and the twin that the examples of the routes create and use. */
export const PROTOCOL_EXAMPLE = 'did:ixo:protocol/clean-cooking';
export const TWIN_EXAMPLE = 'did:ixo:entity/stove-1';

/** A well-formed id that nothing has. */
export const ID_EXAMPLE = '4c73552dbf8a4343016e7f7952836014';

export const DID: Parameter = {
  description: 'A DID, or one of its other names',
  // A name of the twin that the example of POST makes.
  schema: { type: 'string', examples: [TWIN_EXAMPLE, `did:ixo:entity:${ID_EXAMPLE}`] },
};

/** Parameters of lists. */
export const PAGE = {
  limit: {
    description: 'Entries on a page',
    schema: { type: 'integer', minimum: 1, maximum: COMMON_LIMITS.pageSizeMax, default: 20 },
  },
  cursor: { description: '`next` of the page before', schema: TEXT },
} as const satisfies { readonly [name: string]: Parameter };

/** Parameters of lists with shorter pages. */
export const SHORT_PAGE = {
  ...PAGE,
  limit: { ...PAGE.limit, schema: { ...PAGE.limit.schema, maximum: 200 } },
} as const;

export const IDEMPOTENCY_KEY = {
  'Idempotency-Key': {
    description:
      'A word that names this request: sent again with the same body, it changes nothing and is told the same',
    schema: { type: 'string', minLength: 1, maxLength: DOMAIN_LIMITS.idempotencyKeyChars },
  },
} as const satisfies { readonly [name: string]: Parameter };
export const ONCE_PROBLEMS = ['in-progress', 'idempotency-mismatch'] as const;

export const IF_MATCH: Parameter = {
  description: 'The ETag of the revision that you have seen; `*` for any',
  schema: { type: 'string', examples: ['*'] },
};
export const IF_NONE_MATCH: { readonly [name: string]: Parameter } = {
  'If-None-Match': { description: 'The ETag of what you have', schema: TEXT },
};

export const MADE = { Location: 'Where it is', ETag: 'Its revision' };
export const NOT_CHANGED = { description: 'What you have is what there is' };

type DomainGroup<Deps> = Omit<RouteGroup<Deps>, 'access' | 'routes'> &
  Partial<Pick<RouteGroup<Deps>, 'access'>> & { readonly routes: readonly ReplyRoute<Deps>[] };

/** A group of domain routes with their common problems; requires an API key unless it declares other access. */
export function domainGroup<Deps>(group: DomainGroup<Deps>): RouteGroup<Deps> {
  return {
    access: 'api-key',
    problems: ['unauthorized'],
    ...group,
    answers: {
      ...PROBLEM_ANSWERS,
      ...(group.access === 'public'
        ? {}
        : { 401: { description: '', headers: { 'WWW-Authenticate': 'How to come in' } } }),
      ...group.answers,
    },
  };
}

type Parameters = { readonly [name: string]: Parameter };
type ParameterValue<Schema> = Schema extends { readonly type: 'integer' }
  ? number
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : string;
type Defaulted<All extends Parameters> = {
  [Name in keyof All]: All[Name]['schema'] extends { readonly default: unknown } ? Name : never;
}[keyof All];

/** Parameter values by name; absent ones without a default are undefined. */
export type ParameterValues<All extends Parameters> = {
  readonly [Name in Defaulted<All>]: ParameterValue<All[Name]['schema']>;
} & { readonly [Name in Exclude<keyof All, Defaulted<All>>]?: ParameterValue<All[Name]['schema']> };

/** Checks queries and headers; handlers read and check bodies after authorising the caller. */
export const DOMAIN_INPUT: InputRules = {
  allowsMissing: true,
  refuse([fault]) {
    const { error } = fault as { readonly error: ErrorObject };
    return refuse(REASONS[error.instancePath] ?? 'bad-request', describeValue(error));
  },
};

const REASONS: { readonly [pointer: string]: Reason } = { '/query/limit': 'bad-limit', '/query/cursor': 'bad-cursor' };

/** The checked query; `parameters` is the route's `query`. */
export function readQuery<All extends Parameters>(
  request: Pick<RouteRequest, 'state'>,
  _parameters: All,
): ParameterValues<All> {
  return readInput<{ query: ParameterValues<All> }>(request).query;
}

/** Like {@link readQuery}, for headers; empty ones count as absent. */
export function readHeaders<All extends Parameters>(
  request: Pick<RouteRequest, 'state'>,
  _parameters: All,
): ParameterValues<All> {
  return readInput<{ headers: ParameterValues<All> }>(request).headers;
}

/** Parses the cursor of a list of revisions; throws `bad-cursor`. */
export function readRevisionCursor(cursor: string | undefined): { readonly before?: number } {
  if (cursor === undefined) return {};
  if (/^\d{1,10}$/.test(cursor)) return { before: Number(cursor) };
  throw refuse('bad-cursor', 'The cursor is damaged. Send `next` back as it came.');
}

export const PATCH_TYPES = ['application/merge-patch+json', 'application/json-patch+json', ...JSON_TYPES] as const;

/** The Accept-Patch header of routes that take patches. */
export const ACCEPT_PATCH = PATCH_TYPES.slice(0, 2).join(', ');

/** Reads the body; throws `unsupported-media-type`, `too-large`, `bad-request` or `invalid`. */
export async function readBody(request: RouteRequest, options: JsonBodyOptions = {}): Promise<JsonBody> {
  try {
    return await readJsonBody(request, options);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    const { fault, flaw, kind, message } = error;
    if (flaw) throw refuseFlaw(flaw, 'The body');
    throw refuse(kind as Reason, fault === 'too-large' ? `${message} Use /v1/bulk for many twins.` : message);
  }
}

const TAG = /^"([1-9]\d*)(?:-[\w.-]+)?"$/;

/**
 * The revision that If-Match requires: `present` for `*` or when listed, 0 (which never matches) for foreign ETags,
 * undefined without the header. Throws `revision-changed` for weak ETags.
 */
export function readIfMatch(request: Pick<RouteRequest, 'get'>, present: number): number | undefined {
  const header = request.get('if-match').trim();
  if (header === '') return undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  const revisions = tags.map((tag) => Number(TAG.exec(tag)?.[1] ?? Number.NaN));
  if (tags.includes('*') || revisions.includes(present)) return present;
  if (tags.every((tag) => tag.startsWith('W/')))
    throw refuse(
      'revision-changed',
      `If-Match is ${cutText(header, COMMON_LIMITS.quotedChars)}, and a weak ETag never matches (RFC 9110). A proxy on the way made it weak when it compressed the answer: switch compression off there for /v1.`,
    );
  return Number.isInteger(revisions[0]) ? revisions[0]! : 0;
}

/** Like {@link readIfMatch}; throws `precondition-required` without the header. */
export function requireIfMatch(request: Pick<RouteRequest, 'get'>, present: number): number {
  const expected = readIfMatch(request, present);
  if (expected !== undefined) return expected;
  throw refuse('precondition-required', 'Send If-Match with the ETag of what you have seen.');
}

/** Reads a patch of one of PATCH_TYPES; plain JSON is a merge patch. */
export async function readPatch(request: RouteRequest): Promise<Patch> {
  const { type, value } = await readBody(request, { types: PATCH_TYPES });
  return { type: type === 'application/json-patch+json' ? 'json' : 'merge', patch: value };
}

/** The request's Idempotency-Key, if any; the route must declare the header. */
export function idempotencyKey(request: Pick<RouteRequest, 'state'>): string | undefined {
  return readHeaders(request, IDEMPOTENCY_KEY)['Idempotency-Key'];
}
