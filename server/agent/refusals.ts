// How often tokens were refused, and why: clients are told neither.

import type { TokenReason } from '../../lib/delegation/reason.ts';
import { counter } from '../health/metrics.ts';

export interface RefusedTokens {
  add(reason: TokenReason | 'missing'): void;
  /** Lines for Prometheus. */
  metrics(): string[];
}

/** Counts by reason, of which there is a closed list. */
export function countRefusedTokens(): RefusedTokens {
  const counts = new Map<string, number>();
  return {
    add(reason) {
      const labels = `reason="${reason}"`;
      counts.set(labels, (counts.get(labels) ?? 0) + 1);
    },
    metrics: () => counter('twinline_tokens_refused_total', 'Tokens of the agent service that were refused.', counts),
  };
}
