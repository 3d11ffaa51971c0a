// What proposals do to domains is done once, by the right proposal, and only where it applies.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { DOMAIN } from '../../lib/domain/kinds.ts';
import { materialHash } from '../../lib/domain/twin/change.ts';
import { STATUSES, type Status, type StoredDomain } from '../../lib/domain/twin/record.ts';
import { EXECUTION, executionServices, mayBecome } from '../../lib/domain/voting/execution.ts';
import { PROPOSAL_KINDS } from '../../lib/domain/voting/proposal.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { governance, operator, type Polls, polls, refuses, rep, voter } from './voting.ts';

const test = suite('execution of proposals');

async function place() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  const here = await polls(documents, clock, { rules: governance({ ann: 1 }) });
  const subject = await here.domain();
  const services = executionServices({ documents, clock });
  const hash = materialHash(await here.stored(subject));
  /** What a call of a proposal about this revision of the domain answers. */
  const call = (name: keyof typeof services, id: string, more: JsonObject = {}) =>
    services[name](
      { kind: 'verify', subject, hash, packageHash: 'p', subjectRevision: 1, ...more },
      { idempotencyKey: id, session: { id }, signal: new AbortController().signal },
    );
  const status = async () => (await here.stored(subject)).status;
  return { ...here, subject, call, status };
}

const eventsOf = ({ events }: Pick<Polls, 'events'>, id: string) => events('domain', id);

test('each call changes the domain once, however often it is made', async () => {
  const here = await place();
  for (let i = 0; i < 3; i++) assert.equal(await here.call('present', 'a'), {});
  assert.is(await here.status(), 'UnderReview');
  await Promise.all(Array.from({ length: 20 }, () => here.call('execute', 'a')));
  assert.equal(await eventsOf(here, here.subject), ['domain.created', 'domain.updated', 'domain.verified']);
  assert.is((await here.documents.get(DOMAIN, here.subject))!.revision, 3);
});

test('what a process that was thought dead does late changes nothing', async () => {
  const here = await place();
  await here.call('release', 'a', { outcome: 'withdrawn' });
  assert.equal(await here.call('present', 'a'), { changed: 'settled' });
  assert.is(await here.status(), 'Created');
  const later = { subjectRevision: 2 };
  await here.call('present', 'b', later);
  for (const late of ['present', 'execute'] as const)
    assert.equal(await here.call(late, 'earlier', { subjectRevision: 1 }), { changed: 'superseded' });
  await here.call('release', 'earlier', { outcome: 'rejected' });
  assert.is(await here.status(), 'UnderReview');
  await here.call('execute', 'b', later);
  await here.call('release', 'b', { ...later, outcome: 'rejected' });
  assert.is(await here.status(), 'Verified');
});

test('the end of a review does not end the next one, which has begun already', async () => {
  const here = await place();
  await here.call('present', 'a');
  await here.call('present', 'b', { subjectRevision: 2 });
  await here.call('release', 'a', { outcome: 'rejected' });
  assert.is(await here.status(), 'UnderReview');
  await here.call('release', 'b', { subjectRevision: 2, outcome: 'rejected' });
  assert.is(await here.status(), 'Rejected');
});

test('a proposal about what the domain was changes nothing', async () => {
  const here = await place();
  for (const name of ['present', 'execute'] as const)
    assert.equal(await here.call(name, 'a', { hash: 'of something else' }), { changed: 'domain-changed' });
  assert.equal(await here.call('execute', 'a', { kind: 'suspend' }), { changed: 'status-changed' });
  assert.equal(await here.call('execute', 'a', { subject: 'did:ixo:nobody' }), { changed: 'domain-deactivated' });
  assert.is((await here.documents.get(DOMAIN, here.subject))!.revision, 1);
});

test('which proposal applies to which status, and what it gives', () => {
  const found = PROPOSAL_KINDS.flatMap((kind) =>
    STATUSES.flatMap((from) => (EXECUTION[kind][from] ? [`${kind} ${from} → ${EXECUTION[kind][from]}`] : [])),
  );
  assert.equal(found, [
    'verify Created → Verified',
    'verify Rejected → Verified',
    'verify Suspended → Verified',
    'verify Revoked → Verified',
    'suspend Verified → Suspended',
    'reinstate Suspended → Verified',
    'revoke Verified → Revoked',
    'revoke Suspended → Revoked',
  ]);
});

test('a suspended domain comes back as what it was; changed, it is verified anew', async () => {
  const here = await place();
  const body = await here.stored(here.subject);
  const suspended = (hash: string): StoredDomain => ({ ...body, status: 'Suspended', verification: { hash } });
  const ways = (domain: StoredDomain): (Status | undefined)[] => [
    mayBecome('reinstate', domain),
    mayBecome('verify', domain),
  ];
  assert.equal(ways(suspended(materialHash(body))), ['Verified', undefined]);
  assert.equal(ways(suspended('of what it was')), [undefined, 'Verified']);
});

test('what is material decides the hash, and nothing else', async () => {
  const here = await place();
  const body = await here.stored(here.subject);
  const hash = materialHash(body);
  assert.is(
    materialHash({ ...body, metadata: { name: 'x' }, status: 'Verified', alsoKnownAs: ['did:a:b'] } as StoredDomain),
    hash,
  );
  for (const change of [
    { type: 'Asset' },
    { class: 'x' },
    { controllers: ['x'] },
    { properties: {} },
    { relationships: { a: 'b' } },
  ])
    assert.is.not(materialHash({ ...body, ...change } as StoredDomain), hash, JSON.stringify(change));
});

for (const [name, came] of [
  ['an execution that is given up is shown, and an operator has it tried again', false],
  ['an execution that was given up and had come through after all is known as done', true],
] as const)
  test(name, async () => {
    const here = await place();
    let isAway = false;
    const away = () => Promise.reject(new Error('the store is away'));
    const { get, replace } = here.documents;
    const flaky = {
      ...here.documents,
      get: (...args: Parameters<typeof get>) => (isAway && args[0].name === 'domain' ? away() : get(...args)),
      replace: async (...args: Parameters<typeof replace>) => {
        if ((args[3] as { status?: string }).status !== 'Verified') return replace(...args);
        if (came) await replace(...args);
        isAway = true;
        return away();
      },
    } as typeof here.documents;
    const service = here.again({ documents: flaky });
    const { id } = await service.propose(rep, { did: here.subject, body: { kind: 'verify' } });
    await service.vote(voter('ann'), { id, body: { vote: 'yes' } });
    for (let minutes = 0; minutes < 8; minutes++) {
      await here.clock.advance(60_000);
      for (let more = 1; more > 0; await here.clock.advance(1_000)) more = await service.sweep();
    }
    assert.is((await here.service.list(rep)).items[0]!.state, 'execution_failed');
    await refuses('proposal-open', () => here.service.propose(rep, { did: here.subject, body: { kind: 'verify' } }));
    if (!came) await here.service.execute(operator, { id });
    assert.is((await here.service.get(rep, id)).state, 'executed');
    assert.is((await here.service.execute(operator, { id })).state, 'executed');
    assert.equal((await eventsOf(here, here.subject)).filter((type) => type === 'domain.verified').length, 1);
  });

test.run();
