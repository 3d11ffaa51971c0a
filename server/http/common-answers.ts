// What every door says when it does not do what it was asked: the two shapes, and the statuses that all routes share.

import { PROBLEMS } from '../../lib/domain/problems.ts';
import type { Schema } from '../../lib/json/schema.ts';
import { REFUSALS } from './errors.ts';
import type { RouteAnswer } from './route-table.ts';

const TEXT: Schema = { type: 'string' };
const PROBLEM_CODES = [...new Set([...Object.keys(PROBLEMS), ...Object.keys(REFUSALS)])];

/** RFC 9457, with the members of the ecosystem. */
export const PROBLEM: Schema = {
  type: 'object',
  description: 'A problem document (RFC 9457), as the domain service answers it',
  required: ['type', 'title', 'status', 'detail', 'instance', 'success', 'error'],
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'What it is, explained at this address' },
    title: TEXT,
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'What was tried, why it was refused, what to do' },
    instance: { type: 'string', format: 'uri-reference', description: 'The path that was asked for' },
    success: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'details'],
      properties: {
        code: { enum: PROBLEM_CODES, description: 'A word that stays the same; it ends the `type`' },
        message: { type: 'string', description: 'The same as `detail`' },
        details: {
          type: 'array',
          items: {
            type: 'object',
            required: ['field', 'error'],
            properties: { field: { type: 'string', description: 'A JSON pointer, or a name' }, error: TEXT },
          },
        },
      },
    },
  },
};

export const REFUSED: Schema = {
  type: 'object',
  description: 'A refusal of the doors other than the domain service, and of what stands before all of them',
  required: ['error', 'code', 'requestId'],
  properties: {
    error: TEXT,
    code: { enum: Object.keys(REFUSALS), description: 'Explained at /docs/errors' },
    requestId: { type: 'string', description: 'Stands in the log of the server, too' },
  },
};

const JSON_TYPE = 'application/json';
const WAIT = { 'Retry-After': 'Seconds to wait' };

const TOO_MANY: RouteAnswer = {
  description: 'Too many requests from one address; a browser that asks for text/html gets a page with a countdown',
  types: { [JSON_TYPE]: REFUSED },
  headers: WAIT,
};
/** Of pages: a browser reads when to come back. Other routes do not list this type: it would make each error of a client that is generated a text. */
export const PAGE_LIMITED: RouteAnswer = {
  ...TOO_MANY,
  types: { [JSON_TYPE]: REFUSED, 'text/html': { type: 'string', description: 'A page with a countdown' } },
};
const AWAY = 'A store does not answer, the server has too much to do, or too many answers wait to be read';

/** Of routes that answer with {@link REFUSED}. */
export const PLAIN_ANSWERS = {
  429: TOO_MANY,
  500: { description: 'Something went wrong here', types: { [JSON_TYPE]: REFUSED } },
  503: { description: AWAY, types: { [JSON_TYPE]: REFUSED } },
} as const satisfies { readonly [status: number]: RouteAnswer };

const PROBLEM_TYPE = { 'application/problem+json': PROBLEM };

/** Of routes that answer with {@link PROBLEM}. */
export const PROBLEM_ANSWERS = {
  429: { ...TOO_MANY, types: PROBLEM_TYPE },
  500: { description: 'Something went wrong here', types: PROBLEM_TYPE },
  503: { description: AWAY, types: PROBLEM_TYPE, headers: WAIT },
} as const satisfies { readonly [status: number]: RouteAnswer };

/** Of an address below a known one that names nothing. */
export const UNKNOWN: RouteAnswer = {
  description: `${REFUSALS['not-found'].words}; a browser gets a page`,
  types: { [JSON_TYPE]: REFUSED, 'text/html': { type: 'string' } },
};

/** A JSON body or answer, by media type. */
export const jsonTypes = (schema: Schema): { readonly [mediaType: string]: Schema } => ({ 'application/json': schema });

export const PAGE: RouteAnswer = { description: 'The page', types: { 'text/html': { type: 'string' } } };

const refusedAs = (description: string): RouteAnswer => ({ description, types: jsonTypes(REFUSED) });

/** Of every route that is for operators or our own pages. */
export const FOREIGN_PAGE_ANSWER: RouteAnswer = refusedAs('The page of another site asks');

/** Of routes that read JSON from our own pages only. */
export const JSON_BODY_ANSWERS: { readonly [status: number]: RouteAnswer } = {
  400: refusedAs('The page of another site asks, or the body is wrong'),
  413: refusedAs('The body is too large'),
  415: refusedAs('The body is no JSON'),
};

/** Of routes that are for operators, and show browsers a page to sign in on. */
export const SIGN_IN_ANSWER: RouteAnswer = {
  description: 'Nobody is signed in; a browser gets a page to sign in on',
  types: { ...jsonTypes(REFUSED), 'text/html': { type: 'string' } },
  headers: { 'WWW-Authenticate': 'How to come in' },
};
