// Delegations that users store: checked before, sealed at rest, gone when they expire or are revoked, for good.

import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { DELEGATION, DELEGATION_KINDS, type Delegations, delegations } from '../../lib/delegation/delegations.ts';
import { type TokenGuard, tokenGuard } from '../../lib/delegation/guard.ts';
import type { OracleKey } from '../../lib/delegation/oracle-key.ts';
import { revocations } from '../../lib/delegation/revocations.ts';
import { inspectToken, mintDelegation } from '../../lib/delegation/tokens.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { newKey } from './keys.ts';

const test = suite('stored delegations');
const keyring = parseKeyring(randomBytes(32).toString('hex'));

interface Bench {
  readonly clock: SimulatedClock;
  readonly documents: DocumentStore;
  readonly oracle: OracleKey;
  readonly user: OracleKey;
  readonly store: Delegations;
  readonly told: string[];
  readonly guard: TokenGuard;
  /** Another instance on the same documents. */
  again(documents?: DocumentStore): Delegations;
  grant(options?: { expiresIn?: number; key?: OracleKey; audience?: string }): Promise<string>;
}

async function bench(): Promise<Bench> {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare(DELEGATION_KINDS);
  const [oracle, user] = [newKey(), newKey()];
  const told: string[] = [];
  const again = (on: DocumentStore = documents) => {
    const revoked = revocations({ documents: on });
    const guard = tokenGuard({ audience: oracle.did, clock, revoked: revoked.has });
    return delegations({
      documents: on,
      clock,
      keyring,
      guard,
      revocations: revoked,
      key: oracle,
      onRevoked: ({ keys }) => told.push(...keys),
    });
  };
  const grant = ({ expiresIn = 3_600, key = user, audience = oracle.did } = {}) =>
    mintDelegation({ key, audience, expiresIn, clock, capabilities: [{ can: 'oracle/*', with: key.did }] });
  const revoked = revocations({ documents });
  const guard = tokenGuard({ audience: oracle.did, clock, revoked: revoked.has });
  return { clock, documents, oracle, user, store: again(), told, again, grant, guard };
}

async function refused(work: Promise<unknown>, words: RegExp): Promise<void> {
  const error = await work.then(
    () => assert.unreachable('expected a refusal'),
    (thrown: unknown) => thrown,
  );
  assert.instance(error, TwinlineError);
  assert.match((error as TwinlineError).message, words);
}

test('a delegation counts until it expires, as the token says and not as the sender does', async () => {
  const { store, user, clock, grant, again } = await bench();
  assert.equal(await store.status(user.did), { authorized: false });
  const { expiration } = await store.store(user.did, await grant());
  assert.is(expiration, Math.floor(clock.now() / 1000) + 3_600);
  assert.equal(await again().status(user.did), { authorized: true, expiration });
  await clock.advance(3_600_000);
  assert.equal(await store.status(user.did), { authorized: false });
  assert.is(await store.revoke(user.did), false);
  assert.is(
    await store.invoke(user.did, { audience: newKey().did, capability: { can: 'oracle/x', with: user.did } }),
    undefined,
  );
});

test('what is not for us, not from the caller or not in order is refused, and what was stored stays', async () => {
  const { store, user, grant } = await bench();
  const { expiration } = await store.store(user.did, await grant());
  const other = newKey();
  await refused(store.store(user.did, await grant({ audience: other.did })), /audience/);
  await refused(store.store(user.did, await grant({ key: other })), /was issued by/);
  await refused(store.store(user.did, 'nonsense!'), /base64/);
  await refused(store.store(user.did, ''), /cannot be stored/);
  assert.equal(await store.status(user.did), { authorized: true, expiration });
});

test('a revoked delegation is revoked on every instance, cannot be stored again, and a new one can', async () => {
  const { store, user, grant, again, told } = await bench();
  const raw = await grant();
  await store.store(user.did, raw);
  assert.is(await again().revoke(user.did), true);
  assert.is(told.length, 1);
  assert.equal(await store.status(user.did), { authorized: false });
  await refused(store.store(user.did, raw), /revoked/);
  // The same bytes in the other alphabet are the same token.
  await refused(store.store(user.did, Buffer.from(raw, 'base64').toString('base64url')), /revoked/);
  await store.store(user.did, await grant());
  assert.is((await again().status(user.did)).authorized, true);
});

test('whatever was stored before ends when another takes its place, and all of it with DELETE, in any order at once', async () => {
  const { store, user, grant, again, told, guard } = await bench();
  const raws = await Promise.all(Array.from({ length: 6 }, (_, at) => grant({ expiresIn: 3_600 + at })));
  const valid = async () => (await Promise.all(raws.map((raw) => guard.checkDelegation(raw)))).map(({ ok }) => ok);
  await store.store(user.did, raws[0]!);
  await store.store(user.did, raws[0]!);
  assert.equal(await valid(), [true, true, true, true, true, true], 'what is sent again stays');
  await again().store(user.did, raws[1]!);
  assert.equal(await valid(), [false, true, true, true, true, true]);
  assert.is(told.length, 1, 'connections that came with it are told');
  await Promise.all(raws.slice(1, 4).map((raw, at) => (at % 2 ? store : again()).store(user.did, raw)));
  const left = await valid();
  assert.equal(
    [left.slice(1, 4).filter(Boolean).length, left.slice(4)],
    [1, [true, true]],
    'one of them is stored last',
  );
  await Promise.all([store.store(user.did, raws[4]!), again().revoke(user.did), again().store(user.did, raws[5]!)]);
  const { authorized } = await store.status(user.did);
  assert.equal((await valid()).filter(Boolean).length, authorized ? 1 : 0, 'what counts is what is stored');
  await again().revoke(user.did);
  assert.equal(await valid(), Array(6).fill(false));
  assert.is(new Set(told).size, 6);
});

test('a process that dies while it revokes leaves nothing that counts', async () => {
  for (let writes = 0; writes < 3; writes++) {
    const { store, user, grant, documents, again } = await bench();
    const raw = await grant();
    await store.store(user.did, raw);
    let left = writes;
    const dying = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
      return (...args: A) => (left-- > 0 ? call(...args) : Promise.reject(new TwinlineError('ERR_STORE', 'gone')));
    };
    const half = { ...documents, insert: dying(documents.insert), replace: dying(documents.replace) } as DocumentStore;
    const ended = await again(half)
      .revoke(user.did)
      .then(
        () => true,
        () => false,
      );
    const { authorized } = await again().status(user.did);
    if (writes > 0) assert.is(authorized, false, `after ${writes} writes`);
    if (ended) await refused(store.store(user.did, raw), /revoked/);
  }
});

test('the token is in no document, and opens for its user alone', async () => {
  const { store, user, grant, documents } = await bench();
  const raw = await grant();
  await store.store(user.did, raw);
  const kept = JSON.stringify(await documents.get(DELEGATION, user.did));
  for (const part of [raw, raw.slice(40, 80), Buffer.from(raw, 'base64').toString('base64url').slice(40, 80)])
    assert.not.ok(kept.includes(part));
  const thief = newKey();
  await documents.insert(DELEGATION, thief.did, (await documents.get(DELEGATION, user.did))!.body);
  const capability = { can: 'oracle/x', with: user.did };
  assert.is(await store.invoke(thief.did, { audience: newKey().did, capability }), undefined);
});

test('an invocation of another service stays within what was delegated, and is used again for a while', async () => {
  const { store, user, oracle, grant, clock } = await bench();
  await store.store(user.did, await grant());
  const audience = newKey().did;
  const wanted = { audience, capability: { can: 'oracle/read', with: user.did } };
  const first = (await store.invoke(user.did, wanted))!;
  const inspected = inspectToken(first);
  assert.ok(inspected.ok);
  assert.equal(
    inspected.chain.map(({ issuer }) => issuer),
    [oracle.did, user.did],
  );
  const theirs = tokenGuard({ audience, clock, accepted: { resource: 'root' } });
  assert.ok((await theirs.checkInvocation(first)).ok);
  assert.is(await store.invoke(user.did, wanted), first);
  await refused(
    store.invoke(user.did, { audience, capability: { can: 'space/delete', with: user.did } }),
    /does not grant/,
  );
  await clock.advance(200_000);
  assert.is.not(await store.invoke(user.did, wanted), first);
  await store.revoke(user.did);
  assert.is(await store.invoke(user.did, wanted), undefined);
});

test('what is over is swept away', async () => {
  const { store, user, grant, clock, documents } = await bench();
  await store.store(user.did, await grant({ expiresIn: 60 }));
  await store.revoke(user.did);
  await store.store(user.did, await grant({ expiresIn: 60 }));
  await clock.advance(61_000);
  assert.ok((await store.sweep()) > 0);
  assert.is(await store.sweep(), 0);
  assert.not.ok(JSON.stringify(await documents.get(DELEGATION, user.did)).includes('v1$'));
  const tombstones = () => documents.count(DELEGATION_KINDS[1]!);
  assert.is(await tombstones(), 1, 'clocks of instances may differ');
  await clock.advance(COMMON_LIMITS.keptBeyondExpiryMs);
  assert.is(await store.sweep(), 1);
  assert.is(await tombstones(), 0);
});

test('after a change of the key, a delegation to the key before is used with that key, as long as it is given', async () => {
  const { documents, clock, oracle, user, store, grant } = await bench();
  await store.store(user.did, await grant());
  const next = newKey();
  const after = (olderKeys: readonly OracleKey[]) => {
    const revoked = revocations({ documents });
    const guard = tokenGuard({ audience: [next.did, oracle.did], clock, revoked: revoked.has });
    return delegations({
      documents,
      clock,
      keyring,
      guard,
      revocations: revoked,
      key: next,
      issuer: next.did,
      olderKeys,
    });
  };
  const wanted = { audience: newKey().did, capability: { can: 'oracle/x', with: user.did } };
  const read = inspectToken((await after([oracle]).invoke(user.did, wanted))!);
  assert.is(read.ok && read.chain[0].issuer, oracle.did);
  await after([])
    .invoke(user.did, wanted)
    .then(assert.unreachable, (error) => assert.match(error.message, oracle.did));
  await after([oracle]).store(user.did, await grant({ audience: next.did }));
  const moved = inspectToken((await after([oracle]).invoke(user.did, wanted))!);
  assert.is(moved.ok && moved.chain[0].issuer, next.did);
});

test.run();
