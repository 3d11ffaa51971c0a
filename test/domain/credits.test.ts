// Credits and what happens to their domain at the same moment.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import type { Caller } from '../../lib/domain/caller.ts';
import { mintDid } from '../../lib/domain/did/did.ts';
import { CREDIT, DOMAIN, DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { credits } from '../../lib/domain/voting/credits.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore, JsonObject } from '../../lib/store/store.ts';
import { refuses } from './voting.ts';

const test = suite('credits');

const ISSUER: Caller = { principal: 'did:x:issuer', roles: new Set(['issuer']), tenant: 't' };

/** A verified domain, and a store that does `before` once, right before a credit is replaced. */
async function bench(before: (documents: DocumentStore, did: string) => Promise<void>) {
  const clock = new SimulatedClock();
  const real = memoryDocuments({ clock });
  await real.declare(DOMAIN_KINDS);
  const did = mintDid();
  const journal = { at: clock.now(), by: 'x', action: 'create', events: [] };
  const body = { tenant: 't', did, status: 'Verified', parent: null, validFrom: null, validUntil: null, journal };
  await real.insert(DOMAIN, did, body as never);
  let isDone = false;
  const replace: DocumentStore['replace'] = async (kind, ...rest) => {
    if (kind.name === CREDIT.name && !isDone) {
      isDone = true;
      await before(real, did);
    }
    return real.replace(kind, ...rest);
  };
  const service = credits({ documents: { ...real, replace }, clock });
  return { did, service, issue: () => service.issue(ISSUER, { did, body: { amount: '5' }, id: 'c1' }), real };
}

async function suspend(documents: DocumentStore, did: string): Promise<void> {
  const domain = (await documents.get<JsonObject>(DOMAIN, did))!;
  await documents.replace(DOMAIN, did, domain.revision, { ...domain.body, status: 'Suspended' } as never);
}

test('a suspension that is stored before the credit counts: the credit is revoked, and so is its repetition', async () => {
  const { did, service, issue, real } = await bench(suspend);
  await refuses('domain-not-verified', issue);
  assert.is((await real.get<JsonObject>(CREDIT, 'c1'))!.body.state, 'revoked');
  assert.equal((await service.list(ISSUER, { did, limit: 10 })).items, []);
  await refuses('domain-not-verified', issue);
});

test('a credit that another try has taken away meanwhile is not told as issued', async () => {
  const { issue, real } = await bench(async (documents) => {
    await documents.remove(CREDIT, 'c1');
  });
  await refuses('domain-not-verified', issue);
  assert.is(await real.get(CREDIT, 'c1'), undefined);
});

test.run();
