// How often a write reads the store: what is changed is read once for the rights and once more where it is written.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Koa from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { readConfig } from '../../../server/config/config.ts';
import { type DomainService, openDomain } from '../../../server/domain/open.ts';
import { createLog } from '../../../server/health/log.ts';
import { memoryAudit } from '../support/audit.ts';
import { type Answer, ask as askUrl } from '../support/serve.ts';
import { type Ask, asker, created, files, PROTOCOL, path, type View, YES } from './place.ts';

const test = suite('reads of the store');
const folder = mkdtempSync(join(tmpdir(), 'twinline-reads-'));
const clock = new SimulatedClock();
let reads: string[] = [];
let domain: DomainService;
let server: Server;
let ask: Ask;

/** Notes each document and each page that is read of what clients see. */
function counted(documents: DocumentStore): DocumentStore {
  const note = (how: string, kind: string) => {
    if (['domain', 'proposal', 'protocol'].includes(kind)) reads.push(`${how} ${kind}`);
  };
  return new Proxy(documents, {
    get(target, name: keyof DocumentStore) {
      const method = target[name];
      if (typeof method !== 'function') return method;
      return (...given: [{ name: string }, ...unknown[]]) => {
        if (name === 'get' || name === 'find') note(name, given[0].name);
        return (method as (...given: unknown[]) => unknown).apply(target, given);
      };
    },
  });
}

test.before(async () => {
  const { API_KEYS_FILE, GOVERNANCE_FILE } = files(folder, { quorum: '0.9', votingPeriodSeconds: 100 });
  const { config } = readConfig({ PORT: '0' }, { makeKeys: true });
  domain = await openDomain({
    clock,
    documents: counted(memoryDocuments({ clock })),
    apiKeysFile: API_KEYS_FILE,
    governanceFile: GOVERNANCE_FILE,
    oracleKey: config!.oracleKey,
    publicUrl: undefined,
    keyring: parseKeyring(config!.pinKeys),
    production: false,
    audit: await memoryAudit(clock),
    log: createLog({ logLevel: 'error' }),
    onProblem: () => {},
  });
  server = createServer(new Koa().use(domain.door).callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  ask = asker(() => (way, how) => askUrl(base + way, how));
  created(await ask('owner', 'POST /v1/protocols', PROTOCOL));
});

test.after(async () => {
  domain.drain();
  await new Promise((resolve) => server.close(resolve));
  await domain.close();
  rmSync(folder, { recursive: true, force: true });
});

const make = async (): Promise<View> =>
  created(await ask('owner', 'POST /v1/domains', { type: 'Project', class: PROTOCOL.alsoKnownAs }));
const propose = async (): Promise<View> =>
  created(await ask('rep', `POST ${path((await make()).did)}/proposals`, { kind: 'verify' }));

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
