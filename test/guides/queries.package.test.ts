// The guide's walk through the query gateway runs as it is printed, in front of a node that describes itself.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { twinline } from '../../server/cli/main.ts';
import { groveNode } from '../server/gateway/node.ts';
import { withServer } from '../server/support/serve.ts';
import { programsOf, skipWithout } from '../support/on-path.ts';
import { compileProtos } from '../support/protoc.ts';

const test = suite('guide to the query gateway');
const GUIDE = readFileSync(fileURLToPath(new URL('../../server/docs/guides/queries.md', import.meta.url)), 'utf8');

const service = (name: string, text: string) => `syntax = "proto3"; package ixo.${name}.v1beta1;
  import "google/api/annotations.proto"; ${text}`;
const NODE = compileProtos({
  'entity.proto': service(
    'entity',
    `message Page { uint64 limit = 1; } message Ask { string id = 1; Page pagination = 2; } message Entity { string id = 1; string type = 2; }
     message One { Entity entity = 1; } message Many { repeated Entity entities = 1; }
     service Query { rpc Params(Ask) returns (One) { option (google.api.http).get = "/ixo/entity/params"; }
       rpc Entity(Ask) returns (One) { option (google.api.http).get = "/ixo/entity/{id}"; }
       rpc EntityList(Ask) returns (Many) { option (google.api.http).get = "/ixo/entity"; } }`,
  ),
  'bonds.proto': service(
    'bonds',
    'message Ask {} message All {} service Query { rpc Params(Ask) returns (All) { option (google.api.http).get = "/ixo/bonds/params"; } }',
  ),
});

test('routes, an entity, a list, what is disabled, what is not there, a height', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-guide-'));
  const node = await groveNode(0, NODE);
  const { log } = console;
  try {
    const script = /^```sh elsewhere\n(cat > gateway\.json[\s\S]*?)^```/m.exec(GUIDE)![1]!;
    skipWithout(programsOf(script));
    const [file, rest] = script.split(/(?<=^END\n)/m) as [string, string];
    const sh = async (text: string) => (await promisify(execFile)('sh', ['-euc', text], { cwd: folder })).stdout;
    await sh(file.replace('127.0.0.1:9090', node.upstream));
    const path = join(folder, 'gateway.json');
    const lines = rest.split('\n');
    const shown = lines.shift()!;
    assert.match(shown, /^npx twinline gateway routes gateway\.json /);
    let routes = '';
    console.log = (text: string) => {
      routes += text;
    };
    assert.is(await twinline(['gateway', 'routes', path], {}), 0);
    console.log = log;
    assert.match(routes, /GET +\/ixo\/entity\/\{id\} +.* ixo\.entity\.v1beta1\.Query\/Entity/);
    assert.is(lines.shift(), 'GATEWAY_FILE=gateway.json npm start &');
    lines.shift();
    node.script = ({ rpc, request, metadata }) => {
      const entities = [{ id: 'a' }, { id: 'b' }];
      const height = String(metadata.get('x-cosmos-block-height')[0] ?? '42');
      return {
        reply: rpc.endsWith('List') ? { entities } : { entity: { id: String(request.id ?? '') } },
        headers: { 'x-cosmos-block-height': height },
      };
    };
    await withServer({ env: { GATEWAY_FILE: path } }, async ({ url }) => {
      const answers = (await sh([`API=${url}`, ...lines].join('\n'))).split('\n');
      assert.equal(JSON.parse(answers[0]!), { entity: { id: 'did:ixo:entity:1', type: '' } });
      assert.is((JSON.parse(answers[1]!) as { entities: unknown[] }).entities.length, 2);
      const says = lines.flatMap((line) => /# (\{"code".*\})$/.exec(line)?.[1] ?? []);
      assert.equal(answers.slice(2, 4), says);
      assert.ok(answers.slice(4).some((line) => line.trim() === 'x-cosmos-block-height: 41'));
    });
    assert.equal(node.seen.find(({ rpc }) => rpc === 'Query/EntityList')!.request, { pagination: { limit: '2' } });
  } finally {
    console.log = log;
    node.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
