// Rules of voting over HTTP: deadlines, votes that may be changed, timelocks, named voters, rules of the moment.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withServer } from '../support/serve.ts';
import {
  asker,
  COOKING,
  created,
  didOf,
  files,
  KEYS,
  type Name,
  NO,
  PROTOCOL,
  path,
  place,
  problem,
  RULES,
  view,
  YES,
} from './place.ts';

const short = suite('votes that close over HTTP');
const closing = place(short, { rules: { ...RULES, votingPeriodSeconds: 1, quorum: '0.5' } });

short('a production server without a rules file warns that one voter may decide alone', async () => {
  const env = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    USSD_GATEWAYS: '127.0.0.1',
    PIN_ENCRYPTION_KEY: '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
    ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
  };
  await withServer({ env }, async ({ logged }) => {
    assert.is(logged.filter(({ msg }) => /GOVERNANCE_FILE is not set.*decide alone/.test(String(msg))).length, 1);
  });
});

short(
  'at the close: quorum, nobody, only abstentions, a tie; resubmitted at once; each after its own time',
  async () => {
    const ballots: readonly (readonly [Partial<Record<'ann' | 'bob' | 'cid', string>>, string, string | undefined])[] =
      [
        [{}, 'rejected', 'quorum-not-met'],
        [{ ann: 'yes' }, 'rejected', 'quorum-not-met'],
        [{ ann: 'abstain', bob: 'abstain' }, 'rejected', 'all-abstained'],
        [{ ann: 'yes', bob: 'abstain' }, 'executed', undefined],
        [{ ann: 'yes', bob: 'no' }, 'rejected', 'threshold-not-met'],
      ];
    const opened = await Promise.all(
      ballots.map(async ([given]) => {
        const { did } = await closing.domain();
        const made = await closing.proposal(did);
        for (const [name, vote] of Object.entries(given))
          created(await closing.ask(name as Name, `POST /v1/proposals/${made.id}/votes`, { vote }));
        return { did, made };
      }),
    );
    await pause(Math.max(...opened.map(({ made }) => Date.parse(String(made.closesAt)))) - Date.now() + 5);
    for (const [at, [given, status, reason]] of ballots.entries()) {
      const { did, made } = opened[at]!;
      const late = await closing.ask('cid', `POST /v1/proposals/${made.id}/votes`, YES);
      problem(late, 409, 'proposal-not-open');
      const after = view(await closing.ask('rep', `GET /v1/proposals/${made.id}`));
      const told = [after.status, (after.tally as { reason?: string }).reason, after.decidedAt];
      assert.equal(told, [status, reason, made.closesAt], JSON.stringify(given));
      const now = view(await closing.ask('rep', `GET ${path(did)}`)).status;
      assert.is(now, status === 'executed' ? 'Verified' : 'Rejected');
      if (status === 'rejected') await closing.proposal(did);
    }
  },
);

short.run();

const changing = suite('votes that may be changed over HTTP');
const open = place(changing, {
  rules: { ...RULES, votingPeriodSeconds: 1, allowRevoting: true, threshold: { kind: 'percent', value: '0.5' } },
});

changing(
  'the last vote counts, the same again is refused, nothing is decided before the close, a tie passes',
  async () => {
    assert.equal(view(await open.ask('rep', 'GET /v1/governance/config')).tie, 'passes');
    const { did } = await open.domain();
    const { id, closesAt } = await open.proposal(did);
    const vote = (name: Name, choice: object) => open.ask(name, `POST /v1/proposals/${id}/votes`, choice);
    for (const name of ['ann', 'bob', 'cid'] as const) assert.is(created(await vote(name, NO)).status, 'open');
    problem(await vote('ann', NO), 409, 'already-voted');
    assert.is(created(await vote('ann', YES)).status, 'open');
    created(await vote('cid', { vote: 'abstain' }));
    assert.is(view(await open.ask('rep', `GET /v1/proposals/${id}/votes`)).items.length, 5);
    await pause(Date.parse(String(closesAt)) - Date.now() + 5);
    assert.is(view(await open.ask('rep', `GET /v1/proposals/${id}`)).status, 'executed');
  },
);

changing.run();

const locked = suite('votes with a timelock over HTTP');
const VOTERS = { ann: '0', bob: '2', cid: '340282366920938463463374607431768211453' };
const lock = place(locked, {
  rules: {
    ...RULES,
    timelockSeconds: 1,
    recuseController: true,
    representatives: [didOf('rep')],
    voters: Object.entries(VOTERS).map(([name, power]) => ({ did: didOf(name as Name), power })),
  },
});

locked('who may: only named representatives, only voters with power; powers are exact', async () => {
  assert.equal(view(await lock.ask('nobody', 'GET /v1/governance/config')).timelockSeconds, 1);
  const { did } = await lock.domain();
  problem(
    await lock.ask('deputy', `POST ${path(did)}/proposals`, 'x', { 'content-type': 'text/plain' }),
    403,
    'not-representative',
  );
  const made = await lock.proposal(did);
  assert.is((made.tally as { totalPower: string }).totalPower, '340282366920938463463374607431768211455');
  problem(
    await lock.ask('ann', `POST /v1/proposals/${made.id}/votes`, 'x', { 'content-type': 'text/plain' }),
    403,
    'not-eligible-voter',
  );
  assert.is(created(await lock.ask('bob', `POST /v1/proposals/${made.id}/votes`, YES)).status, 'open');
});

locked('what has passed waits: it can be vetoed, or invalidated, and takes effect when its time has come', async () => {
  const passed = async () => {
    const { did } = await lock.domain();
    const { id } = await lock.proposal(did);
    const { status, executableAt } = created(await lock.ask('cid', `POST /v1/proposals/${id}/votes`, YES));
    assert.is(status, 'timelock');
    return { did, id, executableAt };
  };
  const [kept, stopped, changed] = [await passed(), await passed(), await passed()];
  problem(await lock.ask('operator', `POST /v1/proposals/${kept.id}/execute`), 409, 'wrong-status');
  problem(await lock.ask('issuer', `POST ${path(kept.did)}/credits`, { amount: '1' }), 403, 'domain-not-verified');
  view(await lock.ask('operator', `POST /v1/proposals/${stopped.id}/veto`));
  view(await lock.ask('owner', `POST ${path(changed.did)}/transfer`, { controller: didOf('rival') }));
  await pause(Date.parse(String(kept.executableAt)) - Date.now() + 5);
  const seen = await Promise.all(
    [kept, stopped, changed].map(async ({ did, id }) => [
      view(await lock.ask('rep', `GET /v1/proposals/${id}`)).status,
      view(await lock.ask('rep', `GET ${path(did)}`)).status,
    ]),
  );
  assert.equal(seen, [
    ['executed', 'Verified'],
    ['vetoed', 'Created'],
    ['invalidated', 'Created'],
  ]);
  view(await lock.ask('operator', `POST /v1/proposals/${kept.id}/execute`));
});

locked('who controls a domain does not vote on it', async () => {
  const { did } = await lock.domain({ controller: [didOf('owner'), didOf('cid')] });
  const { id } = await lock.proposal(did);
  problem(await lock.ask('cid', `POST /v1/proposals/${id}/votes`, YES), 403, 'recused');
  const alone = await lock.domain({ controller: [didOf('owner'), didOf('cid'), didOf('bob')] });
  problem(await lock.ask('rep', `POST ${path(alone.did)}/proposals`, { kind: 'verify' }), 409, 'no-electorate');
});

locked.run();

const moments = suite('rules and voters of the moment');

moments(
  'rules, and voters of the key file, are those of the moment of the proposal, also after a restart',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twinline-moment-'));
    const env: Record<string, string> = { ...files(folder), DATA_DIR: join(folder, 'data') };
    const keys = (names: readonly Name[]) =>
      KEYS.filter(
        ({ roles, principal }) => !roles.includes('voter' as never) || names.some((name) => didOf(name) === principal),
      );
    try {
      writeFileSync(env.API_KEYS_FILE!, JSON.stringify(keys(['ann', 'bob'])));
      const [did, id] = await withServer({ env }, async (server) => {
        const on = asker(() => server.ask);
        created(await on('owner', 'POST /v1/protocols', PROTOCOL));
        const made = created(await on('owner', 'POST /v1/domains', { type: 'Project', class: COOKING }));
        const opened = created(await on('rep', `POST ${path(made.did)}/proposals`, { kind: 'verify' }));
        assert.is((opened.tally as { totalPower: string }).totalPower, '2');
        return [made.did, opened.id];
      });
      files(folder, { ...RULES, threshold: { kind: 'count', value: 99 } });
      await withServer({ env }, async (server) => {
        const on = asker(() => server.ask);
        assert.equal((view(await on('rep', 'GET /v1/governance/config')).threshold as { value: string }).value, '99');
        problem(await on('cid', `POST /v1/proposals/${id}/votes`, YES), 403, 'not-eligible-voter');
        created(await on('ann', `POST /v1/proposals/${id}/votes`, YES));
        assert.is(created(await on('bob', `POST /v1/proposals/${id}/votes`, YES)).status, 'executed');
        assert.is(view(await on('rep', `GET ${path(did)}`)).status, 'Verified');
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

moments.run();
