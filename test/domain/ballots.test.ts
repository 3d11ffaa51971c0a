// What is said to those who may not act on a proposal, what repeats of an action are, and who is faster.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { readRevisions } from '../../lib/domain/feed/journal.ts';
import { PROPOSAL } from '../../lib/domain/kinds.ts';
import { isRefusal } from '../../lib/domain/problems.ts';
import type { Governance } from '../../lib/domain/voting/governance.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { caller, did, governance, operator, owner, polls, refuses, rep, voter } from './voting.ts';

const test = suite('ballots');

const yes = { vote: 'yes' };

async function place(rules: Governance = governance({ ann: 1, bob: 1, cid: 1 })) {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  const here = await polls(documents, clock, { rules });
  const subject = await here.domain();
  await here.service.propose(rep, { did: subject, body: { kind: 'verify' }, id: 'p' });
  /** What was done to the proposal, the oldest first: `who: what`. */
  const done = async () => {
    const revisions = await readRevisions(documents, { kind: PROPOSAL, id: 'p', limit: 100 });
    return revisions.reverse().map(({ body: { journal } }) => `${journal.by}: ${journal.action}`);
  };
  return { ...here, subject, done };
}

/** The words of the refusal. */
async function tellRefusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(isRefusal(error), String(error));
  return error.message;
}

test('each refusal names who, which proposal and why', async () => {
  const { service, subject } = await place();
  assert.is(await tellRefusal(service.get(rep, 'nobody')), 'There is no proposal "nobody".');
  const other = { ...rep, principal: did('other') };
  await refuses('not-proposer', () => service.withdraw(other, { id: 'p' }));
  assert.is(
    await tellRefusal(service.withdraw(other, { id: 'p' })),
    'did:ixo:rep made this proposal; only they withdraw it.',
  );
  assert.is(
    await tellRefusal(service.vote(voter('eve'), { id: 'p', body: yes })),
    'did:ixo:eve was not among the voters when the proposal was made.',
  );
  assert.match(await tellRefusal(service.vote(voter('ann'), { id: 'p', body: {} })), /^The vote /);
  assert.match(await tellRefusal(service.veto(operator, { id: 'p', body: { reason: 7 } })), /^The veto /);
  assert.is(
    await tellRefusal(service.execute(operator, { id: 'p' })),
    'Proposal p is open; only one that has passed is executed.',
  );
  await service.vote(voter('ann'), { id: 'p', body: yes });
  assert.is(
    await tellRefusal(service.vote(voter('ann'), { id: 'p', body: { vote: 'no' } })),
    'did:ixo:ann has voted yes; the rules allow one vote.',
  );
  await service.withdraw(rep, { id: 'p' });
  assert.is(
    await tellRefusal(service.vote(voter('bob'), { id: 'p', body: yes })),
    'Proposal p is withdrawn; this needs one that is open.',
  );

  const recusing = await place(governance({ ann: 1 }, { recuseController: true }));
  const controller = { ...owner, roles: new Set(['voter'] as const) };
  assert.is(
    await tellRefusal(recusing.service.vote(controller, { id: 'p', body: yes })),
    `did:ixo:owner controls ${recusing.subject} and does not vote on it.`,
  );
  assert.is.not(recusing.subject, subject);
  const plain = await place();
  assert.match(await tellRefusal(plain.service.vote(controller, { id: 'p', body: yes })), /was not among the voters/);

  const revoting = await place(governance({ ann: 1, bob: 1, cid: 1 }, { allowRevoting: true }));
  await revoting.service.vote(voter('ann'), { id: 'p', body: yes });
  assert.is(
    await tellRefusal(revoting.service.vote(voter('ann'), { id: 'p', body: yes })),
    'did:ixo:ann has voted yes already. Choose another option.',
  );
});

test('an operator withdraws what another has proposed; a veto without a reason says so', async () => {
  const one = await place();
  const both = caller('operator', 'operator', 'representative');
  assert.is((await one.service.withdraw(both, { id: 'p' })).state, 'withdrawn');
  const two = await place();
  const vetoed = await two.service.veto(operator, { id: 'p' });
  assert.equal([vetoed.state, vetoed.context.reason], ['vetoed', 'vetoed']);
});

test('a key belongs to one action of one caller: each repeats its own, and no other', async () => {
  const { service, done } = await place();
  const key = 'k';
  const chair = caller('ann', 'voter', 'operator', 'representative');
  await service.vote(chair, { id: 'p', body: yes, key });
  assert.is((await service.withdraw(chair, { id: 'p', key })).state, 'withdrawn');
  const after = await done();
  assert.equal(after.slice(-3, -1), ['did:ixo:ann: vote', 'did:ixo:ann: withdraw']);
  // Each of both is known as done.
  assert.is((await service.withdraw(chair, { id: 'p', key })).state, 'withdrawn');
  assert.ok((await service.vote(chair, { id: 'p', body: yes, key })).repeated);
  assert.equal(await done(), after);
  assert.match(await tellRefusal(service.veto(chair, { id: 'p', key })), /is withdrawn/);

  const vetoing = await place();
  await vetoing.service.vote(chair, { id: 'p', body: yes, key });
  for (let times = 0; times < 2; times++)
    assert.is((await vetoing.service.veto(chair, { id: 'p', key })).state, 'vetoed');
  assert.match(await tellRefusal(vetoing.service.withdraw(chair, { id: 'p', key })), /is vetoed/);
});

test('an action without a key is written down with who did it and what', async () => {
  const { service, done } = await place();
  await service.vote(voter('ann'), { id: 'p', body: yes });
  await service.veto(operator, { id: 'p', body: { reason: 'forged' } });
  assert.equal((await done()).slice(-3, -1), ['did:ixo:ann: vote', 'did:ixo:operator: veto']);
});

test('a proposal about a domain that is gone ends, unless somebody else has ended it meanwhile', async () => {
  const ends: string[] = [];
  for (const meanwhile of [undefined, 'withdraw', 'fail'] as const) {
    const { service, documents, subject, again } = await place();
    let isAway = false;
    const gone = {
      ...documents,
      get: async (...args: Parameters<typeof documents.get>) => {
        if (args[1] !== subject) return documents.get(...args);
        if (meanwhile === 'withdraw') await service.withdraw(rep, { id: 'p' });
        isAway = meanwhile === 'fail';
        return undefined;
      },
      replace: (...args: Parameters<typeof documents.replace>) =>
        isAway ? Promise.reject(new Error('the store is away')) : documents.replace(...args),
    } as typeof documents;
    const end = again({ documents: gone }).get(rep, 'p');
    ends.push(await end.then(({ state, context }) => `${state} ${context.reason}`, String));
  }
  assert.equal(ends, ['invalidated domain-deactivated', 'withdrawn undefined', 'Error: the store is away']);
});

test.run();
