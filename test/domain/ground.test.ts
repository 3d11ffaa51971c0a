// The ground of the domain service: DIDs, exact history, requests that come twice.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { mintDid } from '../../lib/domain/did/did.ts';
import { idempotency } from '../../lib/domain/idempotency.ts';
import { DOMAIN_KINDS, IDEMPOTENCY } from '../../lib/domain/kinds.ts';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { until } from '../support/until.ts';

const test = suite('domain ground');

async function ground(clock = new SimulatedClock()) {
  const documents = memoryDocuments({ clock });
  await documents.declare(DOMAIN_KINDS);
  return { documents, clock };
}

const request = { scope: ['t', 'p', 'POST /v1/domains'], key: 'k', content: '{}' };

test('a key that an earlier version has noted, with the DID of its twin, stands for the same twin', async () => {
  const { documents, clock } = await ground();
  const keys = idempotency({ documents, clock });
  await keys.runOnce(request, async () => ({}));
  const noted = (await documents.find<{ content: string }>(IDEMPOTENCY, {})).items[0]!;
  const token = '0123456789abcdef0123456789abcdef';
  const earlier = {
    content: noted.body.content,
    did: `did:ixo:entity:${token}`,
    expiresAt: clock.now() + DOMAIN_LIMITS.idempotencyMs,
  };
  const since = clock.now() - DOMAIN_LIMITS.idempotencyLeaseMs;
  await documents.replace(IDEMPOTENCY, noted.id, noted.revision, { ...earlier, state: 'running', since });
  const again = await keys.runOnce(request, async (given) => ({ did: mintDid(given) }));
  assert.equal(again, { did: earlier.did });
  const { revision } = (await documents.get(IDEMPOTENCY, noted.id))!;
  await documents.replace(IDEMPOTENCY, noted.id, revision, { ...earlier, state: 'done', answer: { of: 'before' } });
  assert.equal(await keys.runOnce(request, async () => ({ of: 'now' })), { of: 'before' });
});

test('work that was cut off is done again with the same token, after the lease or a failure of the store', async () => {
  const { documents, clock } = await ground();
  const keys = idempotency({ documents, clock });
  const dids: string[] = [];
  const failing = keys.runOnce(request, (did) => {
    dids.push(did);
    return Promise.reject(new TwinlineError('ERR_STORE', 'away'));
  });
  await failing.then(
    () => assert.unreachable(),
    () => {},
  );
  void keys.runOnce(request, (did) => {
    dids.push(did);
    return new Promise<{ did: string }>(() => {});
  });
  await until('the second work to begin', () => dids.length === 2);
  await clock.advance(DOMAIN_LIMITS.idempotencyLeaseMs);
  const answer = await keys.runOnce(request, async (did) => ({ did }));
  assert.equal(new Set([...dids, answer.did]).size, 1);
  await clock.advance(DOMAIN_LIMITS.idempotencyMs);
  assert.is(await keys.sweep(clock.now(), 10), 1);
  assert.is.not((await keys.runOnce(request, async (did) => ({ did }))).did, answer.did);
});

test.run();
