// How often a write reads the store: what is changed is read once for the rights and once more where it is written.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { DocumentStore } from '../../../lib/store/store.ts';
import type { Answer } from '../support/serve.ts';
import { door } from './door.ts';
import { created, path, YES } from './place.ts';

const test = suite('reads of the store');
let reads: string[] = [];

/** Notes each document and each page that is read of what clients see. */
function counted(documents: DocumentStore): DocumentStore {
  const note = (how: string, kind: string) => {
    if (['domain', 'proposal', 'protocol'].includes(kind)) reads.push(`${how} ${kind}`);
  };
  return new Proxy(documents, {
    get(target, name: keyof DocumentStore) {
      const method = target[name];
      if (typeof method !== 'function') return method;
      return (...args: [{ name: string }, ...unknown[]]) => {
        if (name === 'get' || name === 'find') note(name, args[0].name);
        return (method as (...args: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}

const rules = { quorum: '0.9', votingPeriodSeconds: 100 };
const { ask, domain: make, proposal } = door(test, { rules, watch: counted });
const propose = async () => proposal((await make()).did);

async function readsOf(request: () => Promise<Answer>): Promise<Record<string, number>> {
  reads = [];
  const { status, text } = await request();
  assert.ok(status < 300, text);
  const counts: Record<string, number> = {};
  for (const read of reads) counts[read] = (counts[read] ?? 0) + 1;
  return counts;
}

test('a change of a twin reads it once, and looks once for votes about it that are over', async () => {
  const seen = { 'if-match': '"1"' };
  const first = await make();
  const patch = await readsOf(() => ask('owner', `PATCH ${path(first.did)}`, { metadata: { name: 'x' } }, seen));
  assert.equal(patch, { 'get domain': 1, 'find proposal': 1, 'get protocol': 1 });
  const second = await make();
  const transfer = { controller: 'did:ixo:rival' };
  const given = await readsOf(() => ask('owner', `POST ${path(second.did)}/transfer`, transfer, seen));
  // What is open about it is looked for again: the change ends it.
  assert.equal(given, { 'get domain': 1, 'find proposal': 2 });
  const third = await make();
  const ended = await readsOf(() => ask('owner', `DELETE ${path(third.did)}`));
  assert.equal(ended, { 'get domain': 1, 'find proposal': 2 });
});

test('a change of a protocol reads it once', async () => {
  const made = created(await ask('owner', 'POST /v1/protocols', { type: 'Protocol', name: 'One' }));
  const seen = { 'if-match': '"1"' };
  const changed = await readsOf(() => ask('owner', `PATCH ${path(made.did, 'protocols')}`, { name: 'Two' }, seen));
  assert.equal(changed, { 'get protocol': 1 });
});

test('a vote or a veto reads the proposal for the rights and for the write, and what it is about once', async () => {
  const { id } = await propose();
  const vote = await readsOf(() => ask('ann', `POST /v1/proposals/${id}/votes`, YES));
  assert.equal(vote, { 'get proposal': 2, 'get domain': 1 });
  const keyed = await readsOf(() => ask('bob', `POST /v1/proposals/${id}/votes`, YES, { 'idempotency-key': 'one' }));
  assert.equal(keyed, { 'get proposal': 2, 'get domain': 1 });
  const other = await propose();
  const withdrawn = await readsOf(() => ask('rep', `POST /v1/proposals/${other.id}/withdraw`));
  // Its end is noted on the domain, which reads both again.
  assert.is(withdrawn['get proposal'], 3);
});

test('a proposal reads its domain for the rights and when it is made', async () => {
  const { did } = await make();
  const made = await readsOf(() => ask('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }));
  // Once for the rights, once after the body was read, once to note it there.
  assert.equal(made, { 'get domain': 3, 'get proposal': 2, 'find proposal': 2 });
});

test.run();
