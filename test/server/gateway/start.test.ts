// The query gateway at the start of a server: files that cannot be used, nodes that describe themselves, odd settings.

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../../lib/errors.ts';
import { FILES, GOOD, reflectingNode } from '../../gateway/reflection-node.ts';
import { freePort } from '../../support/ports.ts';
import { compileProtos } from '../../support/protoc.ts';
import { withServer } from '../support/serve.ts';
import { SET } from './node.ts';
import { withFile, withGateway } from './place.ts';

const test = suite('start of the query gateway');

const UPSTREAM = '127.0.0.1:9';

/** What a start with these files says; `gateway.json` is the GATEWAY_FILE. */
async function refused(files: Readonly<Record<string, unknown>>, env = {}): Promise<TwinlineError> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-gateway-'));
  try {
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(folder, name), content instanceof Uint8Array ? content : JSON.stringify(content));
    await withServer({ env: { GATEWAY_FILE: join(folder, 'gateway.json'), ...env } }, async () => {});
  } catch (error) {
    if (error instanceof TwinlineError) return error;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  throw new Error('the server has started');
}

const protos = (service: string) =>
  compileProtos({
    'a.proto': `syntax = "proto3"; package a; import "google/api/annotations.proto";
      message Ask { string id = 1; } message Reply { string text = 1; } service Query { ${service} }`,
  });

test('a file with problems ends the start as a matter of configuration, with all of them', async () => {
  const settings = { upstream: 'nowhere', colour: 1, gate: { keys: ['se cret'] }, deadlineMs: 0 };
  const { code, message } = await refused({ 'gateway.json': settings });
  assert.is(code, 'ERR_CONFIG');
  for (const at of ['/upstream', '/colour', '/gate/keys/0', '/deadlineMs', '/descriptors'])
    assert.ok(message.includes(`${at}: `), `${at} in ${message}`);
  assert.not.ok(message.includes('se cret'));
});

test('files that it names and that are not there are named together', async () => {
  const { code, message } = await refused({
    'gateway.json': { upstream: UPSTREAM, descriptors: 'none.binpb', tls: { ca: 'none.pem' } },
  });
  assert.is(code, 'ERR_CONFIG');
  assert.match(message, /the certificate none\.pem cannot be read \(ENOENT\)[\s\S]*the FileDescriptorSet none\.binpb/);
  assert.match((await refused({})).message, /gateway\.json cannot be read \(ENOENT\)/);
});

test('descriptors that cannot be served are refused with every reason, and so is what is no certificate', async () => {
  const none = protos(`
    rpc One(stream Ask) returns (Reply) { option (google.api.http) = { post: "/a" body: "*" }; }
    rpc Two(Ask) returns (Reply) { option (google.api.http).get = "/b/{other}"; }`);
  const settings = { upstream: UPSTREAM, descriptors: 'set.binpb' };
  const { code, message } = await refused({ 'gateway.json': settings, 'set.binpb': none });
  assert.is(code, 'ERR_CONFIG');
  assert.match(message, /The descriptor set set\.binpb cannot be used:\n.*a\.Query\/One: POST \/a: /);
  assert.match(message, /a\.Query\/Two: GET \/b\/\{other\}: /);
  const files = {
    'gateway.json': { ...settings, tls: { ca: 'ca.pem' } },
    'set.binpb': SET,
    'ca.pem': Buffer.from('x'),
  };
  assert.match((await refused(files)).message, /tls/);
});

test('a node can describe itself, also when it comes late', async () => {
  const early = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(early, 'listening');
  const { port } = early.address() as AddressInfo;
  const settings = { upstream: `127.0.0.1:${port}`, descriptors: undefined, reflection: true };
  let node: Awaited<ReturnType<typeof reflectingNode>> | undefined;
  await withFile(settings, async (env) => {
    const started = withServer({ env }, async ({ ask, routes, logged }) => {
      assert.ok(routes.some(({ path }) => path === '/shop/{id}'));
      assert.ok(logged.some(({ msg }) => String(msg).startsWith('waiting for the node')));
      // It knows itself, but has no such method.
      assert.is((await ask('/shop/1')).status, 501);
    });
    await once(early, 'connection');
    await new Promise((resolve) => early.close(resolve));
    node = await reflectingNode(GOOD, port);
    await started;
  }).finally(() => node?.stop());
});

test('a node that stays away, or does not describe itself, ends the start', async () => {
  const port = await freePort();
  const reflecting = (to: number) => ({ 'gateway.json': { upstream: `127.0.0.1:${to}`, reflection: true } });
  const away = await refused(reflecting(port), { STORE_WAIT_SECONDS: '1' });
  assert.equal([away.code, /Cannot read the descriptors of the node/.test(away.message)], ['ERR_SERVICE', true]);
  const silent = await reflectingNode({ ...GOOD, versions: [], files: FILES });
  try {
    const { code, message } = await refused(reflecting(silent.port), { STORE_WAIT_SECONDS: '600' });
    assert.equal(
      [code, /does not offer reflection/.test(message)],
      ['ERR_SERVICE', true],
      'without waiting for what stays',
    );
  } finally {
    silent.stop();
  }
});

test('what is most likely a mistake is told in the log, and the rest is served', async () => {
  const settings = {
    disabled: ['grov.*'],
    gate: { keys: ['k'], forbid: ['*.None'] },
    prefixes: { '/hub': '/grove', '/odd': '/nothing' },
  };
  await withGateway(settings, async ({ server, node }) => {
    const warnings = server.logged.map(({ warning }) => String(warning)).join('\n');
    assert.match(warnings, /"disabled" has the pattern grov\.\*/);
    assert.match(warnings, /"gate\.forbid" has the pattern \*\.None/);
    assert.match(warnings, /the prefix \/odd maps to \/nothing/);
    assert.match(warnings, /grove\.Care\/Count is skipped/);
    node.script = () => ({});
    assert.is((await server.ask('/hub/params', { headers: { authorization: 'Bearer k' } })).status, 200);
  });
});

test.run();
