// /v1/webhooks over HTTP, with receivers that speak TLS: signatures, tenants, secrets, addresses. Which addresses are public is in test/http/hosts.test.ts.

import { createHmac } from 'node:crypto';
import dns from 'node:dns';
import { readdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { webhookSender } from '../../../lib/http/client.ts';
import { findResolvedProblem, guardedLookup } from '../../../lib/http/hosts.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
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
    assert.match(String(headers['webhook-timestamp']), /^\d{10}$/);
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

test('webhooks are read, changed, paused, given new secrets and removed', () =>
  withHooks(async (client, receiver) => {
    const { id, secret } = (await client.post('controller', '/v1/webhooks', { url: receiver.url })).json() as Hook;
    const path = `/v1/webhooks/${id}`;
    const patch = (body: unknown, headers = {}) =>
      client.send('controller', path, { ...json(body, headers), method: 'PATCH' });
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
  }));

test('a redirect is a failure that is not followed, and is tried again', () =>
  withHooks(async (client, receiver) => {
    receiver.answer = () => 302;
    const { id } = (await client.post('controller', '/v1/webhooks', { url: receiver.url })).json() as Hook;
    await client.project('controller');
    await receiver.until(() => receiver.received.length === 1);
    const delivery = await until('the failure to be noted', async () => {
      const hook = (await client.send('controller', `/v1/webhooks/${id}`)).json() as Hook;
      return hook.delivery.lastFailure ? hook.delivery : undefined;
    });
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

test('https to the public internet is all that is taken, for a new webhook and for a changed one', () =>
  withHooks(async (client) => {
    for (const url of ['http://hooks.example.org/', 'https://10.1.2.3/', 'https://127.1/', 'https://db/', 'nonsense']) {
      const answer = await client.post('operator', '/v1/webhooks', { url });
      assert.is(answer.status, 422, url);
      assert.is((answer.json() as { error: { details: { field: string }[] } }).error.details[0]!.field, '/url');
    }
    const { id } = (await client.post('operator', '/v1/webhooks', { url: 'https://8.8.8.8/' })).json() as Hook;
    const moved = { ...json({ url: 'https://10.0.0.1/' }), method: 'PATCH' };
    assert.is((await client.send('operator', `/v1/webhooks/${id}`, moved)).status, 422);
    await client.send('operator', `/v1/webhooks/${id}`, { method: 'DELETE' });
  }));

const answering =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: isIP(address) }));

test('a name that leads inside too is refused when it is given, and one that leads nowhere yet is not', async () => {
  const url = 'https://hooks.example.org/';
  assert.ok(await findResolvedProblem(url, answering('93.184.216.34', '10.0.0.1')));
  assert.is(await findResolvedProblem(url, answering('93.184.216.34', '2606:4700::1111')), undefined);
  assert.is(await findResolvedProblem(url, () => Promise.reject(new Error('ENOTFOUND'))), undefined);
  assert.is(await findResolvedProblem(url, () => new Promise(() => {})), undefined, 'nor is it waited for');
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

test.run();
