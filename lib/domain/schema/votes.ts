// The bodies of proposals and votes, as JSON Schemas.

import { DOMAIN_LIMITS } from '../limits.ts';
import { PROPOSAL_KINDS } from '../voting/execution.ts';
import { type Schema, text } from './parts.ts';

/** A new proposal. */
export const NEW_PROPOSAL: Schema = {
  type: 'object',
  required: ['kind'],
  properties: {
    kind: { enum: PROPOSAL_KINDS, description: 'What is proposed to happen to the domain' },
    package: {
      type: 'object',
      description: `The entity package that is voted on, kept as sent: at most ${DOMAIN_LIMITS.packageBytes} bytes of JSON`,
    },
  },
  additionalProperties: false,
};

/** A ballot. */
export const NEW_VOTE: Schema = {
  type: 'object',
  required: ['vote'],
  properties: {
    vote: { enum: ['yes', 'no', 'abstain'] },
    rationale: text(DOMAIN_LIMITS.rationaleChars, 'Why; kept in the history of the proposal'),
  },
  additionalProperties: false,
};

/** Why a proposal is vetoed. */
export const VETO: Schema = {
  type: ['object', 'null'],
  properties: { reason: text(DOMAIN_LIMITS.rationaleChars, 'Shown with the proposal') },
  additionalProperties: false,
};
