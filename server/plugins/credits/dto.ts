// What operators send to fill an account, checked field by field.

import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Context } from 'koa';
import type { PluginContext } from '../plugin.ts';
import { MICRO, type Terms } from './account.ts';

const CREDITS_MAX = 1_000_000_000;

export const GRANT = {
  type: 'object',
  description: 'Credits to add, and the terms of the account',
  required: ['amount'],
  additionalProperties: false,
  properties: {
    amount: {
      type: 'number',
      minimum: -CREDITS_MAX,
      maximum: CREDITS_MAX,
      description: 'Credits, to a millionth; below zero to take some back, 0 to change the terms only',
    },
    status: { enum: ['active', 'trial', 'inactive', 'processing'] },
    plan: { type: ['string', 'null'], maxLength: 200 },
    claims: { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 256 } },
  },
};

const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(GRANT);
const KEY = /^[\x21-\x7e]{1,200}$/;
const DID = /^(did|urn):[\w.:%-]{1,240}$/;

export interface Grant {
  readonly did: string;
  /** In millionths of a credit. */
  readonly amount: number;
  readonly terms: Terms;
  /** Of `Idempotency-Key`. */
  readonly key?: string;
}

/** The grant in a request; throws 400 with everything that is wrong. */
export function readGrant(koa: Context, ctx: Pick<PluginContext, 'refuse'>): Grant {
  const { did } = koa.params as { did: string };
  const { body } = koa.request as { body?: unknown };
  const key = koa.get('idempotency-key');
  const problems = [
    ...(DID.test(did) ? [] : ['the path must end with a DID, or a URN, of up to 244 characters']),
    ...(key === '' || KEY.test(key) ? [] : ['Idempotency-Key must be up to 200 visible characters']),
    ...(validate(body) ? [] : validate.errors!.map(wordsOf)),
  ];
  if (problems.length) throw ctx.refuse(400, problems, { error: 'Bad Request' });
  const { amount, ...terms } = body as { amount: number } & Terms;
  return { did, amount: Math.round(amount * MICRO), terms, ...(key !== '' && { key }) };
}

function wordsOf({ instancePath, message, params }: NonNullable<typeof validate.errors>[number]): string {
  const { additionalProperty } = params as { additionalProperty?: string };
  if (additionalProperty !== undefined) return `property ${additionalProperty} should not exist`;
  return `${instancePath.slice(1).replaceAll('/', '.') || 'the body'} ${message}`;
}
