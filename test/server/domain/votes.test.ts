// Verification over HTTP: what each step answers, what it leads to, and what is refused meanwhile.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { door } from './door.ts';
import { COOKING, created, type Name, path, problem, view, YES } from './place.ts';

const test = suite('votes over HTTP');
const { ask, domain, proposal, verified, clock, metrics } = door(test);

const cast = (name: Name, id: string, vote: object) => ask(name, `POST /v1/proposals/${id}/votes`, vote);
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

test('who lost its verification, its validity or the standing of an ancestor gets no credits, and is told why', async () => {
  const refused = async (did: string, reason: string) => {
    assert.equal(await eligible(did), [false, [reason]]);
    problem(await credits(did), 403, 'domain-not-verified', [reason]);
  };
  const { did } = await verified();
  assert.equal(await eligible(did), [true, []]);
  created(await credits(did));
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
