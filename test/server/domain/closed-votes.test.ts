// A vote that is over is over for whoever asks over HTTP, on a server whose background work never runs.

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
import { readConfig } from '../../../server/config/config.ts';
import { type DomainService, openDomain } from '../../../server/domain/open.ts';
import { createLog } from '../../../server/health/log.ts';
import { memoryAudit } from '../support/audit.ts';
import { ask as askUrl } from '../support/serve.ts';
import { type Ask, asker, created, files, PROTOCOL, path, type View, view, YES } from './place.ts';

// Nothing is decided before the close.
const RULES = { quorum: '0.2', votingPeriodSeconds: 100, allowRevoting: true };

const test = suite('closed votes over HTTP');
const folder = mkdtempSync(join(tmpdir(), 'twinline-closed-'));
const clock = new SimulatedClock();
const faults: unknown[] = [];
let domain: DomainService;
let server: Server;
let ask: Ask;

test.before(async () => {
  const { API_KEYS_FILE, GOVERNANCE_FILE } = files(folder, RULES);
  const { config } = readConfig({ PORT: '0' }, { makeKeys: true });
  domain = await openDomain({
    clock,
    documents: memoryDocuments({ clock }),
    apiKeysFile: API_KEYS_FILE,
    governanceFile: GOVERNANCE_FILE,
    oracleKey: config!.oracleKey,
    publicUrl: undefined,
    keyring: parseKeyring(config!.pinKeys),
    production: false,
    audit: await memoryAudit(clock),
    log: createLog({ logLevel: 'error' }),
    onProblem: () => faults.push('a problem'),
  });
  const app = new Koa().use(domain.door);
  app.on('error', (error) => faults.push(error));
  server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  ask = asker(() => (way, how) => askUrl(base + way, how));
  created(await ask('owner', 'POST /v1/protocols', PROTOCOL));
});

test.after(async () => {
  assert.equal(faults, []);
  domain.drain();
  await new Promise((resolve) => server.close(resolve));
  await domain.close();
  rmSync(folder, { recursive: true, force: true });
});

/** New domains with a vote each that has just closed, and that nobody has looked at since. */
async function closed(count: number): Promise<{ readonly did: string; readonly id: string }[]> {
  const open = async () => {
    const { did } = created(await ask('owner', 'POST /v1/domains', { type: 'Project', class: PROTOCOL.alsoKnownAs }));
    const { id, closesAt } = created(await ask('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }));
    for (const who of ['ann', 'bob'] as const) created(await ask(who, `POST /v1/proposals/${id}/votes`, YES));
    assert.is(Date.parse(String(closesAt)), clock.now() + 100_000);
    return { did, id };
  };
  const made = await Promise.all(Array.from({ length: count }, open));
  await clock.advance(100_000);
  return made;
}

test('each address tells the outcome of a vote whose close nobody has seen', async () => {
  const get = async (line: string) => view(await ask('operator', `GET ${line}`));
  const reads: readonly ((subject: { did: string; id: string }) => Promise<unknown>)[] = [
    async ({ did }) => (await get(path(did))).status,
    async ({ did }) => (await get(path(did, 'entities'))).status,
    async ({ did }) => (await get(`${path(did)}?view=composed`)).status,
    async ({ did }) => (await get(`${path(did)}?at=${new Date(clock.now()).toISOString()}`)).status,
    async ({ did }) => (await get(`${path(did)}/verification`)).status,
    async ({ did }) => (await get(`${path(did)}/eligibility`)).eligible === true && 'Verified',
    async ({ did }) => ((await get(`${path(did)}/card`)).credentialSubject as View).status,
    async ({ did }) => {
      const [latest] = (await get(`${path(did)}/history`)).items;
      return latest?.action === 'verify' && 'Verified';
    },
    async ({ did }) => {
      const headers = { accept: 'application/did-resolution' };
      const answer = await ask(undefined, `GET /1.0/identifiers/${did}`, undefined, headers);
      return (view(answer).didDocumentMetadata as View).versionId === '3' && 'Verified';
    },
    async ({ id }) => (await get(`/v1/proposals/${id}`)).status === 'executed' && 'Verified',
    async ({ id }) => {
      const page = await ask('rep', `GET /v1/proposals/${id}`, undefined, { accept: 'text/html' });
      return page.text.includes('badge executed') && 'Verified';
    },
  ];
  const subjects = await closed(reads.length);
  for (const [at, read] of reads.entries()) assert.is(await read(subjects[at]!), 'Verified', String(read));
});

test('lists and exports tell the outcome of every vote whose close nobody has seen', async () => {
  const idsIn = (items: readonly View[]) => items.map(({ did }) => did).sort();
  for (const list of ['status=Verified', 'filter=eq(status,"Verified")', 'type=Project&status=Verified']) {
    const subjects = await closed(3);
    const { items } = view(await ask('rep', `GET /v1/domains?${encodeURI(list)}&limit=1000`));
    const found = new Set(idsIn(items));
    assert.ok(
      subjects.every(({ did }) => found.has(did)),
      list,
    );
    assert.equal(view(await ask('rep', 'GET /v1/domains?status=UnderReview')).items, []);
  }
  const subjects = await closed(2);
  assert.equal(view(await ask('rep', 'GET /v1/domains?status=UnderReview')).items, []);
  for (const { did } of subjects) assert.is(view(await ask('rep', `GET ${path(did)}`)).status, 'Verified');
  const more = await closed(2);
  const lines = (await ask('operator', 'GET /v1/export')).text.split('\n').filter((line) => line !== '');
  const records = lines.map((line) => JSON.parse(line) as { kind: string; did: string; body: { status: string } });
  const told = records.filter(({ kind, did }) => kind === 'domain' && more.some((one) => one.did === did));
  assert.equal(
    told.map(({ body }) => body.status),
    ['Verified', 'Verified'],
  );
});

test.run();
