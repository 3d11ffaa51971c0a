// What all routes of the domain service have in common, as OpenAPI describes it.

import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { SHARED_LIMITS } from '../../../lib/shared-limits.ts';
import { PROBLEM_ANSWERS } from '../../http/common-answers.ts';
import type { Parameter, RouteGroup } from '../../http/route-table.ts';

const TEXT: Schema = { type: 'string' };

export const JSON_TYPE = 'application/json';

export const DID: Parameter = {
  description: 'A DID, or one of its other names',
  schema: { type: 'string', examples: ['did:ixo:entity:4c73552dbf8a4343016e7f7952836014'] },
};

/** Parameters of lists. */
export const PAGE = {
  limit: {
    description: 'Entries on a page',
    schema: { type: 'integer', minimum: 1, maximum: SHARED_LIMITS.pageSizeMax, default: 20 },
  },
  cursor: { description: '`next` of the page before', schema: TEXT },
} as const satisfies { readonly [name: string]: Parameter };

/** Of lists with shorter pages. */
export const SHORT_PAGE = {
  ...PAGE,
  limit: { ...PAGE.limit, schema: { ...PAGE.limit.schema, maximum: 200 } },
} as const;

export const IDEMPOTENCY_KEY: { readonly [name: string]: Parameter } = {
  'Idempotency-Key': {
    description:
      'A word that names this request: sent again with the same body, it changes nothing and is told the same',
    schema: { type: 'string', minLength: 1, maxLength: DOMAIN_LIMITS.idempotencyKeyChars },
  },
};
export const ONCE_PROBLEMS = ['in-progress', 'idempotency-mismatch'] as const;

export const IF_MATCH: Parameter = { description: 'The ETag of the revision that you have seen', schema: TEXT };
export const IF_NONE_MATCH: { readonly [name: string]: Parameter } = {
  'If-None-Match': { description: 'The ETag of what you have', schema: TEXT },
};

export const MADE = { Location: 'Where it is', ETag: 'Its revision' };
export const NOT_CHANGED = { description: 'What you have is what there is' };

/** A part of the domain service, with its keys and its problems. */
export function domainPart(part: RouteGroup): RouteGroup {
  return {
    access: 'api-key',
    problems: ['unauthorized'],
    ...part,
    answers: {
      ...PROBLEM_ANSWERS,
      ...(part.access === 'public'
        ? {}
        : { 401: { description: '', headers: { 'WWW-Authenticate': 'How to come in' } } }),
      ...part.answers,
    },
  };
}
