// What a proposal is made of: its states, voters, rules, context, events, and the tally that lib provides.

/** The states of a proposal. */
export const PROPOSAL_STATES = [
  'open',
  'timelock',
  'passed',
  'executed',
  'execution_failed',
  'rejected',
  'withdrawn',
  'vetoed',
  'invalidated',
] as const;
/** One of `PROPOSAL_STATES`. */
export type ProposalState = (typeof PROPOSAL_STATES)[number];

/** What a ballot may say. */
export type Choice = 'yes' | 'no' | 'abstain';

/** Who may vote, with what power, and what they voted; one ballot each. */
export type Voter = {
  readonly did: string;
  /** A whole number in decimal digits, greater than 0. */
  readonly power: string;
  readonly vote?: Choice;
  /** Milliseconds since 1970. */
  readonly at?: number;
};

/** What the machine itself must know of the rules; {@link Tally} knows the rest. */
export type ProposalRules = {
  readonly votingPeriodSeconds: number;
  readonly allowRevoting: boolean;
  readonly timelockSeconds: number;
};

/** Times are milliseconds since 1970. */
export type ProposalContext<Rules extends ProposalRules = ProposalRules> = {
  readonly kind: string;
  /** The DID of the domain. */
  readonly subject: string;
  /** Of what is material about the domain, as it was when the proposal was made. */
  readonly hash: string;
  /** And with the package that came with the proposal. */
  readonly packageHash: string;
  /** The domain's, when the proposal was made. */
  readonly subjectRevision: number;
  readonly proposer: string;
  readonly rules: Rules;
  readonly voters: readonly Voter[];
  readonly openedAt: number;
  readonly closesAt: number;
  readonly decidedAt?: number;
  /** When it passes, after a timelock. */
  readonly passesAt?: number;
  /** Why it was rejected, vetoed or invalidated, or why the execution failed. */
  readonly reason?: string;
};

/** What a proposal begins with, copied. `at`: milliseconds since 1970. */
export type ProposalInput = Omit<ProposalContext, 'openedAt' | 'closesAt'> & {
  readonly at: number;
};

/** What the count of a proposal's ballots comes to. */
export type TallyOutcome = { readonly kind: 'passes' | 'open' } | { readonly kind: 'fails'; readonly reason: string };

/** What lib provides once at start. */
export interface Tally {
  /** What the ballots amount to: while more may come only what no further ballot can change, at the close the result. */
  outcome(context: ProposalContext, when: 'voting' | 'close'): TallyOutcome;
}

/** A ballot that is cast. */
export type CastEvent = {
  readonly type: 'CAST';
  readonly voter: string;
  readonly vote: Choice;
  readonly rationale?: string;
};

/** What moves a proposal. */
export type ProposalEvent =
  | CastEvent
  | { readonly type: 'WITHDRAW' | 'EXECUTE' }
  | { readonly type: 'VETO' | 'SUBJECT_CHANGED'; readonly reason?: string };
