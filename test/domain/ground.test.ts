// The ground of the domain service: DIDs, exact history, requests that come twice.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { isDid, isReference, mintDid, parseDidUrl } from '../../lib/domain/did/did.ts';
import {
  type Journaled,
  readRevision,
  readRevisions,
  replaceJournaled,
  revisionAt,
} from '../../lib/domain/feed/journal.ts';
import { idempotency } from '../../lib/domain/idempotency.ts';
import { DOMAIN, DOMAIN_KINDS, IDEMPOTENCY } from '../../lib/domain/kinds.ts';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { until } from '../support/until.ts';

const test = suite('domain ground');

test('documented references are DID URLs', () => {
  assert.equal(parseDidUrl('did:ixo:protocol/clean-cooking'), {
    did: 'did:ixo:protocol',
    path: '/clean-cooking',
    query: '',
    fragment: '',
  });
  assert.equal(parseDidUrl('did:a:b/c/d?e=f?g#h')?.fragment, 'h');
  for (const text of ['javascript:alert(1)', `did:a:${'b'.repeat(600)}`]) assert.not.ok(isReference(text), text);
  for (const text of ['did:ixo:a/b', 'x did:ixo:a', 'did:ixo:a\n']) assert.not.ok(isDid(text), text);
});

test('minted DIDs are in the form of the method, and never twice the same', () => {
  const minted = Array.from({ length: 10_000 }, mintDid);
  assert.is(new Set(minted).size, 10_000);
  assert.ok(minted.every((did) => /^did:ixo:entity:[0-9a-f]{32}$/.test(did) && isDid(did)));
});

async function ground(clock = new SimulatedClock()) {
  const documents = memoryDocuments({ clock });
  await documents.declare(DOMAIN_KINDS);
  return { documents, clock };
}

test('every revision of a document can be read, by number and by time, also when writers race', async () => {
  const { documents, clock } = await ground();
  const body = (n: number): Journaled => ({
    tenant: 't',
    n,
    journal: { at: clock.now(), by: 'x', action: 'a', events: [] },
  });
  const times = [clock.now()];
  await documents.insert(DOMAIN, 'd', body(1));
  for (let n = 2; n <= 5; n++) {
    await clock.advance(10);
    times.push(clock.now());
    const old = (await documents.get<Journaled>(DOMAIN, 'd'))!;
    const replaced = await Promise.all(
      [1, 2, 3].map(() => replaceJournaled(documents, { kind: DOMAIN, old, body: body(n) })),
    );
    assert.is(replaced.filter(({ kind }) => kind === 'replaced').length, 1);
  }
  for (let revision = 1; revision <= 5; revision++) {
    assert.is((await readRevision(documents, { kind: DOMAIN, id: 'd', revision }))?.body.n, revision);
    const at = times[revision - 1]!;
    for (const moment of [at, at + 9])
      assert.is((await revisionAt(documents, { kind: DOMAIN, id: 'd', at: moment }))?.revision, revision);
  }
  assert.is(await revisionAt(documents, { kind: DOMAIN, id: 'd', at: times[0]! - 1 }), undefined);
  assert.is(await readRevision(documents, { kind: DOMAIN, id: 'd', revision: 6 }), undefined);
  const page = await readRevisions(documents, { kind: DOMAIN, id: 'd', before: 5, limit: 2 });
  assert.equal(
    page.map(({ revision }) => revision),
    [4, 3],
  );
});

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
