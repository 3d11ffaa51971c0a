// Wherever a process dies, and whatever answer of the store is lost: who asks again gets the vote done, once.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { registry } from '../../lib/domain/registry.ts';
import type { VerificationService } from '../../lib/domain/verification.ts';
import type { Governance } from '../../lib/domain/voting/governance.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { numbersFrom } from '../support/random.ts';
import { chooseSize, isShort } from '../support/size.ts';
import { governance, operator, owner, type Polls, polls, rep, voter } from './voting.ts';

const test = suite('verification through crashes');

const LIVES = chooseSize({ short: 60, day: 150, whole: 3_000 });
const P = 'p';
/** Longer than every lease and pause. */
const WHILE = 10_000;
const SLOW = { votingPeriodSeconds: 100_000 };

interface Story {
  readonly rules: Governance;
  /** Each is asked again, with the same words, until it is answered. */
  readonly steps: readonly ((here: Polls, service: VerificationService, did: string) => Promise<unknown>)[];
  readonly status: string;
  readonly state: string;
  readonly domain: readonly string[];
  readonly proposal: readonly string[];
}

type Step = Story['steps'][number];
const propose: Step = (_here, service, did) => service.propose(rep, { did, body: { kind: 'verify' }, id: P });
const cast =
  (name: string, vote: string): Step =>
  (_here, service) =>
    service.vote(voter(name), { id: P, body: { vote }, key: `${name} votes` });
const pause =
  (ms: number): Step =>
  ({ clock }, service) =>
    clock.advance(ms).then(() => service.sweep());

const STORIES: { readonly [name: string]: Story } = {
  'a vote that passes': {
    rules: governance({ ann: 1, bob: 1, cid: 1 }, SLOW),
    steps: [propose, cast('ann', 'yes'), cast('bob', 'yes')],
    status: 'Verified',
    state: 'executed',
    domain: ['domain.created', 'domain.updated', 'domain.verified'],
    proposal: ['proposal.opened', 'vote.cast', 'vote.cast', 'proposal.passed', 'proposal.executed'],
  },
  'a vote that fails': {
    rules: governance({ ann: 1, bob: 1, cid: 1 }, SLOW),
    steps: [propose, cast('ann', 'no'), cast('bob', 'no')],
    status: 'Rejected',
    state: 'rejected',
    domain: ['domain.created', 'domain.updated', 'domain.updated'],
    proposal: ['proposal.opened', 'vote.cast', 'vote.cast', 'proposal.rejected'],
  },
  'a timelock': {
    rules: governance({ ann: 1 }, { ...SLOW, timelockSeconds: 50 }),
    steps: [propose, cast('ann', 'yes'), pause(50_000)],
    status: 'Verified',
    state: 'executed',
    domain: ['domain.created', 'domain.updated', 'domain.verified'],
    proposal: ['proposal.opened', 'vote.cast', 'proposal.timelock', 'proposal.passed', 'proposal.executed'],
  },
  'a vote that nobody takes part in': {
    rules: governance({ ann: 1 }, { votingPeriodSeconds: 1_000 }),
    steps: [propose, pause(1_000_000)],
    status: 'Rejected',
    state: 'rejected',
    domain: ['domain.created', 'domain.updated', 'domain.updated'],
    proposal: ['proposal.opened', 'proposal.rejected'],
  },
  'a withdrawal': {
    rules: governance({ ann: 1 }, SLOW),
    steps: [propose, (_here, service) => service.withdraw(rep, { id: P, key: 'w' })],
    status: 'Created',
    state: 'withdrawn',
    domain: ['domain.created', 'domain.updated', 'domain.updated'],
    proposal: ['proposal.opened', 'proposal.withdrawn'],
  },
  'a veto': {
    rules: governance({ ann: 1 }, { ...SLOW, timelockSeconds: 50_000 }),
    steps: [propose, cast('ann', 'yes'), (_here, service) => service.veto(operator, { id: P, key: 'v' })],
    status: 'Created',
    state: 'vetoed',
    domain: ['domain.created', 'domain.updated', 'domain.updated'],
    proposal: ['proposal.opened', 'vote.cast', 'proposal.timelock', 'proposal.vetoed'],
  },
  // Of a change the process that made it dies before it tells the vote: whoever comes by next notices.
  'a change that nobody tells': {
    rules: governance({ ann: 1 }, SLOW),
    steps: [
      propose,
      ({ twins }, _service, did) => transferSilently(twins, did),
      (_here, service) => service.get(rep, P),
    ],
    status: 'Created',
    state: 'invalidated',
    domain: ['domain.created', 'domain.updated', 'domain.updated', 'domain.updated'],
    proposal: ['proposal.opened', 'proposal.invalidated'],
  },
};

async function transferSilently(twins: Polls['twins'], did: string): Promise<void> {
  const { body } = await twins.get(owner, did);
  if (body.controllers.length === 1)
    await twins.transfer(owner, { did, body: { controller: [owner.principal, rep.principal] } });
}

/** What a process sees of the store until it dies: `calls` more answers, and perhaps one write that is never answered. */
function mortal(documents: DocumentStore, { calls, lastWrite }: { calls: number; lastWrite: boolean }) {
  let left = calls;
  let die = () => {};
  const death = new Promise<'dead'>((resolve) => {
    die = () => resolve('dead');
  });
  const living =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (left-- > 0) return call(...args);
      if (left === -1 && lastWrite) await call(...args).catch(() => {});
      die();
      return new Promise<R>(() => {});
    };
  const { insert, get, replace, find } = documents;
  const store = {
    ...documents,
    insert: living(insert),
    get: living(get),
    replace: living(replace),
    find: living(find),
  } as DocumentStore;
  return { store, death, isAlive: () => left >= 0 };
}

/** Lives the story with processes that die after so many calls each; how many died. */
async function live(story: Story, lives: Iterator<number>, lastWrite: boolean): Promise<number> {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  // A process of its own makes the domain, and its changes tell nobody.
  const here = await polls(documents, clock, { rules: story.rules });
  const quiet = { ...here, twins: registry({ documents, clock }) };
  const did = await here.domain();
  const process = () => {
    const body = mortal(documents, { calls: lives.next().value ?? Number.POSITIVE_INFINITY, lastWrite });
    return { ...body, service: here.again({ documents: body.store }) };
  };
  let deaths = 0;
  let current = process();
  for (const step of story.steps)
    for (let done = false; !done; ) {
      const outcome = await Promise.race([step(quiet, current.service, did), current.death]);
      done = outcome !== 'dead' && current.isAlive();
      if (outcome !== 'dead') continue;
      deaths++;
      current = process();
      await clock.advance(WHILE);
    }
  // The last step may have left something to a process that comes by later.
  const last = here.again();
  await clock.advance(WHILE);
  await last.sweep();
  assert.is(await last.sweep(), 0, 'nothing is due any more');
  assert.equal((await here.stored(did)).status, story.status);
  assert.is((await last.get(rep, P)).state, story.state);
  assert.equal((await last.get(rep, P)).calling, []);
  assert.equal(await here.events('domain', did), story.domain);
  assert.equal(await here.events('proposal', P), story.proposal);
  return deaths;
}

for (const [at, [name, story]] of Object.entries(STORIES).entries())
  for (const lastWrite of isShort ? [at % 2 === 0] : [false, true])
    test(`${name}: a process dies at every call of the store, ${lastWrite ? 'whose answer is lost' : 'before it'}`, async () => {
      let calls = 0;
      for (let deaths = 1; deaths > 0; calls++) deaths = await live(story, [calls].values(), lastWrite);
      assert.ok(calls > 6, `${calls} calls`);
    });

test('processes that die again and again, at calls that chance picks', async () => {
  let deaths = 0;
  for (let seed = 1; seed <= LIVES; seed++) {
    const random = numbersFrom(seed);
    const story = Object.values(STORIES)[seed % Object.keys(STORIES).length]!;
    const lives = Array.from({ length: 8 }, () => Math.floor(random() * 14)).values();
    deaths += await live(story, lives, random() < 0.5);
  }
  assert.ok(deaths > 3 * LIVES, `${deaths} deaths`);
});

test.run();
