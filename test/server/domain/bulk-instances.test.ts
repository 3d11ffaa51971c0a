// From one instance to another: votes, versions and histories come along. How many domains do is in server/cli/bulk.

import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withFolder } from '../../support/process.ts';
import { type DomainClient, domainClient, PROTOCOL, writeKeys } from '../support/domain-client.ts';
import { json, withServer } from '../support/serve.ts';

const test = suite('instances');

const LINES = { 'content-type': 'application/x-ndjson' };

interface Row {
  readonly line: number;
  readonly status: number;
  readonly did?: string;
}

const withInstance = (keys: string, env: NodeJS.ProcessEnv, work: (client: DomainClient) => Promise<void>) =>
  withServer({ env: { API_KEYS_FILE: keys, ...env } }, (server) => work(domainClient(() => server.url)));

async function importText(client: DomainClient, body: string, query = ''): Promise<Row[]> {
  const answer = await client.send('operator', `/v1/bulk${query}`, { method: 'POST', headers: LINES, body });
  assert.is(answer.status, 207, answer.text);
  return answer.text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Row);
}

const exported = async (client: DomainClient) => (await client.send('operator', '/v1/export')).text;

function counts(rows: readonly Row[]): Record<number, number> {
  const count: Record<number, number> = {};
  for (const { status } of rows) count[status] = (count[status] ?? 0) + 1;
  return count;
}

test('votes, versions of protocols, histories and parts come along, and life goes on', () =>
  withFolder(async (folder) => {
    const keys = writeKeys(folder);
    let dump = '';
    let dids: string[] = [];
    let paths: string[] = [];
    let before: unknown[] = [];
    await withInstance(keys, { DATA_DIR: join(folder, 'a') }, async (client) => {
      await client.protocol('operator');
      const child = {
        type: 'Protocol',
        alsoKnownAs: 'did:x:child',
        parent: PROTOCOL,
        properties: {},
        relationships: {},
      };
      const { did: childDid } = (await client.post('operator', '/v1/protocols', child)).json() as { did: string };
      const bound = await client.project('operator', { class: 'did:x:child', properties: { size: 1 } });
      const version = { ...json({ properties: { age: 'number' } }, { 'if-match': '"1"' }), method: 'PATCH' };
      assert.is((await client.send('operator', `/v1/protocols/${childDid}`, version)).status, 200);
      const verified = await client.project('operator');
      const organisation = await client.project('operator', { type: 'Organisation', alsoKnownAs: 'did:x:org' });
      await vote(client, verified);
      const open = await client.project('operator');
      const proposal = (await propose(client, open, 'verify')) as { id: string };
      const ended = await client.project('operator');
      await client.send('operator', `/v1/domains/${ended}`, { method: 'DELETE' });
      dids = [bound, verified, organisation, open];
      paths = [
        ...dids.flatMap((did) =>
          ['', '/history', '/verification', '?view=composed', '?at=1'].map((more) => `/v1/domains/${did}${more}`),
        ),
        `/v1/domains/${ended}`,
        `/v1/domains/${ended}/history`,
        `/v1/proposals/${proposal.id}`,
        `/v1/proposals/${proposal.id}/votes`,
        `/v1/protocols/${childDid}?at=1`,
        '/v1/protocols/did:x:child',
        '/v1/domains',
        '/v1/domains?status=Verified',
        `/v1/domains/${organisation}/graph?depth=2`,
      ];
      before = await readAll(client, paths);
      dump = await exported(client);
      assert.ok(
        before.every((answer) => [200, 410].includes((answer as { status: number }).status)),
        JSON.stringify(before),
      );
    });
    await withInstance(keys, {}, async (client) => {
      const tried = await importText(client, dump, '?dryRun=true');
      assert.equal(Object.keys(counts(tried)), ['200', '201'], 'the first and the last line are no records');
      assert.is((await exported(client)).split('\n').length, 3);
      const half = dump.split('\n').slice(0, 9).join('\n');
      await importText(client, half);
      const rows = await importText(client, dump);
      assert.equal(Object.keys(counts(rows)), ['200', '201']);
      assert.equal(await readAll(client, paths), before);
      assert.is(await exported(client), dump);
      // The open vote is decided here, and what was verified there is suspended here.
      await vote(client, dids[3]!, 'verify', false);
      await vote(client, dids[1]!, 'suspend');
      const now = (await readAll(client, [`/v1/domains/${dids[3]}`, `/v1/domains/${dids[1]}`])) as { text: string }[];
      assert.equal(
        now.map(({ text }) => (JSON.parse(text) as { status: string }).status),
        ['Verified', 'Suspended'],
      );
      const late = await importText(client, dump);
      assert.ok((counts(late)[200] ?? 0) > 0);
      assert.equal(Object.keys(counts(late)), ['200'], 'what went on here stays, and was that before');
    });
    await withInstance(keys, {}, async (client) => {
      const changed = dump.replaceAll('"action":"create"', '"action":"made"');
      await importText(client, dump);
      assert.ok((counts(await importText(client, changed))[409] ?? 0) > 0, 'another history is refused');
      assert.is(await exported(client), dump);
    });
  }));

async function propose(client: DomainClient, did: string, kind: string): Promise<unknown> {
  const answer = await client.post('operator', `/v1/domains/${did}/proposals`, { kind });
  assert.is(answer.status, 201, answer.text);
  return answer.json();
}

async function vote(client: DomainClient, did: string, kind = 'verify', isNew = true): Promise<void> {
  if (isNew) await propose(client, did, kind);
  const { open } = (await client.send('voter', `/v1/domains/${did}/verification`)).json() as { open: { id: string }[] };
  const answer = await client.post('voter', `/v1/proposals/${open[0]!.id}/votes`, { vote: 'yes' });
  assert.is(answer.status, 201, answer.text);
}

function readAll(client: DomainClient, paths: readonly string[]): Promise<unknown[]> {
  return Promise.all(
    paths.map(async (path) => {
      const { status, text, headers } = await client.send('operator', path);
      return { path, status, text, etag: headers.etag };
    }),
  );
}

test.run();
