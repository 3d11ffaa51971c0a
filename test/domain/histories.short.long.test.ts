// Proposals through random histories: whatever comes in whatever order, the machine keeps its promises.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AnyMachineSnapshot, EventObject } from 'xstate';
import {
  countVotes,
  resultAtClose,
  resultWhileVoting,
  type Threshold,
  type VotingRules,
} from '../../lib/domain/voting/tally.ts';
import { firstStep, type LifecycleRecord, nextStep, type Stepped } from '../../lib/engine/lifecycle/record.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { domainVerification } from '../../machines/domain-verification.ts';
import { type Choice, PROPOSAL_STATES, type ProposalContext } from '../../machines/proposal.ts';
import { numbersFrom } from '../support/random.ts';
import { chooseSize } from '../support/size.ts';

const test = suite('histories of proposals');

const HISTORIES = chooseSize({ short: 600, day: 3_000, whole: 30_000 });
const EVENTS = 12;
const T0 = 1_700_000_000_000;
const FINAL = new Set(['executed', 'rejected', 'withdrawn', 'vetoed', 'invalidated']);
/** From where each state is entered. */
const WAYS: { readonly [to: string]: readonly string[] } = {
  timelock: ['open'],
  passed: ['open', 'timelock', 'execution_failed'],
  executed: ['passed'],
  execution_failed: ['passed'],
  rejected: ['open'],
  withdrawn: ['open'],
  vetoed: ['open', 'timelock', 'execution_failed'],
  invalidated: ['open', 'timelock', 'passed', 'execution_failed'],
};

const machine = compileMachine(
  domainVerification({
    outcome: ({ voters, rules }, when) =>
      (when === 'close' ? resultAtClose : resultWhileVoting)(countVotes(voters), rules as VotingRules),
  }),
);
const options = (at: number) => ({ machine, id: 'p', at, leaseUntil: () => at + 1_000 });

type Random = () => number;
type Context = ProposalContext<VotingRules>;
const contextOf = ({ rest }: LifecycleRecord) => rest.context as unknown as Context;
const plain = (value: unknown) => JSON.stringify(value);
const ballotsOf = (context: Context) => context.voters.map(({ vote, at }) => (vote ? `${vote} ${at}` : ''));
const powersOf = (context: Context) => context.voters.map(({ did, power }) => `${did} ${power}`).join();

test(`${HISTORIES} of them: restored equals live, ends are ends, no ballot is lost, late or a stranger's`, () => {
  const entered = new Map<string, number>();
  for (let seed = 1; seed <= HISTORIES; seed++) {
    try {
      entered.set('', (entered.get('') ?? 0) + history(numbersFrom(seed), entered));
    } catch (error) {
      (error as Error).message += ` (history ${seed})`;
      throw error;
    }
  }
  // Otherwise the histories would show nothing.
  for (const state of PROPOSAL_STATES)
    assert.ok((entered.get(state) ?? 0) > HISTORIES / 100, `${state}: ${entered.get(state)}`);
});

/** Lives one history; how many events were taken. */
function history(random: Random, entered: Map<string, number>): number {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const input = inputOf(random, pick);
  const live = { snapshot: machine.begin({ ...input, at: T0 } as JsonObject).live };
  let record = firstStep(input, options(T0)).record;
  let restored = JSON.parse(plain(record)) as LifecycleRecord;
  let taken = 0;
  const give = (event: EventObject, at: number) => {
    const before = restored;
    const stepped = nextStep(before, event, options(at));
    follow(live, event, at);
    if (stepped) taken++;
    record = withoutAnswered(stepped?.record ?? { ...before }, event);
    const stored = plain(record);
    restored = JSON.parse(stored);
    assert.ok(stored.includes(plain(machine.rest(live.snapshot))), `restored is not live after ${event.type}`);
    keeps({ before, after: record, event, at, stepped });
    if (record.rest.state !== before.rest.state) count(entered, record.rest.state as string);
  };
  let at = T0;
  count(entered, record.rest.state as string);
  // Two more events show that an end is one.
  for (let left = EVENTS; left > 0; left = FINAL.has(record.rest.state as string) ? Math.min(left - 1, 2) : left - 1) {
    at += pick([0, 1, 999, 1_000, 5_000]);
    for (let timer = record.timers[0]; timer && timer.at <= at; timer = record.timers[0]) {
      restored = { ...restored, timers: restored.timers.slice(1) };
      give(timer.event, timer.at);
    }
    give(eventOf(random, pick, record), at);
  }
  return taken;
}

function follow(live: { snapshot: AnyMachineSnapshot }, event: EventObject, at: number): void {
  live.snapshot = machine.step(live.snapshot, { ...event, at } as EventObject).live;
}

// As the lifecycle does once an answer has been given.
function withoutAnswered(record: LifecycleRecord, { type }: EventObject): LifecycleRecord {
  const id = /^xstate\.(?:done|error)\.actor\.(.*)$/.exec(type)?.[1];
  return id === undefined ? record : { ...record, calls: record.calls.filter((call) => call.id !== id) };
}

interface Taken {
  readonly before: LifecycleRecord;
  readonly after: LifecycleRecord;
  readonly event: EventObject;
  readonly at: number;
  readonly stepped: Stepped | undefined;
}

function keeps({ before, after, event, at, stepped }: Taken): void {
  const [from, to] = [before.rest.state as string, after.rest.state as string];
  assert.ok((PROPOSAL_STATES as readonly string[]).includes(to), `${to} is passed through, not kept`);
  if (FINAL.has(from)) assert.is(to, from, 'an end is left');
  if (from !== to) assert.ok(WAYS[to]!.includes(from), `${from} → ${to}`);
  const [cast, castBefore] = [ballotsOf(contextOf(after)), ballotsOf(contextOf(before))];
  assert.ok(
    castBefore.every((ballot, i) => ballot === '' || cast[i] !== ''),
    'a ballot is lost',
  );
  const changed = cast.filter((ballot, i) => ballot !== castBefore[i]).length;
  const { rules, voters, closesAt, openedAt } = contextOf(after);
  assert.ok(changed <= 1 && cast.length === castBefore.length);
  if (changed) assert.ok(event.type === 'CAST' && from === 'open' && at < closesAt, 'a ballot that nobody could cast');
  if (changed && !rules.allowRevoting) assert.ok(castBefore[cast.findIndex((one, i) => one !== castBefore[i])] === '');
  if (rules.allowRevoting && to !== from && from === 'open' && ['passed', 'timelock', 'rejected'].includes(to))
    assert.ok(at >= closesAt, 'decided early where votes may be changed');
  assert.is(powersOf(contextOf(after)), powersOf(contextOf(before)));
  const sums = countVotes(voters);
  assert.ok(sums.cast <= sums.totalPower);
  assert.is(closesAt - openedAt, rules.votingPeriodSeconds * 1_000);
  if (to === 'timelock' && from === 'open') assert.is(after.timers[0]!.at, contextOf(after).passesAt);
  const told = stepped?.facts.filter(({ type }) => type === `proposal.${to}`).length ?? 0;
  assert.is(
    told,
    from !== to && !(from === 'execution_failed' && to === 'passed') ? 1 : 0,
    `${to} is told ${told} times`,
  );
}

const THRESHOLDS: readonly Threshold[] = [
  { kind: 'majority' },
  { kind: 'percent', value: '0.5' },
  { kind: 'percent', value: '2/3' },
  { kind: 'count', value: '2' },
];

type Pick = <T>(list: readonly T[]) => T;

function inputOf(random: Random, pick: Pick): JsonObject {
  const rules: VotingRules = {
    threshold: pick(THRESHOLDS),
    quorum: pick(['0', '0.2', '0.6']),
    votingPeriodSeconds: pick([1, 5, 20]),
    allowRevoting: random() < 0.3,
    timelockSeconds: pick([0, 0, 3]),
    recuseController: false,
  };
  const voters = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, i) => ({
    did: `v${i}`,
    power: pick(['1', '2', '5']),
  }));
  return {
    kind: 'verify',
    subject: 's',
    hash: 'h',
    packageHash: 'p',
    subjectRevision: 1,
    proposer: 'r',
    rules,
    voters,
  } as unknown as JsonObject;
}

function eventOf(random: Random, pick: Pick, { calls }: LifecycleRecord): EventObject {
  const call = calls[0];
  if (call && random() < 0.4) return answerOf(random, call.id);
  if (random() < 0.85) {
    const voter = pick(['v0', 'v0', 'v1', 'v1', 'v2', 'v3', 'stranger']);
    return { type: 'CAST', voter, vote: pick<Choice>(['yes', 'yes', 'no', 'abstain']) } as EventObject;
  }
  const type = pick(['WITHDRAW', 'VETO', 'SUBJECT_CHANGED', 'EXECUTE', 'EXECUTE', 'EXECUTE', 'NONSENSE']);
  return { type, reason: 'because' } as EventObject;
}

function answerOf(random: Random, actorId: string): EventObject {
  const is = random();
  if (is < 0.2) return { type: `xstate.error.actor.${actorId}`, actorId, error: { code: 'ERR_STORE' } } as EventObject;
  const output = is < 0.3 ? { changed: 'domain-changed' } : {};
  return { type: `xstate.done.actor.${actorId}`, actorId, output } as EventObject;
}

function count(entered: Map<string, number>, state: string): void {
  entered.set(state, (entered.get(state) ?? 0) + 1);
}

test.run();
