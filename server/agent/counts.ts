// What the agent service of this instance counts: tokens, runs, frames, revocations. Clients learn none of it.

import type { RunReport } from '../../lib/agent/options.ts';
import type { TokenReason } from '../../lib/delegation/reason.ts';
import { counter, countsByLabel } from '../telemetry/metrics.ts';

export interface AgentCounts {
  /** A token was refused, for a reason of a closed list. */
  refuse(reason: TokenReason | 'missing'): void;
  accept(token: 'invocation' | 'delegation'): void;
  /** A run has ended here. */
  end(report: RunReport): void;
  /** A delegation was revoked here. */
  revoke(): void;
  /** Lines for Prometheus. */
  metrics(): readonly string[];
}

/** Nothing was counted yet. */
export function agentCounts(): AgentCounts {
  const refused = countsByLabel('reason');
  const accepted = countsByLabel('token', ['invocation', 'delegation']);
  const runs = countsByLabel('status', ['finished', 'failed', 'aborted', 'interrupted']);
  const modelTokens = countsByLabel('direction', ['input', 'output']);
  let frames = 0;
  let revocations = 0;
  return {
    refuse: refused.add,
    accept: accepted.add,
    end: ({ status, usage, frames: written }) => {
      runs.add(status);
      frames += written;
      modelTokens.add('input', usage.inputTokens);
      modelTokens.add('output', usage.outputTokens);
    },
    revoke: () => {
      revocations++;
    },
    metrics: () => [
      ...counter('twinline_tokens_accepted_total', 'Tokens accepted.', accepted.samples()),
      ...counter('twinline_tokens_refused_total', 'Tokens refused by the agent service.', refused.samples()),
      ...counter('twinline_agent_runs_ended_total', 'Completed replies by outcome.', runs.samples()),
      ...counter('twinline_model_tokens_total', 'Model tokens, as reported by the model.', modelTokens.samples()),
      ...counter('twinline_agent_frames_total', 'Frames of completed replies.', new Map([['', frames]])),
      ...counter('twinline_revocations_total', 'Delegations revoked.', new Map([['', revocations]])),
    ],
  };
}
