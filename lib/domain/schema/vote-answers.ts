// What the domain service answers about proposals, votes and what they open, as JSON Schemas.

import { PROPOSAL_STATES } from '../../../machines/proposal.ts';
import { record, type Schema } from '../../json/schema.ts';
import { STATUSES } from '../twin/record.ts';
import { ACTIVITIES } from '../voting/credits.ts';
import { PROPOSAL_KINDS } from '../voting/proposal.ts';
import { TIME } from './parts.ts';

const TEXT: Schema = { type: 'string' };
const POWER: Schema = { type: 'string', pattern: '^[0-9]{1,39}$', description: 'Whole, in decimal digits' };
const FRACTION: Schema = { type: 'string', description: 'A decimal or a quotient', examples: ['0.5', '2/3'] };
const SECONDS: Schema = { type: 'integer', minimum: 0 };
const LINKS: Schema = { type: 'object', additionalProperties: { type: 'string', format: 'uri-reference' } };
const CHOICE: Schema = { enum: ['yes', 'no', 'abstain'] };

const RULE_FIELDS: { readonly [name: string]: Schema } = {
  threshold: {
    description: 'How many must say yes',
    oneOf: [
      record('More than half of yes and no', { kind: { const: 'majority' } }),
      record('At least this share of yes and no', { kind: { const: 'percent' }, value: FRACTION }),
      record('At least this much power', { kind: { const: 'count' }, value: POWER }),
    ],
  },
  quorum: { ...(FRACTION as object), description: 'The share of all power that must vote' },
  votingPeriodSeconds: SECONDS,
  allowRevoting: { type: 'boolean' },
  timelockSeconds: { ...(SECONDS as object), description: 'How long a result waits, and may be vetoed' },
  recuseController: { type: 'boolean', description: 'Who controls the domain does not vote on it' },
};

export const RULES = record('The rules of a vote, as they were when the proposal was made', RULE_FIELDS);

export const GOVERNANCE_ANSWER = record('The rules of this deployment', {
  ...RULE_FIELDS,
  representatives: { type: 'array', items: TEXT, description: 'Empty: every key with the role representative' },
  voters: {
    type: 'array',
    items: record('A voter', { did: TEXT, power: POWER }),
    description: 'Empty: every key with the role voter, with power 1',
  },
  tie: { enum: ['passes', 'fails', null], description: 'What becomes of as many yes as no' },
});

export const TALLY = record(
  'What the ballots amount to so far',
  {
    yes: POWER,
    no: POWER,
    abstain: POWER,
    cast: POWER,
    totalPower: POWER,
    quorumMet: { type: 'boolean' },
    reason: { type: 'string', description: 'Why the proposal was rejected' },
  },
  ['reason'],
);

const PROPOSAL_FIELDS: { readonly [name: string]: Schema } = {
  id: { type: 'string', pattern: '^[0-9a-f]{32}$' },
  did: { type: 'string', format: 'did', description: 'The domain that it is about' },
  kind: { enum: PROPOSAL_KINDS },
  status: { enum: PROPOSAL_STATES },
  rules: RULES,
  tally: TALLY,
  reason: { type: 'string', description: 'Why it was rejected, vetoed or invalidated, or could not be executed' },
  opensAt: TIME,
  closesAt: TIME,
  decidedAt: TIME,
  executableAt: { ...(TIME as object), description: 'When the timelock ends' },
  proposer: TEXT,
  package: { type: ['object', 'null'], description: 'As it was sent' },
  packageHash: TEXT,
  domainRevision: { type: 'integer', minimum: 1, description: 'Of the domain, when the proposal was made' },
  revision: { type: 'integer', minimum: 1 },
  links: LINKS,
};
const SOMETIMES = ['reason', 'decidedAt', 'executableAt'];

export const PROPOSAL_ANSWER = record('A proposal about a domain', PROPOSAL_FIELDS, SOMETIMES);

export const LISTED_PROPOSAL = record(
  'A proposal in the list of all',
  {
    ...PROPOSAL_FIELDS,
    name: { type: ['string', 'null'], description: 'How the domain is called: `metadata.name`' },
  },
  SOMETIMES,
);

export const VOTED_ANSWER = record(
  'The proposal after the vote, and the ballot',
  {
    ...PROPOSAL_FIELDS,
    ballot: record('The ballot as it counts', {
      did: TEXT,
      power: POWER,
      vote: CHOICE,
      at: { type: 'integer', description: 'Milliseconds since 1970' },
    }),
  },
  SOMETIMES,
);

export const BALLOT = record(
  'A ballot as it was cast; a later one of the same voter takes its place',
  { voter: TEXT, vote: CHOICE, power: POWER, at: TIME, rationale: TEXT },
  ['rationale'],
);

export const VERIFICATION_ANSWER = record('Where the verification of a domain stands', {
  did: { type: 'string', format: 'did' },
  status: { enum: STATUSES },
  entityVerified: { type: 'boolean' },
  revision: { type: 'integer', minimum: 1 },
  proposal: {
    description: 'The proposal that gave the domain its present status',
    oneOf: [PROPOSAL_ANSWER, { type: 'null' }],
  },
  open: { type: 'array', items: PROPOSAL_ANSWER, description: 'Proposals that are not decided' },
  links: LINKS,
});

export const ELIGIBILITY_ANSWER = record('Whether a guarded activity is open to a domain', {
  did: { type: 'string', format: 'did' },
  activity: { enum: ACTIVITIES },
  eligible: { type: 'boolean' },
  reasons: {
    type: 'array',
    description: 'Everything that stands against it',
    items: record('A reason', {
      code: { enum: ['domain-not-verified', 'not-yet-valid', 'expired', 'deactivated', 'ancestor-sanctioned'] },
      message: TEXT,
    }),
  },
});

export const CREDIT_ANSWER: Schema = {
  type: 'object',
  description: 'Credits that were issued, with whatever the issuer said besides',
  required: ['id', 'did', 'amount', 'issuer', 'status', 'issued'],
  properties: {
    id: TEXT,
    did: { type: 'string', format: 'did' },
    amount: { type: 'string', description: 'Decimal' },
    unit: TEXT,
    issuer: TEXT,
    status: { const: 'issued' },
    issued: TIME,
  },
  additionalProperties: true,
};

/** A link that shows the page of a proposal to everyone who has the link. */
export const PAGE_LINK = record('A link to the page of a proposal', {
  url: { type: 'string', format: 'uri-reference' },
  expiresAt: TIME,
  rationales: { type: 'boolean', description: 'Whether the page shows the reasons that voters gave' },
});
