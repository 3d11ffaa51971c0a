// A change of ORACLE_KEY rolls over instance by instance: a token that one of them takes, those beside it take too.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { didOfKey, parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { mintDelegation, mintInvocation } from '../../../lib/delegation/tokens.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { json, type Served, withServer } from '../support/serve.ts';

const test = suite('oracle key');

const [OLD, NEW] = [makeOracleKey(), makeOracleKey()];
const user = parseOracleKey(makeOracleKey());

const withKeys = <T>(ORACLE_KEY: string, work: (server: Served) => Promise<T>) =>
  withServer({ env: { ORACLE_KEY } }, work);

/** Statuses of a list of sessions, asked with a token for the agent of each key. */
async function statuses({ ask }: Served): Promise<number[]> {
  const asked = [OLD, NEW].map(async (key) => {
    const capability = { can: '*', with: 'ixo:oracle' };
    const token = await mintInvocation({ key: user, audience: didOfKey(key), expiresIn: 60, capability });
    return (await ask('/sessions', { headers: { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan' } })).status;
  });
  return Promise.all(asked);
}

test('with both keys tokens for either are taken, with one those for it alone', async () => {
  assert.equal(await withKeys(OLD, statuses), [200, 401]);
  assert.equal(await withKeys(`${OLD},${NEW}`, statuses), [200, 200]);
  assert.equal(await withKeys(`${NEW},${OLD}`, statuses), [200, 200]);
  assert.equal(await withKeys(NEW, statuses), [401, 200]);
});

test('the first key says who the agent is, and delegations to either are stored', async () => {
  const seen = (keys: string) =>
    withKeys(keys, async ({ ask }) => {
      const capability = { can: '*', with: 'ixo:oracle' };
      const token = await mintInvocation({ key: user, audience: didOfKey(OLD), expiresIn: 60, capability });
      const headers = { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan' };
      const capabilities = [{ can: 'oracle/*', with: user.did }];
      const raw = await mintDelegation({ key: user, audience: didOfKey(OLD), expiresIn: 3_600, capabilities });
      const stored = await ask('/delegation', json({ raw }, headers));
      const { oracleDid } = (await ask('/sessions', json({}, headers))).json() as { oracleDid: string };
      return [stored.status < 300, oracleDid];
    });
  assert.equal(await seen(`${OLD},${NEW}`), [true, didOfKey(OLD)]);
  assert.equal(await seen(`${NEW},${OLD}`), [true, didOfKey(NEW)]);
});

test.run();
