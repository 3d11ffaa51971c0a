// Counting: what the ballots of a proposal amount to, now and at the close. Pure and exact.

import type { Outcome, Voter } from '../../../machines/proposal.ts';
import { type Fraction, isAtLeast, isMajority, parseFraction } from './fraction.ts';
import type { Rules } from './governance.ts';

/** Sums of powers. */
export interface Count {
  readonly yes: bigint;
  readonly no: bigint;
  readonly abstain: bigint;
  readonly cast: bigint;
  readonly totalPower: bigint;
}

/** A tally as clients read it: powers in decimal digits. */
export type Tally = {
  readonly yes: string;
  readonly no: string;
  readonly abstain: string;
  readonly cast: string;
  readonly totalPower: string;
  /** The ballots cast so far make the quorum. */
  readonly quorumMet: boolean;
};

export type RejectionReason = 'quorum-not-met' | 'no-votes' | 'all-abstained' | 'threshold-not-met';

export function countVotes(voters: readonly Voter[]): Count {
  const sums = { yes: 0n, no: 0n, abstain: 0n };
  let totalPower = 0n;
  for (const { power, vote } of voters) {
    const value = BigInt(power);
    totalPower += value;
    if (vote) sums[vote] += value;
  }
  return { ...sums, cast: sums.yes + sums.no + sums.abstain, totalPower };
}

/** The result if nothing more is cast: threshold over yes against yes and no, quorum over everything cast. */
export function resultAtClose(count: Count, rules: Rules): Outcome {
  if (!meetsQuorum(count, rules)) return fails('quorum-not-met');
  if (count.cast === 0n) return fails('no-votes');
  if (count.cast === count.abstain) return fails('all-abstained');
  return meetsThreshold(count, rules) ? { kind: 'passes' } : fails('threshold-not-met');
}

/**
 * What no further ballot can change. The worst that can follow for a proposal with a quorum is that all others say no;
 * the best for any is that all others say yes. Where ballots may be changed nothing is certain before the close.
 */
export function resultWhileVoting(count: Count, rules: Rules): Outcome {
  if (rules.allowRevoting) return { kind: 'open' };
  const open = count.totalPower - count.cast;
  const worst = { ...count, no: count.no + open, cast: count.totalPower };
  if (meetsQuorum(count, rules) && meetsThreshold(worst, rules)) return { kind: 'passes' };
  const best = { ...count, yes: count.yes + open, cast: count.totalPower };
  return meetsThreshold(best, rules) ? { kind: 'open' } : resultAtClose(best, rules);
}

export function tallyOf(voters: readonly Voter[], rules: Rules): Tally {
  const count = countVotes(voters);
  const { yes, no, abstain, cast, totalPower } = count;
  return {
    yes: String(yes),
    no: String(no),
    abstain: String(abstain),
    cast: String(cast),
    totalPower: String(totalPower),
    quorumMet: meetsQuorum(count, rules),
  };
}

function meetsQuorum({ cast, totalPower }: Count, { quorum }: Rules): boolean {
  return isAtLeast(cast, fractionOf(quorum), totalPower);
}

// Without a yes or a no there is nothing that a share of could be enough.
function meetsThreshold({ yes, no }: Count, { threshold }: Rules): boolean {
  const base = yes + no;
  if (base === 0n) return false;
  switch (threshold.kind) {
    case 'majority':
      return isMajority(yes, base);
    case 'percent':
      return isAtLeast(yes, fractionOf(threshold.value), base);
    case 'count':
      return yes >= BigInt(threshold.value);
  }
}

// Rules are checked when they are read, so a text that is no fraction cannot come here; it would never be met.
function fractionOf(text: string): Fraction {
  return parseFraction(text) ?? { over: 2n, under: 1n };
}

const fails = (reason: RejectionReason): Outcome => ({ kind: 'fails', reason });
