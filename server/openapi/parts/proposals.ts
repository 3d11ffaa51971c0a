// Proposals, votes, and the activity that they open, as OpenAPI describes them.

import { NEW_CREDIT } from '../../../lib/domain/schema/credits.ts';
import { page } from '../../../lib/domain/schema/twin-answers.ts';
import {
  BALLOT,
  CREDIT_ANSWER,
  ELIGIBILITY_ANSWER,
  GOVERNANCE_ANSWER,
  PAGE_LINK,
  PROPOSAL_ANSWER,
  RULES,
  TALLY,
  VERIFICATION_ANSWER,
  VOTED_ANSWER,
} from '../../../lib/domain/schema/vote-answers.ts';
import { NEW_PROPOSAL, NEW_VOTE, VETO } from '../../../lib/domain/schema/votes.ts';
import type { RouteDescription, RouteGroup } from '../../http/route-table.ts';
import {
  DID,
  domainPart,
  IDEMPOTENCY_KEY,
  IF_NONE_MATCH,
  JSON_TYPE,
  MADE,
  NOT_CHANGED,
  ONCE_PROBLEMS,
  PAGE,
} from './domain-part.ts';

const PROPOSAL_PAGE = page(PROPOSAL_ANSWER, 'A page of proposals, the newest first');
const BALLOT_PAGE = page(BALLOT, 'A page of ballots, the newest first');
const CREDIT_PAGE = page(CREDIT_ANSWER, 'A page of issued credits, the newest first');
const ONE = '/v1/proposals/:id';
const SHOWN = { description: 'The proposal', types: { [JSON_TYPE]: PROPOSAL_ANSWER }, headers: MADE };

export const PROPOSALS_PART: RouteGroup = domainPart({
  tag: 'Verification by vote',
  description: 'Representatives propose, voters decide, verified domains take part.',
  parameters: { did: DID, id: { description: 'The id of a proposal', schema: { type: 'string' } } },
  schemas: {
    NewProposal: NEW_PROPOSAL,
    Proposal: PROPOSAL_ANSWER,
    Rules: RULES,
    Tally: TALLY,
    ProposalPage: PROPOSAL_PAGE,
    NewVote: NEW_VOTE,
    BallotPage: BALLOT_PAGE,
    Voted: VOTED_ANSWER,
    Verification: VERIFICATION_ANSWER,
    Eligibility: ELIGIBILITY_ANSWER,
    NewCredit: NEW_CREDIT,
    Credit: CREDIT_ANSWER,
    CreditPage: CREDIT_PAGE,
    Governance: GOVERNANCE_ANSWER,
    PageLink: PAGE_LINK,
  },
  routes: [
    ...routesOf('/v1/domains/:did', 'Domain'),
    ...routesOf('/v1/entities/:did', 'Entity'),
    {
      method: 'GET',
      path: '/v1/proposals',
      id: 'listProposals',
      summary: 'List the proposals about all domains',
      query: PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: PROPOSAL_PAGE } } },
      problems: ['bad-cursor', 'bad-limit'],
    },
    {
      method: 'GET',
      path: ONE,
      id: 'getProposal',
      summary: 'Read a proposal',
      description:
        'As a page for people when HTML is asked for. A browser, which sends no key, opens the link of `page-link`.',
      query: {
        pass: { description: 'Of a link to the page; then no key is needed', schema: { type: 'string' } },
      },
      headers: IF_NONE_MATCH,
      answers: {
        200: {
          description: 'The proposal. Its ETag, but for the page',
          types: { [JSON_TYPE]: PROPOSAL_ANSWER, 'text/html': { type: 'string' } },
        },
        304: NOT_CHANGED,
        401: {
          description: 'To browsers, a page that says how to come in',
          types: { 'text/html': { type: 'string' } },
          headers: { 'WWW-Authenticate': 'How to come in' },
        },
      },
      problems: ['not-found'],
    },
    {
      method: 'GET',
      path: `${ONE}/page-link`,
      id: 'getProposalPageLink',
      summary: 'A link to the page of a proposal, for a browser',
      description: 'Whoever has the link sees the page, for one hour: give it to those who may.',
      query: {
        rationales: {
          description: 'Whether the page shows the reasons that voters gave',
          schema: { enum: ['hide', 'show'], default: 'hide' },
        },
      },
      answers: { 200: { description: 'The link', types: { [JSON_TYPE]: PAGE_LINK } } },
      problems: ['bad-request', 'not-found'],
    },
    {
      method: 'GET',
      path: `${ONE}/votes`,
      id: 'listVotes',
      summary: 'Every ballot that was ever cast',
      query: PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: BALLOT_PAGE } } },
      problems: ['bad-cursor', 'bad-limit', 'not-found'],
    },
    {
      method: 'POST',
      path: `${ONE}/votes`,
      id: 'vote',
      summary: 'Vote',
      description: 'Role voter, and in the list of voters that the proposal was made with.',
      headers: IDEMPOTENCY_KEY,
      body: { types: { [JSON_TYPE]: NEW_VOTE }, example: { vote: 'yes', rationale: 'I have seen it.' } },
      answers: {
        201: { description: 'The vote counts', types: { [JSON_TYPE]: VOTED_ANSWER }, headers: MADE },
      },
      problems: [
        ...(['role-missing', 'not-eligible-voter', 'recused', 'not-found'] as const),
        ...(['already-voted', 'proposal-not-open', ...ONCE_PROBLEMS] as const),
      ],
    },
    action('withdraw', 'Take back a proposal', 'Role representative, and who made it; or an operator.'),
    action('veto', 'Stop a proposal before it takes effect', 'Role operator.'),
    action('execute', 'Try again to carry out a proposal that has passed', 'Role operator.'),
    {
      method: 'GET',
      path: '/v1/governance/config',
      id: 'getGovernance',
      summary: 'The rules of votes',
      answers: { 200: { description: 'The rules', types: { [JSON_TYPE]: GOVERNANCE_ANSWER } } },
    },
  ],
});

function action(name: 'withdraw' | 'veto' | 'execute', summary: string, description: string): RouteDescription {
  return {
    method: 'POST',
    path: `${ONE}/${name}`,
    id: `${name}Proposal`,
    summary,
    description,
    headers: IDEMPOTENCY_KEY,
    body: { types: { [JSON_TYPE]: VETO }, required: false },
    answers: { 200: SHOWN },
    problems: [
      ...(['role-missing', 'not-found', name === 'execute' ? 'wrong-status' : 'proposal-not-open'] as const),
      ...(name === 'withdraw' ? (['not-proposer'] as const) : []),
      ...ONCE_PROBLEMS,
    ],
  };
}

function routesOf(root: string, noun: 'Domain' | 'Entity'): RouteDescription[] {
  return [
    {
      method: 'POST',
      path: `${root}/proposals`,
      id: `propose${noun}`,
      summary: 'Propose to verify, suspend, reinstate or revoke it',
      description: 'Role representative.',
      headers: IDEMPOTENCY_KEY,
      body: { types: { [JSON_TYPE]: NEW_PROPOSAL }, example: { kind: 'verify' } },
      answers: { 201: { description: 'The vote is open', types: { [JSON_TYPE]: PROPOSAL_ANSWER }, headers: MADE } },
      problems: [
        ...(['role-missing', 'not-representative', 'not-found', 'gone', 'proposal-open', 'wrong-status'] as const),
        ...(['no-electorate', 'package-unchanged', ...ONCE_PROBLEMS] as const),
      ],
    },
    {
      method: 'GET',
      path: `${root}/proposals`,
      id: `list${noun}Proposals`,
      summary: 'The proposals about it',
      query: PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: PROPOSAL_PAGE } } },
      problems: ['bad-cursor', 'bad-limit', 'not-found', 'gone'],
    },
    {
      method: 'GET',
      path: `${root}/verification`,
      id: `get${noun}Verification`,
      summary: 'Where its verification stands',
      answers: { 200: { description: 'Its status', types: { [JSON_TYPE]: VERIFICATION_ANSWER } } },
      problems: ['not-found', 'gone'],
    },
    {
      method: 'GET',
      path: `${root}/eligibility`,
      id: `get${noun}Eligibility`,
      summary: 'Whether it may take part in an activity',
      query: {
        activity: {
          description: 'The activity',
          schema: { enum: ['carbon-credit-issuance'], default: 'carbon-credit-issuance' },
        },
      },
      answers: { 200: { description: 'Whether it may', types: { [JSON_TYPE]: ELIGIBILITY_ANSWER } } },
      problems: ['bad-request', 'not-found', 'gone'],
    },
    {
      method: 'POST',
      path: `${root}/credits`,
      id: `issue${noun}Credits`,
      summary: 'Issue carbon credits',
      description: 'Role issuer. Open to verified domains only.',
      headers: IDEMPOTENCY_KEY,
      body: { types: { [JSON_TYPE]: NEW_CREDIT }, example: { amount: '12.5', unit: 'tCO2e' } },
      answers: { 201: { description: 'They are issued', types: { [JSON_TYPE]: CREDIT_ANSWER } } },
      problems: ['role-missing', 'domain-not-verified', 'not-found', 'gone', ...ONCE_PROBLEMS],
    },
    {
      method: 'GET',
      path: `${root}/credits`,
      id: `list${noun}Credits`,
      summary: 'The credits that were issued',
      query: PAGE,
      answers: { 200: { description: 'A page', types: { [JSON_TYPE]: CREDIT_PAGE } } },
      problems: ['bad-cursor', 'bad-limit', 'not-found', 'gone'],
    },
  ];
}
