// Verification over HTTP: what each step answers, what it leads to, and what is refused meanwhile.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { door } from './door.ts';
import { COOKING, created, didOf, type Name, NO, path, problem, type View, view, YES } from './place.ts';

const test = suite('votes over HTTP');
const { ask, domain, proposal, verified, clock, metrics } = door(test);

const cast = (name: Name, id: string, vote: object) => ask(name, `POST /v1/proposals/${id}/votes`, vote);
const get = async (id: string) => view(await ask('rep', `GET /v1/proposals/${id}`));
const statusOf = async (did: string) => view(await ask('rep', `GET ${path(did)}`)).status;
const eligible = async (did: string) => {
  const answer = await ask('rep', `GET ${path(did)}/eligibility?activity=carbon-credit-issuance`);
  const { eligible: is, reasons } = view(answer);
  return [is, (reasons as { code: string }[]).map(({ code }) => code)];
};
const credits = (did: string) => ask('issuer', `POST ${path(did)}/credits`, { amount: '12.5', unit: 'tCO2e' });
/** Makes a proposal and passes it; the status of the domain. */
const pass = async (did: string, kind: string) => {
  const { id } = await proposal(did, kind);
  for (const name of ['ann', 'bob'] as const) created(await cast(name, id, YES));
  return statusOf(did);
};

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
  const { items } = view(await ask('rep', `GET ${path(did)}/credits`));
  assert.equal([items.length, items[0]!.id], [1, id]);
  assert.equal(
    view(await ask('rep', `GET /v1/proposals/${made.id}/votes`)).items.map((one) => [
      one.voter,
      one.vote,
      one.rationale,
    ]),
    [
      [didOf('bob'), 'yes', undefined],
      [didOf('ann'), 'yes', 'seen it'],
    ],
  );
  const stand = view(await ask('rep', `GET ${path(did, 'entities')}/verification`));
  assert.equal([stand.status, (stand.proposal as View).id, stand.open], ['Verified', made.id, []]);
});

test('operators see how many ballots were cast, and what has become of proposals', async () => {
  const counts = () => {
    const value = (line: string) => Number(new RegExp(`^${line} (\\d+)$`, 'm').exec(metrics())?.[1] ?? 0);
    const states = ['open', 'executed', 'withdrawn'].map((state) => `twinline_proposals_total\\{state="${state}"\\}`);
    return ['twinline_votes_total', ...states].map(value);
  };
  const before = counts();
  const { id } = await proposal((await domain()).did);
  await cast('ann', id, YES);
  problem(await cast('rep', id, YES), 403, 'role-missing');
  await cast('bob', id, YES);
  const other = await proposal((await domain()).did);
  await ask('rep', `POST /v1/proposals/${other.id}/withdraw`);
  assert.equal(
    counts().map((count, at) => count - before[at]!),
    [2, 2, 1, 1],
  );
});

test('whatever does not fit the state of a proposal is 409 with its reason', async () => {
  const { did } = await domain();
  const { id } = await proposal(did);
  const propose = (name: Name, kind: string) => ask(name, `POST ${path(did)}/proposals`, { kind });
  const act = (name: Name, action: string) => ask(name, `POST /v1/proposals/${id}/${action}`);
  problem(await propose('deputy', 'verify'), 409, 'proposal-open');
  for (const kind of ['suspend', 'reinstate', 'revoke']) problem(await propose('rep', kind), 409, 'wrong-status');
  problem(await act('operator', 'execute'), 409, 'wrong-status');
  const hundred = await Promise.all(Array.from({ length: 100 }, () => cast('ann', id, YES)));
  assert.equal(hundred.filter(({ status }) => status === 201).length, 1);
  for (const answer of hundred) if (answer.status !== 201) problem(answer, 409, 'already-voted');
  created(await cast('bob', id, NO));
  const last = created(await cast('cid', id, NO));
  assert.equal([last.status, (last.tally as { reason: string }).reason], ['rejected', 'threshold-not-met']);
  problem(await cast('cid', id, YES), 409, 'proposal-not-open');
  problem(await act('rep', 'withdraw'), 409, 'proposal-not-open');
  problem(await act('operator', 'veto'), 409, 'proposal-not-open');
  const next = await proposal(did);
  problem(await ask('operator', `POST /v1/proposals/${next.id}/veto`, { reason: 7 }), 422, 'invalid');
  const stopped = view(await ask('operator', `POST /v1/proposals/${next.id}/veto`, { reason: 'forged' }));
  assert.equal([stopped.status, stopped.reason, await statusOf(did)], ['vetoed', 'forged', 'Rejected']);
});

test('a change, a transfer and a deletion of what is voted on end the vote; a new name does not', async () => {
  const { did } = await domain({ properties: { metricTwo: 1 } });
  const change = async (body: object) => view(await ask('owner', `PATCH ${path(did)}`, body, { 'if-match': '*' }));
  const ended = async (id: string) => {
    const { status, reason } = await get(id);
    return `${status}: ${reason}`;
  };
  const one = await proposal(did);
  await change({ metadata: { name: 'new' } });
  assert.is((await get(one.id)).status, 'open');
  await change({ properties: { metricTwo: 2 } });
  problem(await cast('bob', one.id, YES), 409, 'proposal-not-open');
  assert.is(await ended(one.id), 'invalidated: domain-changed');
  const two = await proposal(did);
  view(await ask('owner', `POST ${path(did)}/transfer`, { controller: [didOf('rival'), didOf('owner')] }));
  assert.equal([await ended(two.id), await statusOf(did)], ['invalidated: domain-changed', 'Created']);
  const three = await proposal(did);
  view(await ask('rival', `DELETE ${path(did)}`));
  assert.is(await ended(three.id), 'invalidated: domain-deactivated');
});

test('who lost its verification, its validity or the standing of an ancestor gets no credits, and is told why', async () => {
  const refused = async (did: string, reason: string) => {
    assert.equal(await eligible(did), [false, [reason]]);
    problem(await credits(did), 403, 'domain-not-verified', [reason]);
  };
  const { did } = await verified();
  assert.is(await pass(did, 'suspend'), 'Suspended');
  await refused(did, 'domain-not-verified');
  assert.is(await pass(did, 'reinstate'), 'Verified');
  assert.is(await pass(did, 'revoke'), 'Revoked');
  problem(await ask('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }), 409, 'package-unchanged');
  const soon = await domain({ validUntil: new Date(clock.now() + 1_000).toISOString() });
  const { id } = await proposal(soon.did);
  created(await cast('ann', id, YES));
  await clock.advance(1_000);
  assert.is(created(await cast('bob', id, YES)).status, 'executed', 'what is over is still decided');
  await refused(soon.did, 'expired');
  const past = await domain({ validUntil: '2001-01-01T00:00:00Z' });
  problem(await ask('rep', `POST ${path(past.did)}/proposals`, { kind: 'verify' }), 422, 'invalid', ['/validUntil']);
  await refused((await verified({ validFrom: '2999-01-01T00:00:00Z' })).did, 'not-yet-valid');
  const above = await verified({ type: 'Organisation' });
  const below = created(await ask('owner', 'POST /v1/domains', { type: 'Project', class: COOKING, parent: above.did }));
  assert.is(await pass(below.did, 'verify'), 'Verified');
  await pass(above.did, 'suspend');
  await refused(below.did, 'ancestor-sanctioned');
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
});

test.run();
