// Why a token was refused: the log, the metrics and the person who brings it are told; a client is not.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../lib/clock.ts';
import { mintInvocation } from '../../../lib/delegation/tokens.ts';
import { INVALID } from '../../../server/user/authenticate.ts';
import { envelope, jwtToken } from '../../delegation/foreign.ts';
import { newKey } from '../../delegation/keys.ts';
import { IDENTITY, ORACLE_DID, ORACLE_KEY } from '../plugins/users.ts';
import { sharedServer } from '../support/serve.ts';

const test = suite('refused tokens');
const server = sharedServer(test, { env: { ORACLE_KEY } });
const common = { key: newKey(), capability: IDENTITY, expiresIn: 600 };

test('the log line of a 401 says why, the metrics count it, and the answer does not tell', async () => {
  const { ask, logged } = server();
  const past = { ...systemClock, now: () => 1_000_000_000_000 };
  const cases = [
    ['jwt', jwtToken('0.8.1')],
    ['ucan-1', envelope('ucan/inv@1.0.0').toString('base64')],
    ['not-base64', 'canary!'],
    ['wrong-audience', await mintInvocation({ ...common, audience: newKey().did })],
    ['expired', await mintInvocation({ ...common, audience: ORACLE_DID, clock: past })],
  ] as const;
  for (const [reason, token] of cases) {
    const headers = { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan' };
    const answer = await ask('/sessions', { headers });
    assert.equal([answer.status, answer.json()], [401, { statusCode: 401, message: INVALID }], reason);
    const line = logged.find(({ requestId }) => requestId === answer.headers['x-request-id'])!;
    assert.equal([line.status, line.reason], [401, reason]);
    assert.not.ok(JSON.stringify(logged).includes(token), 'no token in the log');
  }
  assert.is((await ask('/sessions')).status, 401);
  const { text } = await ask('/metrics');
  for (const reason of [...cases.map(([word]) => word), 'missing'])
    assert.match(text, `twinline_tokens_refused_total{reason="${reason}"} 1`);
});

test.run();
