// Status lists on their own: the bits of the standard, places that never clash, and that no change is missed.

import { decodeList } from '@digitalbazaar/vc-bitstring-status-list';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { isSet, STATUS_PURPOSES, type StatusEntry } from '../../lib/domain/credential/places.ts';
import { type Issuer, type StatusLists, statusLists } from '../../lib/domain/credential/status-list.ts';
import { mintDid } from '../../lib/domain/did/did.ts';
import { DOMAIN, DOMAIN_KINDS, STATUS_ENTRY } from '../../lib/domain/kinds.ts';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import type { Domain, Status, StoredDomain } from '../../lib/domain/twin/record.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { insertNew } from '../../lib/store/update.ts';

const test = suite('status list');

// Signing is proved elsewhere; how often it is done is counted here.
function counting(): Issuer & { signed: number } {
  const issuer = {
    did: 'did:key:a',
    signed: 0,
    issue: async (credential: JsonObject) => {
      issuer.signed++;
      return credential;
    },
  };
  return issuer;
}

async function place() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare(DOMAIN_KINDS);
  const issuer = counting();
  const lists = () => statusLists({ documents, issuers: [issuer], clock });
  return { clock, documents, issuer, lists };
}

const bodyOf = (did: string, status: Status, verifiedBy?: string) =>
  ({
    tenant: 't',
    did,
    status,
    verification: verifiedBy === undefined ? {} : { settled: { verify: { proposal: verifiedBy, revision: 1 } } },
  }) as unknown as StoredDomain;

function insert(documents: DocumentStore, status: Status, verifiedBy?: string): Promise<Domain> {
  const did = mintDid();
  return insertNew(documents, DOMAIN, { id: did, body: bodyOf(did, status, verifiedBy) });
}

async function bitsOf(lists: StatusLists, list: string) {
  const read = STATUS_PURPOSES.map(async (purpose) => {
    const found = await lists.credential({ list, purpose, url: `https://x/${list}-${purpose}` });
    const { encodedList } = found!.credentialSubject as { encodedList: string };
    return [purpose, await decodeList({ encodedList })] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

test('the empty list is the one of the W3C example, and a bit is where other libraries look for it; in a list that takes no more places, what nobody has is revoked', async () => {
  const example = 'uH4sIAAAAAAAAA-3BMQEAAADCoPVPbQwfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA';
  const { documents, lists } = await place();
  const open = lists();
  const ended = await open.place(await insert(documents, 'Deactivated'));
  const good = await open.place(await insert(documents, 'Created'));
  const empty = await decodeList({ encodedList: example });
  const compare = async (of: StatusLists, isOpen: boolean) => {
    const { revocation, suspension } = await bitsOf(of, good.list);
    for (const list of [revocation!, suspension!]) assert.is(list.length, empty.length);
    for (let index = 0; index < empty.length; index++) {
      assert.is(suspension!.getStatus(index), empty.getStatus(index));
      assert.is(revocation!.getStatus(index), isOpen ? index === ended.index : index !== good.index);
    }
  };
  await compare(open, true);
  // Another process begins lists of its own.
  await compare(lists(), false);
  await compare(open, false);
});

test('what each status means for each purpose, for a plain card and for a verification', () => {
  const plain = { verifiedBy: '' };
  const flags = (entry: Pick<StatusEntry, 'verifiedBy'>, body: StoredDomain | undefined) =>
    STATUS_PURPOSES.filter((purpose) => isSet(entry, purpose, body)).join(' ');
  const verified = { verifiedBy: 'p1' };
  const table: [Status, plain: string, verification: string][] = [
    ['Created', '', 'revocation'],
    ['UnderReview', '', 'revocation'],
    ['Rejected', '', 'revocation'],
    ['Verified', '', ''],
    ['Suspended', 'suspension', 'suspension'],
    ['Revoked', 'suspension', 'revocation'],
    ['Deactivated', 'revocation', 'revocation'],
  ];
  for (const [status, ofPlain, ofVerification] of table) {
    assert.is(flags(plain, bodyOf('d', status, 'p1')), ofPlain, `${status}, plain`);
    assert.is(flags(verified, bodyOf('d', status, 'p1')), ofVerification, status);
    const later = flags(verified, bodyOf('d', status, 'p2'));
    assert.ok(later.includes('revocation'), `${status} by a later proposal`);
  }
  const review = {
    ...bodyOf('d', 'UnderReview', 'p1'),
    verification: {
      review: { from: 'Suspended', proposal: 'p2' },
      settled: { verify: { proposal: 'p1', revision: 1 } },
    },
  };
  assert.is(flags(verified, review as unknown as StoredDomain), 'suspension', 'beneath the review it is suspended');
  assert.is(flags(plain, undefined), 'revocation');
});

test('a list is read once and then follows every change, as a list that is read anew sees it', async () => {
  const statuses = ['Created', 'Verified', 'Suspended', 'Revoked', 'Deactivated'] as const;
  const step = fc.record({ who: fc.nat(5), status: fc.constantFrom(...statuses), by: fc.constantFrom('p1', 'p2') });
  const steps = fc.array(fc.oneof(step, fc.constant('card' as const), fc.constant('read' as const)), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(), async (script, seed) => {
      const { documents, lists } = await place();
      const twins = await Promise.all(Array.from({ length: 6 }, () => insert(documents, 'Created')));
      const followed = lists();
      const { list } = await followed.place(twins[0]!);
      for (const [at, one] of script.entries()) {
        if (one === 'read') await bitsOf(followed, list);
        else if (one === 'card')
          await followed.place((await documents.get(DOMAIN, twins[(seed + at) % 6]!.id))! as Domain);
        else {
          const twin = (await documents.get(DOMAIN, twins[one.who]!.id))! as Domain;
          await documents.replace(DOMAIN, twin.id, twin.revision, bodyOf(twin.id, one.status, one.by));
        }
      }
      const [mine, anew] = [await bitsOf(followed, list), await bitsOf(lists(), list)];
      const { items } = await documents.find<StatusEntry>(STATUS_ENTRY, { index: 'place' });
      for (const { body } of items)
        for (const purpose of STATUS_PURPOSES) {
          const twin = await documents.get<StoredDomain>(DOMAIN, body.did);
          const expected = isSet(body, purpose, twin!.body);
          assert.is(mine[purpose]!.getStatus(body.index), expected);
          assert.is(anew[purpose]!.getStatus(body.index), expected);
        }
    }),
    { numRuns: 40 },
  );
});

test('a list is signed again when a bit has changed or an hour has passed, else not; one that failed is read anew', async () => {
  const { documents, clock, issuer, lists } = await place();
  const twin = await insert(documents, 'Verified', 'p1');
  const followed = lists();
  const { list } = await followed.place(twin);
  const read = () => followed.credential({ list, purpose: 'suspension', url: 'https://x/1' });
  await read();
  await read();
  assert.is(issuer.signed, 1);
  await documents.replace(DOMAIN, twin.id, 1, bodyOf(twin.id, 'Suspended', 'p1'));
  await Promise.all([read(), read()]);
  const after = issuer.signed;
  assert.ok(after > 1);
  await clock.advance(DOMAIN_LIMITS.statusListFreshMs);
  await read();
  assert.is(issuer.signed, after + 1);
  const { changes } = documents;
  documents.changes = () => Promise.reject(new TwinlineError('ERR_STORE', 'away'));
  await read().then(
    () => assert.unreachable('a list of unknown age was given'),
    (error) => assert.is(error.code, 'ERR_STORE'),
  );
  documents.changes = changes;
  assert.ok(await read());
  // Whoever is far behind reads the list anew.
  let pages = 0;
  documents.changes = async (after, limit) => {
    pages++;
    return Array.from({ length: limit }, (_, at) => ({ seq: after + 1 + at, kind: 'x', id: 'x', revision: 1, at: 0 }));
  };
  assert.ok(await read());
  assert.is(pages, DOMAIN_LIMITS.statusListPages);
});

test('places of one list never clash; where none of several is free, another list begins', async () => {
  const { documents, lists } = await place();
  const [own, first] = [lists(), await insert(documents, 'Created')];
  const full = await own.place(first);
  const put = documents.insert.bind(documents);
  let refused = 0;
  documents.insert = async (kind, id, body) => {
    const isTaken = kind === STATUS_ENTRY && refused++ < DOMAIN_LIMITS.statusListTries;
    return isTaken ? { kind: 'exists', index: 'place' } : put(kind, id, body);
  };
  const second = await own.place(await insert(documents, 'Created'));
  assert.is.not(second.list, full.list);
  assert.is((await own.place(await insert(documents, 'Created'))).list, second.list, 'the others follow');
  assert.equal(await own.place(first), full);
  const none = { list: '0'.repeat(32), purpose: 'revocation', url: 'https://x/1' } as const;
  assert.is(await own.credential(none), undefined);
  const twice = await put(STATUS_ENTRY, 'another', { ...second, did: 'another' });
  assert.equal(twice, { kind: 'exists', index: 'place' }, 'one place for two');
});

test.run();
