// Counts votes in exact arithmetic: fractions of big integers, no floating point.

import type { ProposalRules, TallyOutcome, Voter } from '../../../machines/proposal.ts';

export type Threshold =
  /** More than half of yes and no. */
  | { readonly kind: 'majority' }
  /** At least this share of yes and no: a fraction such as `0.5` or `2/3`, greater than 0, at most 1. */
  | { readonly kind: 'percent'; readonly value: string }
  /** At least this much power says yes: a whole number in decimal digits, at least 1. */
  | { readonly kind: 'count'; readonly value: string };

/** What a proposal copies when it is made. */
export type VotingRules = ProposalRules & {
  readonly threshold: Threshold;
  /** Share of all power that must vote: a fraction from 0 to 1. */
  readonly quorum: string;
  readonly recuseController: boolean;
};

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
export function resultAtClose(count: Count, rules: VotingRules): TallyOutcome {
  if (!meetsQuorum(count, rules)) return fails('quorum-not-met');
  if (count.cast === 0n) return fails('no-votes');
  if (count.cast === count.abstain) return fails('all-abstained');
  return meetsThreshold(count, rules) ? { kind: 'passes' } : fails('threshold-not-met');
}

/**
 * What no further ballot can change. The worst that can follow for a proposal with a quorum is that all others say no;
 * the best for any is that all others say yes. Where ballots may be changed nothing is certain before the close.
 */
export function resultWhileVoting(count: Count, rules: VotingRules): TallyOutcome {
  if (rules.allowRevoting) return { kind: 'open' };
  const open = count.totalPower - count.cast;
  const worst = { ...count, no: count.no + open, cast: count.totalPower };
  if (meetsQuorum(count, rules) && meetsThreshold(worst, rules)) return { kind: 'passes' };
  const best = { ...count, yes: count.yes + open, cast: count.totalPower };
  return meetsThreshold(best, rules) ? { kind: 'open' } : resultAtClose(best, rules);
}

export function countTally(voters: readonly Voter[], rules: VotingRules): Tally {
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

function meetsQuorum({ cast, totalPower }: Count, { quorum }: VotingRules): boolean {
  return isAtLeast(cast, toFraction(quorum), totalPower);
}

// Without a yes or no there is no total to take a share of.
function meetsThreshold({ yes, no }: Count, { threshold }: VotingRules): boolean {
  const base = yes + no;
  if (base === 0n) return false;
  switch (threshold.kind) {
    case 'majority':
      return isMajority(yes, base);
    case 'percent':
      return isAtLeast(yes, toFraction(threshold.value), base);
    case 'count':
      return yes >= BigInt(threshold.value);
  }
}

// Rules were validated when loaded; an invalid fraction would never be met.
function toFraction(text: string): Fraction {
  return parseFraction(text) ?? { over: 2n, under: 1n };
}

const fails = (reason: RejectionReason): TallyOutcome => ({ kind: 'fails', reason });

/** `over / under`, `under` greater than 0. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

const DECIMAL = /^(\d{1,18})(?:\.(\d{1,18}))?$/;
const QUOTIENT = /^(\d{1,18})\/(\d{1,18})$/;
const POWER = /^(?:0|[1-9]\d{0,38})$/;

/** The greatest power of one voter, and of all together: 2^128 − 1. */
export const POWER_MAX = 2n ** 128n - 1n;

/** The value of `0.5`, `1` or `2/3`, with up to 18 digits on each side; undefined for any other text. */
export function parseFraction(text: string): Fraction | undefined {
  const decimal = DECIMAL.exec(text);
  if (decimal) {
    const [, whole = '', places = ''] = decimal;
    return { over: BigInt(whole + places), under: 10n ** BigInt(places.length) };
  }
  const [, over, under] = QUOTIENT.exec(text) ?? [];
  if (under === undefined || BigInt(under) === 0n) return undefined;
  return { over: BigInt(over!), under: BigInt(under) };
}

/** Whether `part` is at least this fraction of `whole`. */
export function isAtLeast(part: bigint, { over, under }: Fraction, whole: bigint): boolean {
  return part * under >= over * whole;
}

/** Whether `part` is more than half of `whole`. */
function isMajority(part: bigint, whole: bigint): boolean {
  return part * 2n > whole;
}

/** Below, at or above 1. */
export function compareToOne({ over, under }: Fraction): -1 | 0 | 1 {
  return over < under ? -1 : over > under ? 1 : 0;
}

/** A power: whole, not negative, at most {@link POWER_MAX}, without leading zeros; undefined for any other text. */
export function parsePower(text: string): bigint | undefined {
  if (!POWER.test(text)) return undefined;
  const power = BigInt(text);
  return power <= POWER_MAX ? power : undefined;
}
