// Metrics of the domain service of this instance: ballots, proposals by state, webhook attempts.

import type { StateValue } from 'xstate';
import type { DeliveryOptions } from '../../lib/domain/feed/delivery.ts';
import type { VerificationOptions } from '../../lib/domain/verification.ts';
import { counter, countsByLabel } from '../telemetry/metrics.ts';

export interface DomainCounts {
  readonly onStep: NonNullable<VerificationOptions['onStep']>;
  readonly onTry: NonNullable<DeliveryOptions['onTry']>;
  /** Lines for Prometheus. */
  metrics(): readonly string[];
}

/** The states of machines/domain-verification.ts that a step can end in. */
const STATES = ['open', 'timelock', 'passed', 'executed', 'rejected', 'withdrawn', 'vetoed', 'invalidated'];

/** Starts at zero. */
export function domainCounts(): DomainCounts {
  let ballots = 0;
  const proposals = countsByLabel('state', STATES);
  const tries = countsByLabel('result', ['delivered', 'failed', 'dead']);
  return {
    onStep: ({ event, from, to }) => {
      if (event === 'CAST') ballots++;
      const state = topState(to);
      if (from === undefined || topState(from) !== state) proposals.add(state);
    },
    onTry: tries.add,
    metrics: () => [
      ...counter('twinline_votes_total', 'Ballots cast.', new Map([['', ballots]])),
      ...counter('twinline_proposals_total', 'Proposals by the state reached.', proposals.samples()),
      ...counter('twinline_webhook_tries_total', 'Delivery attempts by outcome.', tries.samples()),
    ],
  };
}

const topState = (state: StateValue) => (typeof state === 'string' ? state : Object.keys(state)[0]!);
