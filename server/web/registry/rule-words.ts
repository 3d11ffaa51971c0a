// The rules and the state of a vote as sentences.

import type { ProposalKind } from '../../../lib/domain/voting/proposal.ts';
import type { VotingRules } from '../../../lib/domain/voting/tally.ts';
import type { ProposalState } from '../../../machines/proposal.ts';
import { formatSpan } from '../kit/time-words.ts';
import { formatFraction, parsePercent } from './tally-chart.ts';

/** What a proposal of each kind would do. */
export const KIND_WORDS: { readonly [Kind in ProposalKind]: string } = {
  verify: 'Verify',
  suspend: 'Suspend',
  reinstate: 'Reinstate',
  revoke: 'Revoke',
};

export const STATE_WORDS: { readonly [State in ProposalState]: { readonly badge: string; readonly means: string } } = {
  open: { badge: 'Open', means: 'Votes can be cast.' },
  timelock: {
    badge: 'Passed, waiting',
    means: 'It has passed and takes effect after a wait, unless an operator stops it.',
  },
  passed: { badge: 'Passed', means: 'It has passed and is being carried out.' },
  executed: { badge: 'Carried out', means: 'It has passed and has taken effect.' },
  execution_failed: { badge: 'Not carried out yet', means: 'It has passed, but could not be carried out so far.' },
  rejected: { badge: 'Rejected', means: 'It was voted down, or too few voted.' },
  withdrawn: { badge: 'Withdrawn', means: 'The proposer withdrew it.' },
  vetoed: { badge: 'Vetoed', means: 'An operator has stopped it.' },
  invalidated: { badge: 'No longer valid', means: 'The domain changed during the vote.' },
};

const REASON_WORDS: { readonly [reason: string]: string } = {
  'quorum-not-met': 'Too few took part.',
  'no-votes': 'Nobody voted.',
  'all-abstained': 'All voters abstained.',
  'threshold-not-met': 'Too few voted yes.',
  'domain-changed': 'The domain has changed since the proposal.',
  'domain-deactivated': 'The domain was deactivated.',
  'status-changed': 'The status of the domain has changed since the proposal.',
  vetoed: '',
};

/** A reason code as a sentence; a reason that a person wrote, unchanged. */
export function describeReason(reason: string): string {
  return Object.hasOwn(REASON_WORDS, reason) ? REASON_WORDS[reason]! : reason;
}

/** The rules, one sentence each. */
export function describeRules(rules: VotingRules): string[] {
  const { quorum, votingPeriodSeconds, allowRevoting, timelockSeconds, recuseController } = rules;
  return [
    describeThreshold(rules),
    parsePercent(quorum) > 0
      ? `At least ${formatFraction(quorum)} of all voting power must take part; abstentions count as taking part.`
      : 'There is no quorum.',
    `The vote is open for ${formatSpan(votingPeriodSeconds)}.`,
    allowRevoting
      ? 'Voters may change their vote until it closes, so nothing is decided before.'
      : 'A vote cannot be changed. The vote ends early when the votes still missing cannot change the result.',
    timelockSeconds > 0
      ? `What has passed takes effect after ${formatSpan(timelockSeconds)}; until then an operator can stop it.`
      : 'What has passed takes effect at once.',
    ...(recuseController ? ['The controller of the domain does not vote.'] : []),
  ];
}

function describeThreshold({ threshold }: VotingRules): string {
  switch (threshold.kind) {
    case 'majority':
      return 'More than half of the yes and no votes must say yes; a tie is a rejection.';
    case 'percent':
      return `At least ${formatFraction(threshold.value)} of the yes and no votes must say yes.`;
    case 'count':
      return `A voting power of at least ${threshold.value} must say yes, however many say no.`;
  }
}
