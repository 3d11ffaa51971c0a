// Verification over HTTP: who decides, when, what it leads to, and what is refused meanwhile.

import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COOKING, created, didOf, type Name, NO, path, place, problem, type View, view, YES } from './place.ts';

const test = suite('votes over HTTP');
const { ask, domain, proposal, verified } = place(test);

const cast = (name: Name, id: string, vote: object) => ask(name, `POST /v1/proposals/${id}/votes`, vote);
const get = async (id: string) => view(await ask('rep', `GET /v1/proposals/${id}`));
const statusOf = async (did: string) => view(await ask('rep', `GET ${path(did)}`)).status;
const eligible = async (did: string) => {
  const { eligible: is, reasons } = view(
    await ask('rep', `GET ${path(did)}/eligibility?activity=carbon-credit-issuance`),
  );
  return [is, (reasons as { code: string }[]).map(({ code }) => code)];
};
const credits = (did: string) => ask('issuer', `POST ${path(did)}/credits`, { amount: '12.5', unit: 'tCO2e' });

test('from Created to Verified: no credits before, the deciding vote verifies in its own answer, credits after', async () => {
  const { did } = await domain();
  assert.equal(await eligible(did), [false, ['domain-not-verified']]);
  problem(await credits(did), 403, 'domain-not-verified', ['domain-not-verified']);
  const sent = await ask('rep', `POST ${path(did)}/proposals`, { kind: 'verify', package: { report: 'r1' } });
  const made = created(sent);
  assert.equal([sent.headers.location, sent.headers.etag], [`/v1/proposals/${made.id}`, `"${made.revision}"`]);
  assert.equal(
    { did: made.did, kind: made.kind, status: made.status, tally: made.tally, package: made.package },
    {
      did,
      kind: 'verify',
      status: 'open',
      tally: { yes: '0', no: '0', abstain: '0', cast: '0', totalPower: '3', quorumMet: false },
      package: { report: 'r1' },
    },
  );
  assert.is(Date.parse(String(made.closesAt)) - Date.parse(String(made.opensAt)), 3_600_000);
  assert.equal((made.rules as { threshold: object }).threshold, { kind: 'majority' });
  assert.is(await statusOf(did), 'UnderReview');
  const first = created(await cast('ann', made.id, { ...YES, rationale: 'seen it' }));
  assert.equal([first.status, (first.tally as { yes: string }).yes], ['open', '1']);
  problem(await credits(did), 403, 'domain-not-verified');
  const second = created(await cast('bob', made.id, YES));
  assert.equal([second.status, (second.tally as { cast: string }).cast], ['executed', '2']);
  const after = view(await ask('rep', `GET ${path(did)}`));
  assert.equal([after.status, after.entityVerified], ['Verified', true]);
  assert.equal(await eligible(did), [true, []]);
  const { id, amount, ...credit } = created(await credits(did));
  assert.equal([amount, credit.did, credit.issuer, credit.status], ['12.5', did, didOf('issuer'), 'issued']);
  assert.equal(
    view(await ask('rep', `GET ${path(did)}/credits`)).items.map((item) => item.id),
    [id],
  );
  const ballots = view(await ask('rep', `GET /v1/proposals/${made.id}/votes`)).items;
  assert.equal(
    ballots.map(({ voter, vote, rationale }) => [voter, vote, rationale]),
    [
      [didOf('bob'), 'yes', undefined],
      [didOf('ann'), 'yes', 'seen it'],
    ],
  );
  const stand = view(await ask('rep', `GET ${path(did, 'entities')}/verification`));
  assert.equal([stand.status, (stand.proposal as View).id, stand.open], ['Verified', made.id, []]);
});

test('operators see how many ballots were cast, and what has become of proposals', async () => {
  const counts = async () => {
    const { text } = await ask(undefined, 'GET /metrics');
    const value = (line: string) => Number(new RegExp(`^${line} (\\d+)$`, 'm').exec(text)?.[1]);
    const states = ['open', 'executed', 'withdrawn'].map((state) =>
      value(`twinline_proposals_total\\{state="${state}"\\}`),
    );
    return [value('twinline_votes_total'), ...states];
  };
  const before = await counts();
  const { id } = await proposal((await domain()).did);
  await cast('ann', id, YES);
  problem(await cast('rep', id, YES), 403, 'role-missing');
  await cast('bob', id, YES);
  const other = await proposal((await domain()).did);
  await ask('rep', `POST /v1/proposals/${other.id}/withdraw`);
  assert.equal(
    (await counts()).map((count, at) => count - before[at]!),
    [2, 2, 1, 1],
  );
});

test('a vote comes once, in time, from a voter; decided is decided', async () => {
  const { id } = await proposal((await domain()).did);
  problem(await cast('rep', id, YES), 403, 'role-missing');
  for (const body of [{}, { vote: 'maybe' }, { vote: 'yes', weight: 9 }, { vote: ['yes'] }, { vote: 'YES' }])
    problem(await cast('ann', id, body), 422, 'invalid');
  const hundred = await Promise.all(Array.from({ length: 100 }, () => cast('ann', id, YES)));
  assert.equal(hundred.filter(({ status }) => status === 201).length, 1);
  for (const answer of hundred) if (answer.status !== 201) problem(answer, 409, 'already-voted');
  problem(await cast('ann', id, NO), 409, 'already-voted');
  assert.is(((await get(id)).tally as { cast: string }).cast, '1');
  created(await cast('bob', id, NO));
  assert.is((await get(id)).status, 'open', 'one to one: the third decides');
  const last = created(await cast('cid', id, NO));
  assert.equal([last.status, (last.tally as { reason: string }).reason], ['rejected', 'threshold-not-met']);
  problem(await cast('cid', id, YES), 409, 'proposal-not-open');
  for (const action of ['withdraw', 'veto'] as const)
    problem(
      await ask(action === 'veto' ? 'operator' : 'rep', `POST /v1/proposals/${id}/${action}`),
      409,
      'proposal-not-open',
    );
  problem(await ask('operator', `POST /v1/proposals/${id}/execute`), 409, 'wrong-status');
});

test('a second proposal of a kind waits; withdrawn and vetoed ones leave the domain as it was', async () => {
  const { did } = await domain();
  const one = await proposal(did);
  problem(await ask('deputy', `POST ${path(did)}/proposals`, { kind: 'verify' }), 409, 'proposal-open');
  for (const kind of ['suspend', 'reinstate', 'revoke'])
    problem(await ask('rep', `POST ${path(did)}/proposals`, { kind }), 409, 'wrong-status');
  problem(await ask('deputy', `POST /v1/proposals/${one.id}/withdraw`), 403, 'not-proposer');
  assert.is(view(await ask('rep', `POST /v1/proposals/${one.id}/withdraw`)).status, 'withdrawn');
  assert.is(await statusOf(did), 'Created');
  const two = await proposal(did);
  problem(await ask('operator', `POST /v1/proposals/${two.id}/veto`, { reason: 7 }), 422, 'invalid');
  const stopped = view(await ask('operator', `POST /v1/proposals/${two.id}/veto`, { reason: 'forged' }));
  assert.equal([stopped.status, stopped.reason, await statusOf(did)], ['vetoed', 'forged', 'Created']);
  const parallel = await Promise.all(
    [1, 2, 3, 4, 5].map(() => ask('rep', `POST ${path(did)}/proposals`, { kind: 'verify' })),
  );
  assert.equal(parallel.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
  assert.is(view(await ask('rep', `GET ${path(did)}/proposals`)).items.length, 3);
});

test('a change of what is voted on ends the vote, a change of its name does not, the end of the domain does', async () => {
  const { did } = await domain({ properties: { metricTwo: 1 } });
  const change = async (body: object) => {
    const { etag } = (await ask('owner', `GET ${path(did)}`)).headers;
    view(await ask('owner', `PATCH ${path(did)}`, body, { 'if-match': etag! }));
  };
  const one = await proposal(did);
  created(await cast('ann', one.id, YES));
  await change({ metadata: { name: 'new' } });
  assert.is((await get(one.id)).status, 'open');
  await change({ properties: { metricTwo: 2 } });
  problem(await cast('bob', one.id, YES), 409, 'proposal-not-open');
  assert.equal([(await get(one.id)).status, await statusOf(did)], ['invalidated', 'Created']);
  const two = await proposal(did);
  view(await ask('owner', `POST ${path(did)}/transfer`, { controller: [didOf('rival'), didOf('owner')] }));
  assert.equal([(await get(two.id)).status, await statusOf(did)], ['invalidated', 'Created']);
  const three = await proposal(did);
  view(await ask('rival', `DELETE ${path(did)}`));
  const ended = await get(three.id);
  assert.equal([ended.status, ended.reason], ['invalidated', 'domain-deactivated']);
  problem(await ask('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }), 410, 'gone');
});

test('Verified is lost by suspension, revocation, a material change and the end of the validity', async () => {
  const { did } = await verified();
  const pass = async (kind: string, body: object = {}) => {
    const { id } = created(await ask('rep', `POST ${path(did)}/proposals`, { kind, ...body }));
    for (const name of ['ann', 'bob'] as const) created(await cast(name, id, YES));
    return statusOf(did);
  };
  assert.is(await pass('suspend'), 'Suspended');
  problem(await credits(did), 403, 'domain-not-verified');
  assert.is(await pass('reinstate'), 'Verified');
  assert.is(await pass('revoke'), 'Revoked');
  problem(await credits(did), 403, 'domain-not-verified');
  problem(await ask('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }), 409, 'package-unchanged');
  assert.is(await pass('verify', { package: { cleaned: true } }), 'Verified');
  created(await credits(did));
  view(await ask('owner', `POST ${path(did)}/transfer`, { controller: didOf('rival') }));
  assert.equal([await statusOf(did), await eligible(did)], ['Created', [false, ['domain-not-verified']]]);
  const soon = await domain({ validUntil: new Date(Date.now() + 1_000).toISOString() });
  const { id } = await proposal(soon.did);
  created(await cast('ann', id, YES));
  await pause(1_050);
  const last = created(await cast('bob', id, YES));
  assert.equal([last.status, await statusOf(soon.did)], ['executed', 'Verified'], 'what is over is still decided');
  assert.equal(await eligible(soon.did), [false, ['expired']]);
  problem(await credits(soon.did), 403, 'domain-not-verified', ['expired']);
  const past = await domain({ validUntil: '2001-01-01T00:00:00Z' });
  problem(await ask('rep', `POST ${path(past.did)}/proposals`, { kind: 'verify' }), 422, 'invalid', ['/validUntil']);
  const later = await verified({ validFrom: '2999-01-01T00:00:00Z' });
  assert.equal(await eligible(later.did), [false, ['not-yet-valid']]);
});

test('what an ancestor has lost its parts do not do', async () => {
  const above = await verified({ type: 'Organisation' });
  const below = created(await ask('owner', 'POST /v1/domains', { type: 'Project', class: COOKING, parent: above.did }));
  for (const { did, kind } of [
    { did: below.did, kind: 'verify' },
    { did: above.did, kind: 'suspend' },
  ]) {
    const { id } = await proposal(did, kind);
    for (const name of ['ann', 'bob'] as const) created(await cast(name, id, YES));
  }
  assert.equal([await statusOf(below.did), await eligible(below.did)], ['Verified', [false, ['ancestor-sanctioned']]]);
  problem(await credits(below.did), 403, 'domain-not-verified', ['ancestor-sanctioned']);
});

test('amounts are exact decimals, and what else is sent with credits stays theirs', async () => {
  const { did } = await verified();
  const issue = (body: object) => ask('issuer', `POST ${path(did)}/credits`, body);
  for (const amount of [1, '0', '0.0', '-1', '1e3', '', '01', '1.', '.5', 'NaN', '1,5', ' 1', null])
    problem(await issue({ amount }), 422, 'invalid', ['/amount']);
  for (const fixed of ['id', 'did', 'issuer', 'status', 'issued'])
    problem(await issue({ amount: '1', [fixed]: 'x' }), 422);
  const exact = '123456789012345678901234567890.123456789012345678';
  const made = created(await issue({ amount: exact, vintage: 2026, tenant: 'two', state: 'x' }));
  assert.equal([made.amount, made.vintage, made.tenant, made.status], [exact, 2026, 'two', 'issued']);
  assert.equal(view(await ask('stranger', 'GET /v1/proposals')).items, []);
});

test('lists of proposals are paged, the newest first, those of all domains and of one', async () => {
  const { did } = await domain();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    const { id } = await proposal(did);
    ids.unshift(id);
    await pause(2);
    view(await ask('rep', `POST /v1/proposals/${id}/withdraw`));
  }
  const found: string[] = [];
  for (let where: string | undefined = `${path(did)}/proposals?limit=2`; where; ) {
    const answer = await ask('rep', `GET ${where}`);
    found.push(...view(answer).items.map(({ id }) => id));
    where = /^<(.+)>; rel="next"$/.exec(answer.headers.link ?? '')?.[1];
  }
  assert.equal(found, ids);
  assert.equal(
    view(await ask('rep', 'GET /v1/proposals?limit=5')).items.map(({ id }) => id),
    ids,
  );
});

test.run();
