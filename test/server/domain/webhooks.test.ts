// /v1/webhooks over HTTP, with receivers that speak TLS: signatures, tenants, secrets, and every address that is refused.

import { createHmac } from 'node:crypto';
import dns from 'node:dns';
import { readdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { webhookSender } from '../../../lib/http/client.ts';
import { addressProblem, findResolvedProblem, guardedLookup } from '../../../lib/http/hosts.ts';
import { withFolder } from '../../support/process.ts';
import { timed } from '../../support/timed.ts';
import { type DomainClient, domainClient, writeKeys } from '../support/domain-client.ts';
import { NAME, type Receiver, toHere, withReceiver } from '../support/receiver.ts';
import { json, type Served, withServer } from '../support/serve.ts';

const test = suite('webhooks over HTTP');

type Work = (client: DomainClient, receiver: Receiver, server: Served, folder: string) => Promise<void>;

const withHooks = (work: Work, env: NodeJS.ProcessEnv = {}) =>
  withReceiver((receiver) =>
    withFolder((folder) => {
      const data = join(folder, 'data');
      const given = { API_KEYS_FILE: writeKeys(folder), DATA_DIR: data, ...env };
      return withServer({ env: given, webhookSender: { lookup: toHere, ca: receiver.ca } }, async (server) => {
        const client = domainClient(() => server.url);
        await client.protocol('controller');
        await work(client, receiver, server, data);
      });
    }),
  );

interface Hook {
  readonly id: string;
  readonly secret?: string;
  readonly status: string;
  readonly delivery: Readonly<Record<string, unknown>>;
}

test('an event arrives signed as Standard Webhooks has it, and the secret is shown once and sealed in the store', () =>
  withHooks(async (client, receiver, server, folder) => {
    const made = await client.post('controller', '/v1/webhooks', { url: receiver.url, events: ['domain.*'] });
    assert.is(made.status, 201);
    const { id, secret } = made.json() as Hook;
    assert.is(made.headers.location, `/v1/webhooks/${id}`);
    assert.match(secret!, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const did = await client.project('controller');
    await receiver.until(() => receiver.received.length > 0);
    const { headers, body, url } = receiver.received[0]!;
    assert.is(url, '/hook?key=in-the-url');
    const event = JSON.parse(body);
    assert.equal(
      [event.type, event.did, Object.keys(event)],
      ['domain.created', did, ['seq', 'type', 'did', 'revision', 'at', 'data']],
    );
    assert.is(headers['webhook-id'], `evt_${event.seq}`);
    assert.ok(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1_000) < 60);
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const mac = createHmac('sha256', Buffer.from(secret!.slice(6), 'base64'))
      .update(signed)
      .digest('base64');
    assert.is(headers['webhook-signature'], `v1,${mac}`);

    for (const path of [`/v1/webhooks/${id}`, '/v1/webhooks']) {
      const { text } = await client.send('controller', path);
      assert.not.match(text, /secret|whsec/);
    }
    const bytes = secret!.slice(6);
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (file.isFile()) assert.not.ok(readFileSync(join(file.parentPath, file.name)).includes(bytes), file.name);
    assert.not.ok(JSON.stringify(server.logged).includes(bytes));
  }));

test('webhooks are read, changed, paused, given new secrets and removed, by their tenant only', () =>
  withHooks(async (client, receiver) => {
    const { id, secret } = (await client.post('controller', '/v1/webhooks', { url: receiver.url })).json() as Hook;
    const path = `/v1/webhooks/${id}`;
    const patch = (body: unknown, headers = {}) =>
      client.send('controller', path, { ...json(body, headers), method: 'PATCH' });
    for (const method of ['GET', 'PATCH', 'DELETE'])
      assert.is(
        (await client.send('stranger', path, method === 'PATCH' ? { ...json({}), method } : { method })).status,
        404,
      );
    assert.is((await client.send('stranger', `${path}/deliveries`)).status, 404);
    assert.equal(((await client.send('stranger', '/v1/webhooks')).json() as { items: [] }).items, []);
    for (const method of ['GET', 'POST'])
      assert.is((await client.send('voter', '/v1/webhooks', { method })).status, 403);
    assert.is((await patch({ status: 'paused' }, { 'if-match': '"7"' })).status, 412);
    const paused = await patch({ status: 'paused', events: ['vote.cast'] }, { 'if-match': '"1"' });
    assert.equal([paused.status, (paused.json() as Hook).status, paused.headers.etag], [200, 'paused', '"2"']);
    const rotated = (await patch({ secret: null })).json() as Hook;
    assert.match(rotated.secret!, /^whsec_/);
    assert.is.not(rotated.secret, secret);
    const own = (await patch({ secret: 'a secret of ours'.replaceAll(' ', '-') })).json() as Hook;
    assert.is(own.secret, 'a-secret-of-ours');
    const listed = (await client.send('controller', '/v1/webhooks?limit=1')).json() as { items: Hook[]; next: null };
    assert.equal([listed.items.map((hook) => hook.id), listed.next], [[id], null]);
    assert.is((await client.send('controller', path, { method: 'DELETE' })).status, 200);
    assert.is((await client.send('controller', path)).status, 404);
    for (const [method, body] of [
      ['POST', { url: receiver.url, secret: 'short' }],
      ['POST', {}],
      ['POST', { url: receiver.url, id }],
    ] as const)
      assert.is((await client.send('controller', '/v1/webhooks', { ...json(body), method })).status, 422);
    for (const query of ['limit=0', 'limit=x'])
      assert.is((await client.send('controller', `/v1/webhooks?${query}`)).status, 400);
  }));

test('a redirect is a failure that is not followed, and is tried again', () =>
  withHooks(async (client, receiver) => {
    receiver.answer = () => 302;
    const { id } = (await client.post('controller', '/v1/webhooks', { url: receiver.url })).json() as Hook;
    await client.project('controller');
    await receiver.until(() => receiver.received.length === 1);
    let delivery: Hook['delivery'] = {};
    for (let tries = 0; tries < 200 && !delivery.lastFailure; tries++)
      delivery = ((await client.send('controller', `/v1/webhooks/${id}`)).json() as Hook).delivery;
    const { status, error } = delivery.lastFailure as { status: number; error: string };
    assert.equal([status, delivery.failedAttempts, delivery.delivered], [302, 1, 0]);
    assert.match(error, /redirects are not followed/);
    assert.is(receiver.received.length, 1);
  }));

test('a receiver whose certificate is not trusted gets nothing', () =>
  withReceiver(async (receiver) => {
    const post = webhookSender({ lookup: toHere });
    const signal = new AbortController().signal;
    const error = await post({ url: receiver.url, headers: {}, body: '{}' }, signal).catch((thrown: Error) => thrown);
    assert.match((error as Error).message, /the connection failed: DEPTH_ZERO_SELF_SIGNED_CERT/);
    assert.is(receiver.received.length, 0);
  }));

const REFUSED = [
  'http://hooks.example.org/',
  'ftp://hooks.example.org/',
  'https://user:password@hooks.example.org/',
  'https://hooks.example.org:0/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://017700000001/',
  'https://①②⑦.⓪.⓪.①/',
  'https://0.0.0.0/',
  'https://10.1.2.3/',
  'https://172.16.0.1/',
  'https://192.168.0.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://198.18.0.1/',
  'https://192.0.2.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://[::]/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[fe80::1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001::1]/',
  'https://[2001:db8::1]/',
  'https://localhost/',
  'https://localhost./',
  'https://LOCALHOST/',
  'https://a.localhost/',
  'https://printer.local/',
  'https://vault.internal/',
  'https://metadata.google.internal/',
  'https://router.home.arpa/',
  'https://intranet/',
  'https://db/',
  'https:///',
  'nonsense',
];

test('https to the public internet is all that is taken, however the address is written', () =>
  withHooks(async (client) => {
    for (const url of REFUSED) {
      assert.ok(addressProblem(url), url);
      const answer = await client.post('operator', '/v1/webhooks', { url });
      assert.is(answer.status, 422, url);
      assert.is((answer.json() as { error: { details: { field: string }[] } }).error.details[0]!.field, '/url');
    }
    for (const url of ['https://hooks.example.org/', 'https://8.8.8.8/', 'https://[2606:4700::1111]:8443/x?y=z'])
      assert.is(addressProblem(url), undefined, url);
    const { id } = (await client.post('operator', '/v1/webhooks', { url: 'https://8.8.8.8/' })).json() as Hook;
    const moved = { ...json({ url: 'https://10.0.0.1/' }), method: 'PATCH' };
    assert.is((await client.send('operator', `/v1/webhooks/${id}`, moved)).status, 422);
    await client.send('operator', `/v1/webhooks/${id}`, { method: 'DELETE' });
  }));

const answering =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: isIP(address) }));

test('a name that leads inside is refused when it is given, and a name that leads nowhere yet is not', async () => {
  const url = 'https://hooks.example.org/';
  for (const address of [
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    '::ffff:127.0.0.1',
    'fd00::1',
    '64:ff9b::1',
  ])
    for (const resolve of [answering(address), answering('93.184.216.34', address)])
      assert.ok(await findResolvedProblem(url, resolve), address);
  assert.is(await findResolvedProblem(url, answering('93.184.216.34', '2606:4700::1111')), undefined);
  assert.is(await findResolvedProblem(url, () => Promise.reject(new Error('ENOTFOUND'))), undefined);
  const { result, ms } = await timed(() => findResolvedProblem(url, () => new Promise(() => {})));
  assert.is(result, undefined);
  assert.ok(ms < 3_000, `${ms} ms`);
});

test('a name that leads elsewhere when something is sent reaches nobody inside', () =>
  withReceiver(async (receiver) => {
    // First public, as when the webhook was made; then this machine.
    const answers = [answering('93.184.216.34'), answering('127.0.0.1'), answering('93.184.216.34', '127.0.0.1')];
    const resolve = () => answers.shift()!();
    assert.is(await findResolvedProblem(receiver.url, resolve), undefined);
    const post = webhookSender({ lookup: guardedLookup(resolve, 'public'), ca: receiver.ca });
    for (let tries = 0; tries < 2; tries++) {
      const sent = post({ url: receiver.url, headers: {}, body: '{}' }, new AbortController().signal);
      assert.match(((await sent.catch((thrown: Error) => thrown)) as Error).message, /an address that is not public/);
    }
    const literal = receiver.url.replace(NAME, '127.0.0.1');
    const direct = webhookSender({ ca: receiver.ca })(
      { url: literal, headers: {}, body: '{}' },
      new AbortController().signal,
    );
    assert.match(((await direct.catch((thrown: Error) => thrown)) as Error).message, /public internet/);
    assert.is(receiver.received.length, 0);
  }));

test('without a test in between, DNS resolves the names and the answers are checked all the same', () =>
  withReceiver(async (receiver) => {
    const { prototype } = dns.promises.Resolver;
    const { resolve4, resolve6 } = prototype;
    try {
      prototype.resolve4 = (async () => ['127.0.0.1']) as never;
      prototype.resolve6 = async () => [];
      const sent = webhookSender({ ca: receiver.ca })(
        { url: receiver.url, headers: {}, body: '{}' },
        new AbortController().signal,
      );
      assert.match(((await sent.catch((thrown: Error) => thrown)) as Error).message, /an address that is not public/);
      assert.is(receiver.received.length, 0);
    } finally {
      Object.assign(prototype, { resolve4, resolve6 });
    }
  }));

test('events that happen while the server is down are delivered after it has started again', () =>
  withReceiver((receiver) =>
    withFolder(async (folder) => {
      const env = { API_KEYS_FILE: writeKeys(folder), DATA_DIR: join(folder, 'data'), PIN_ENCRYPTION_KEY: KEY };
      const seams = { env, webhookSender: { lookup: toHere, ca: receiver.ca } };
      await withServer(seams, async (server) => {
        const client = domainClient(() => server.url);
        await client.protocol('controller');
        await client.post('controller', '/v1/webhooks', { url: receiver.url });
        receiver.answer = () => 500;
        await client.project('controller');
        await client.project('controller');
        await receiver.until(() => receiver.received.length === 1);
      });
      receiver.answer = () => 200;
      const failed = receiver.received.length;
      await withServer(seams, async () => {
        await receiver.until(() => receiver.received.length >= failed + 2);
      });
      const seqs = receiver.received.map(({ body }) => (JSON.parse(body) as { seq: number }).seq);
      assert.equal(seqs.slice(failed - 1), [seqs[0], seqs[0], seqs[failed + 1]]);
    }),
  ));

const KEY = '00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef';

test.run();
