// Tokens of other versions of UCAN: each is known for what it is, and one of this version is never taken for one of those.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inspectToken, TOKEN_REASONS, tokenGuard } from '../../lib/delegation/index.ts';
import { envelope, envelopeJson, jwtToken } from './foreign.ts';
import { clockAt, oracle } from './tokens.ts';

const test = suite('tokens of other versions');
const guard = tokenGuard({ audience: oracle.did(), clock: clockAt() });

async function reasonOf(token: string): Promise<string> {
  const checks = [inspectToken(token), await guard.checkInvocation(token), await guard.checkDelegation(token)];
  const reasons = new Set(checks.map((checked) => (checked.ok ? 'passed' : checked.reason)));
  assert.is(reasons.size, 1, [...reasons].join());
  return [...reasons][0]!;
}

test('a UCAN in JWT form is called that', async () => {
  for (const version of ['0.8.1', '0.10.0']) assert.is(await reasonOf(jwtToken(version)), 'jwt');
  assert.match(TOKEN_REASONS.jwt, 'a UCAN in JWT form (ucv 0.8.1); this service accepts UCAN 0.9.1 CARs (ucanto)');
  assert.is(await reasonOf('aa-_.bb-_.cc-_'), 'jwt');
  const others = ['a.b', 'a.b.', '.b.c', 'a.b.c.d', 'a.b c.d', 'a..c', 'a.b=.c', ' a.b.c', 'a.b.c ', '!a.b.c', 'a.b.!'];
  for (const other of [...others, 'a.!.c', '!.b.c']) assert.is(await reasonOf(other), 'not-base64', other);
});

test('an envelope of UCAN 1.0 is called that, in each of its forms', async () => {
  for (const bytes of [envelope('ucan/dlg@1.0.0-rc.1'), envelope('ucan/inv@1.0.0'), envelope('ucan/inv@1.0.0', 512)])
    for (const encoding of ['base64', 'base64url'] as const)
      assert.is(await reasonOf(bytes.toString(encoding)), 'ucan-1');
  assert.is(await reasonOf(envelopeJson()), 'ucan-1');
  assert.is(await reasonOf(Buffer.from('\x82no tag here', 'latin1').toString('base64')), 'not-a-car');
  assert.is(await reasonOf('[1]'), 'not-base64');
});

test('a CID that holds a CAR, as other ucanto tools print it, is called that, and no CAR is', async () => {
  for (let bytes = 300; bytes < 306; bytes++) {
    // CIDv1, the codec of CARs, the identity hash, the length, the CAR.
    const cid = Buffer.concat([Buffer.from([1, 0x82, 0x04, 0, 0xac, 0x02]), Buffer.alloc(bytes, 0x3f)]);
    for (const text of [
      `m${cid.toString('base64').replace(/=+$/, '')}`,
      `u${cid.toString('base64url')}`,
      cid.toString('base64'),
    ])
      assert.is(await reasonOf(text), 'car-in-cid', text.slice(0, 9));
  }
  assert.match(TOKEN_REASONS['car-in-cid'], 'send the CAR itself as base64');
  for (const other of ['AYIF', 'mAYIF', 'xAYIE', 'mmAYIE'])
    assert.not.equal(await reasonOf(other.padEnd(400, 'A')), 'car-in-cid');
});

const TAG = 'ucan/dlg@1.0.0';

test('nothing else is called an envelope, whatever stands in it', async () => {
  for (const other of [TAG, ` [${TAG}`, `${TAG}[`, '[ucan/@1.0', '[ucan/DLG@1.0', `[${' '.repeat(1_024)}${TAG}`])
    assert.is(await reasonOf(other), 'not-base64', other);
  assert.is(await reasonOf(`[${TAG}!`), 'ucan-1');
  for (const other of [`\x83${TAG}`, TAG, '\x82ucan/@1.0', `\x82${' '.repeat(1_024)}${TAG}`])
    assert.is(await reasonOf(Buffer.from(other, 'latin1').toString('base64')), 'not-a-car', other);
});

test.run();
