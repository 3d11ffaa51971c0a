// Accounts of credits as users and operators read them, and what /openapi.json says of them.

import { record } from '../../../lib/domain/schema/twin-answers.ts';
import type { JsonObject } from '../../../lib/store/store.ts';
import { REFUSED } from '../../http/common-answers.ts';
import { AGENT_ERROR } from '../../user/errors.ts';
import type { PluginDocumentation } from '../plugin.ts';
import { type Account, MICRO } from './account.ts';
import { GRANT } from './dto.ts';

const TEXT = { type: 'string' };
const VIEW = record(
  'An account of credits',
  {
    did: TEXT,
    totalCredits: { type: 'number', description: 'What is left; below zero when the last runs have cost more' },
    status: { enum: ['none', 'active', 'trial', 'inactive', 'processing'], description: '`none`: there is no account' },
    currentPlan: { type: ['string', 'null'] },
    claims: { type: 'array', items: TEXT, description: 'Claims to settle' },
  },
  [],
);

export function viewOf(did: string, account: Account | undefined): JsonObject {
  return {
    did,
    totalCredits: (account?.balance ?? 0) / MICRO,
    status: account?.status ?? 'none',
    currentPlan: account?.plan ?? null,
    claims: account?.claims ?? [],
  };
}

const json = (schema: object) => ({ 'application/json': schema as JsonObject });

export const documentation: PluginDocumentation = {
  description:
    'Credits of users. Without an active account and more than 10 credits, routes that need a token answer 402 with `claims`.',
  parameters: { did: { description: 'The DID of a user', schema: TEXT } },
  routes: [
    {
      method: 'GET',
      path: '/credits',
      id: 'getCredits',
      summary: 'Your account',
      answers: { 200: { description: 'The account', types: json(VIEW as object) } },
    },
    {
      method: 'POST',
      path: '/credits/:did',
      id: 'addCredits',
      summary: 'Add credits to an account, as an operator',
      access: 'operator',
      headers: {
        'Idempotency-Key': {
          description: 'A grant of one key is counted once, however often it is sent',
          schema: TEXT,
        },
      },
      body: { types: json(GRANT), example: { amount: 1_000 } },
      answers: {
        201: { description: 'The account', types: json(VIEW as object) },
        400: { description: 'Something is wrong; `message` lists everything', types: json(AGENT_ERROR as object) },
        404: {
          description: 'There are no operators here',
          types: { 'application/json': { anyOf: [AGENT_ERROR, REFUSED] } },
        },
        413: { description: 'The body is too large', types: json(AGENT_ERROR as object) },
        415: { description: 'The encoding of the body is not read', types: json(AGENT_ERROR as object) },
      },
    },
  ],
};
