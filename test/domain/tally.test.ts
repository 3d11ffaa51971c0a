// Counting is exact and certain: whatever is decided early is what every continuation would have decided.

import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  compareToOne,
  countTally,
  countVotes,
  isAtLeast,
  POWER_MAX,
  parseFraction,
  parsePower,
  resultAtClose,
  resultWhileVoting,
  type Threshold,
  type VotingRules,
} from '../../lib/domain/voting/tally.ts';
import type { Choice, Voter } from '../../machines/proposal.ts';
import { fixture } from '../support/fixture.ts';

const test = suite('tally');
const RUNS = { numRuns: 3_000 };

const base = { votingPeriodSeconds: 1, allowRevoting: false, timelockSeconds: 0, recuseController: false };
const rulesOf = (threshold: Threshold, quorum = '0'): VotingRules => ({ ...base, threshold, quorum });

const choice = fc.constantFrom<Choice>('yes', 'no', 'abstain');
const share = fc.integer({ min: 1, max: 100 }).map((percent) => String(percent / 100));
const shares: fc.Arbitrary<Threshold> = fc.oneof(
  fc.constant<Threshold>({ kind: 'majority' }),
  share.map((value): Threshold => ({ kind: 'percent', value })),
  fc.constantFrom('1/3', '2/3').map((value): Threshold => ({ kind: 'percent', value })),
);
const thresholds = fc.oneof(
  shares,
  fc.integer({ min: 1, max: 12 }).map((n): Threshold => ({ kind: 'count', value: String(n) })),
);
const quorums = fc.oneof(fc.constant('0'), share, fc.constant('1/3'));
const rules = fc.tuple(thresholds, quorums).map(([threshold, quorum]) => rulesOf(threshold, quorum));
const powers = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 });
const electorate = powers.chain((list) =>
  fc
    .array(fc.option(choice, { nil: undefined }), { minLength: list.length, maxLength: list.length })
    .map((votes) => votersOf(list, votes)),
);

function votersOf(list: readonly number[], votes: readonly (Choice | undefined)[]): Voter[] {
  return list.map((power, at) => ({ did: `did:a:${at}`, power: String(power), ...(votes[at] && { vote: votes[at] }) }));
}

const atClose = (voters: readonly Voter[], by: VotingRules) => resultAtClose(countVotes(voters), by).kind;
const now = (voters: readonly Voter[], by: VotingRules) => resultWhileVoting(countVotes(voters), by).kind;

/** Every way in which the voters who have not voted may vote, or not. */
function* continuations(voters: readonly Voter[]): Iterable<Voter[]> {
  const at = voters.findIndex(({ vote, did }) => vote === undefined && !did.endsWith('!'));
  if (at < 0) {
    yield [...voters];
    return;
  }
  const { vote: _, ...silent } = voters[at]!;
  for (const vote of ['yes', 'no', 'abstain'] as const) yield* continuations(voters.with(at, { ...silent, vote }));
  yield* continuations(voters.with(at, { ...silent, did: `${silent.did}!` }));
}

test('what is decided early is what every continuation decides, and nothing certain is left open', () => {
  void fc.assert(
    fc.property(electorate, rules, (voters, by) => {
      const ends = new Set([...continuations(voters)].map((all) => atClose(all, by)));
      assert.is(now(voters, by), ends.size > 1 ? 'open' : [...ends][0]);
    }),
    { numRuns: 1_500 },
  );
});

test('with changeable votes nothing is decided before the close', () => {
  void fc.assert(
    fc.property(electorate, rules, (voters, by) => assert.is(now(voters, { ...by, allowRevoting: true }), 'open')),
    RUNS,
  );
});

/** The same in small numbers: who passes at the close. */
function countSmall(voters: readonly Voter[], { threshold, quorum }: VotingRules): 'passes' | 'fails' {
  const of = (...votes: (Choice | undefined)[]) =>
    voters.filter(({ vote }) => votes.includes(vote)).reduce((sum, { power }) => sum + Number(power), 0);
  const isShare = (part: number, text: string, whole: number) => {
    const [over, under = 100] = text.includes('/') ? text.split('/').map(Number) : [Math.round(Number(text) * 100)];
    return part * under >= over! * whole;
  };
  const [yes, no] = [of('yes'), of('no')];
  const isEnough = {
    majority: () => yes > no,
    percent: () => isShare(yes, (threshold as { value: string }).value, yes + no),
    count: () => yes >= Number((threshold as { value: string }).value),
  }[threshold.kind]();
  const hasQuorum = isShare(of('yes', 'no', 'abstain'), quorum, of('yes', 'no', 'abstain', undefined));
  return yes + no > 0 && isEnough && hasQuorum ? 'passes' : 'fails';
}

test('the result is what small numbers say, in any order of the voters, and with powers 10²⁴ times greater', () => {
  void fc.assert(
    fc.property(electorate, rules, (voters, by) => {
      const expected = countSmall(voters, by);
      assert.equal([atClose(voters, by), atClose(voters.toReversed(), by)], [expected, expected]);
      if (by.threshold.kind === 'count') return;
      const great = voters.map((voter) => ({ ...voter, power: `${voter.power}${'0'.repeat(24)}` }));
      assert.equal([atClose(great, by), now(great, by)], [expected, now(voters, by)]);
    }),
    RUNS,
  );
});

// Nobody may take the opposite for a rule: a no can make the quorum that a yes needs.
test('one more no can turn a rejection into a pass, where it makes the quorum', () => {
  const by = rulesOf({ kind: 'majority' }, '0.56');
  const alone = votersOf([5, 4], ['yes', undefined]);
  const opposed = votersOf([5, 4], ['yes', 'no']);
  assert.equal([atClose(alone, by), atClose(opposed, by)], ['fails', 'passes']);
  assert.is(now(alone, by), 'open');
});

test('reasons say what was missing, the quorum first', () => {
  const reasons = (votes: (Choice | undefined)[], quorum: string) => {
    const result = resultAtClose(countVotes(votersOf([1, 1, 1], votes)), rulesOf({ kind: 'majority' }, quorum));
    return result.kind === 'fails' ? result.reason : result.kind;
  };
  assert.is(reasons([], '0.2'), 'quorum-not-met');
  assert.is(reasons([], '0'), 'no-votes');
  assert.is(reasons(['abstain'], '0.2'), 'all-abstained');
  assert.is(reasons(['yes', 'no'], '0.2'), 'threshold-not-met');
  assert.is(reasons(['yes'], '1'), 'quorum-not-met');
  assert.is(reasons(['yes', 'abstain', 'abstain'], '1'), 'passes');
});

test('what floating point would get wrong is counted exactly: every percentage of every total', () => {
  for (let percent = 1; percent <= 100; percent++)
    for (let total = 1; total <= 400; total++) {
      const needed = Math.ceil((percent * total) / 100);
      const share = parseFraction((percent / 100).toFixed(2))!;
      assert.ok(
        isAtLeast(BigInt(needed), share, BigInt(total)) && !isAtLeast(BigInt(needed - 1), share, BigInt(total)),
        `${percent}% of ${total}`,
      );
    }
  const by = rulesOf({ kind: 'percent', value: '0.29' });
  const count = (n: number) => votersOf([n, 100 - n], ['yes', 'no']);
  assert.equal([atClose(count(29), by), atClose(count(28), by)], ['passes', 'fails']);
});

test('a tally says what was cast, in digits, and whether it makes the quorum', () => {
  const voters = votersOf([5, 4, 3, 2], ['yes', 'no', 'abstain', undefined]);
  const sums = { yes: '5', no: '4', abstain: '3', cast: '12', totalPower: '14' };
  assert.equal(countTally(voters, rulesOf({ kind: 'majority' }, '6/7')), { ...sums, quorumMet: true });
  assert.equal(countTally(voters, rulesOf({ kind: 'majority' }, '0.9')), { ...sums, quorumMet: false });
});

test('a rule that is no fraction is never met', () => {
  const all = votersOf([1], ['yes']);
  assert.is(atClose(all, rulesOf({ kind: 'majority' }, 'half')), 'fails');
  assert.is(atClose(all, rulesOf({ kind: 'percent', value: 'half' })), 'fails');
});

test('the greatest power fills 128 bits', () => assert.is(POWER_MAX, 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_ffffn));

test('a fraction is below, at or above one', () => {
  const compared = [99n, 100n, 101n].map((over) => compareToOne({ over, under: 100n }));
  assert.equal(compared, [-1, 0, 1]);
});

test('fractions and powers are read exactly or not at all', () => {
  const good: [string, bigint, bigint][] = [
    ['0', 0n, 1n],
    ['1', 1n, 1n],
    ['0.20', 20n, 100n],
    ['2/3', 2n, 3n],
    ['12.5', 125n, 10n],
    ['12/34', 12n, 34n],
    ['0.000000000000000001', 1n, 10n ** 18n],
  ];
  for (const [text, over, under] of good) assert.equal(parseFraction(text), { over, under }, text);
  for (const text of fixture<string[]>('domain/no-fractions.json')) assert.is(parseFraction(text), undefined, text);
  assert.is(parsePower(String(POWER_MAX)), POWER_MAX);
  for (const text of [String(POWER_MAX + 1n), '01', '-1', '1.0', '1e3', '', ' 1', '1'.repeat(60)])
    assert.is(parsePower(text), undefined, text);
});

test.run();
