// Who asks the agent service: which of the tokens counts, and what is told when none does.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Checked, Invocation, TokenGuard } from '../../../lib/delegation/guard.ts';
import type { Refused, TokenReason } from '../../../lib/delegation/reason.ts';
import { agentCounts } from '../../../server/agent/counts.ts';
import {
  type AuthOptions,
  agentUser,
  authenticateRequests,
  authenticateUser,
  INVALID,
  MISSING,
  type PresentedTokens,
  readTokens,
  requireUser,
} from '../../../server/user/authenticate.ts';
import { AgentError } from '../../../server/user/errors.ts';

const test = suite('who asks the agent service');

/** Stands for the guard, which has its own tests: `good:<issuer>` passes, any other text is refused with itself as reason. */
const guard: TokenGuard = {
  checkInvocation: async (text) => checkText(`invocation ${text}`) as Invocation | Refused,
  checkDelegation: async (text) => checkText(`delegation ${text}`),
};

function checkText(text: string): Checked | Refused {
  const [kind, token] = text.split(' ');
  const [word, issuer] = token!.split(':');
  if (word !== 'good') return { ok: false, reason: word as TokenReason };
  return { ok: true, issuer: issuer!, expiresAt: 7, capabilities: [], revocationKeys: [`${kind} of ${issuer}`] };
}

async function ask(presented: PresentedTokens, options: Partial<AuthOptions> = {}) {
  const reasons: string[] = [];
  try {
    const own = { guard, delegationAuth: true, onRefused: (reason: string) => reasons.push(reason), ...options };
    const { did, expiresAt, keys, secrets } = await authenticateUser(own, presented);
    return { did, expiresAt, keys, secrets };
  } catch (error) {
    assert.instance(error, AgentError);
    const { statusCode, message, error: name } = (error as AgentError).body;
    return { status: statusCode, message, reasons, ...(name !== undefined && { name }) };
  }
}

const joe = { did: 'joe', expiresAt: 7_000 };

test('a good invocation says who asks, until it ends, and by what it is revoked', async () => {
  assert.equal(await ask({ invocation: 'good:joe' }), {
    ...joe,
    keys: ['invocation of joe'],
    secrets: { invocation: 'good:joe' },
  });
});

test('a delegation alone says who asks only where that is let in', async () => {
  const delegation = 'good:joe';
  assert.equal(await ask({ delegation }), { ...joe, keys: ['delegation of joe'], secrets: { delegation } });
  const missing = { status: 401, message: MISSING, reasons: ['missing'] };
  assert.equal(await ask({ delegation }, { delegationAuth: false }), missing);
});

test('without a token, the client is told how to send one', async () => {
  const missing = { status: 401, message: MISSING, reasons: ['missing'] };
  assert.equal(await ask({}), missing);
  assert.equal(await ask({}, { delegationAuth: false }), missing);
  assert.match(MISSING, 'Missing UCAN authentication');
  const { onRefused: _, ...untold } = { guard, delegationAuth: true, onRefused: undefined };
  const error = await authenticateUser(untold, {}).catch((thrown) => thrown);
  assert.instance(error, AgentError, 'nobody has to be told');
});

test('a bad token is refused in one form of words, whatever is wrong; the reason stays here', async () => {
  for (const reason of ['expired', 'wrong-signature', 'revoked'])
    for (const presented of [{ invocation: reason }, { delegation: reason }])
      assert.equal(await ask(presented), { status: 401, message: 'Invalid UCAN invocation', reasons: [reason] });
  assert.is(INVALID, 'Invalid UCAN invocation');
});

test('what cannot be found out now is no refusal: the client tries again', async () => {
  for (const reason of ['busy', 'unavailable', 'issuer-unresolved'])
    assert.equal(await ask({ invocation: reason }), {
      status: 503,
      message: 'Try again in a moment',
      reasons: [reason],
      name: 'Service Unavailable',
    });
});

test('a bad invocation is not made good by a delegation', async () => {
  const presented = { invocation: 'expired', delegation: 'good:joe' };
  assert.equal(await ask(presented), { status: 401, message: INVALID, reasons: ['expired'] });
});

test('beside an invocation, a delegation is kept only when it is good and by the same issuer', async () => {
  const invocation = 'good:joe';
  const keys = ['invocation of joe'];
  assert.equal(await ask({ invocation, delegation: 'good:joe' }), {
    ...joe,
    keys,
    secrets: { invocation, delegation: 'good:joe' },
  });
  for (const delegation of ['good:ann', 'expired'])
    assert.equal(await ask({ invocation, delegation }), { ...joe, keys, secrets: { invocation } }, delegation);
});

test('no token is checked twice, and none that was not sent', async () => {
  const asked: string[] = [];
  const counting: TokenGuard = {
    checkInvocation: (text) => {
      asked.push(`invocation ${text}`);
      return guard.checkInvocation(text);
    },
    checkDelegation: (text) => {
      asked.push(`delegation ${text}`);
      return guard.checkDelegation(text);
    },
  };
  await ask({ delegation: 'good:joe' }, { guard: counting });
  await ask({ invocation: 'good:ann' }, { guard: counting });
  await ask({ invocation: 'good:kim', delegation: 'good:kim' }, { guard: counting });
  assert.equal(asked, ['delegation good:joe', 'invocation good:ann', 'invocation good:kim', 'delegation good:kim']);
});

test('a bearer is an invocation only with the type ucan, in any case', () => {
  const read = (authorization: string, type?: string) =>
    readTokens({ authorization, ...(type !== undefined && { 'x-auth-type': type }) }).invocation;
  assert.is(read('Bearer abc', 'ucan'), 'abc');
  assert.is(read('bearer   abc', 'UCAN'), 'abc');
  for (const type of [undefined, '', 'jwt', 'ucan2']) assert.is(read('Bearer abc', type), undefined, type);
  for (const header of ['abc', 'Bearer', 'Bearer ', 'Bearerabc', 'Bearer a b', 'xBearer abc', 'Basic abc'])
    assert.is(read(header, 'ucan'), undefined, header);
  assert.equal(readTokens({ 'x-auth-type': 'ucan' }), { invocation: undefined, delegation: undefined });
});

test('the header of a delegation counts as it is, and an empty one does not', () => {
  assert.is(readTokens({ 'x-ucan-delegation': 'abc' }).delegation, 'abc');
  assert.is(readTokens({ 'x-ucan-delegation': '' }).delegation, undefined);
  assert.is(readTokens({ 'x-ucan-delegation': ['a', 'b'] }).delegation, undefined);
});

test('a request passes with its user, and not without', async () => {
  const answer = authenticateRequests({ guard, delegationAuth: false });
  const headers = { authorization: 'Bearer good:joe', 'x-auth-type': 'ucan' };
  const ctx = { state: {}, headers } as never;
  assert.is(await answer(ctx, async () => 'next'), 'next');
  assert.is(agentUser(ctx).did, 'joe');
  assert.is(await requireUser(ctx, async () => 'next'), 'next');
  let isReached = false;
  const next = async () => {
    isReached = true;
  };
  const nobody = { state: {}, headers: {} } as never;
  const refused = await answer(nobody, next).catch((error: AgentError) => error.body.statusCode);
  assert.equal([refused, isReached], [401, false]);
  for (const act of [() => agentUser(nobody), () => requireUser(nobody, next)]) {
    try {
      await act();
      assert.unreachable();
    } catch (error) {
      assert.equal((error as AgentError).body, { statusCode: 401, message: MISSING });
    }
  }
  assert.not(isReached);
});

test('operators see how many tokens were refused, by reason', () => {
  const counts = agentCounts();
  for (const reason of ['expired', 'missing', 'expired'] as const) counts.refuse(reason);
  const lines = counts.metrics().join('\n');
  assert.match(lines, 'twinline_tokens_refused_total{reason="expired"} 2');
  assert.match(lines, 'twinline_tokens_refused_total{reason="missing"} 1');
  assert.match(lines, 'Tokens refused by the agent service.');
});

test.run();
