// The walks through the services that guides print run as they are printed, and say what they say. In front of the query gateway stands
// a node that describes itself.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { twinline } from '../../server/cli/main.ts';
import { type GuideName, guideText } from '../../server/docs/guides.ts';
import { groveNode } from '../server/gateway/node.ts';
import { withServer } from '../server/support/serve.ts';
import { programsOf, skipWithout } from '../support/on-path.ts';
import { withFolder } from '../support/process.ts';
import { compileProtos } from '../support/protoc.ts';

const test = suite('scripts of the guides');

/** The script of a guide that begins like this; skips where a program of it is missing. */
async function scriptOf(guide: GuideName, begin: string): Promise<string> {
  const scripts = [...(await guideText(guide)).matchAll(/^```sh elsewhere\n([\s\S]*?)^```/gm)].map(([, text]) => text!);
  const script = scripts.find((text) => text.startsWith(begin))!;
  skipWithout(programsOf(script));
  return script;
}

const sh = (text: string, cwd: string) => promisify(execFile)('sh', ['-euc', text], { cwd });

/** What a verb prints. */
async function printed(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { log } = console;
  const lines: string[] = [];
  console.log = (line: string) => void lines.push(line);
  try {
    assert.is(await twinline(args, env), 0);
  } finally {
    console.log = log;
  }
  return lines.join('\n');
}

test('agent: a reply, a stream that is cut, and the rest of it', () =>
  withFolder(async (folder) => {
    const env = { DATA_DIR: join(folder, 'data') };
    await withServer({ env }, async ({ url }) => {
      const token = await printed(['token'], env);
      const [first, ...rest] = (await scriptOf('agent', 'API=')).split('\n');
      assert.match(first!, /npx twinline token/);
      const { stdout } = await sh([`API=${url} TOKEN=${token}`, ...rest].join('\n'), folder);
      assert.match(stdout, /"message":\{"type":"ai"/);
      const frames = stdout.slice(stdout.indexOf('event: run'));
      const ids = [...frames.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
      assert.equal(
        ids,
        ids.map((_, at) => at + 1),
      );
      assert.match(frames, /event: done\nid: \d+\ndata: .*"status":"finished"/);
    });
  }));

test('twins: from a protocol to credits, with the development key', () =>
  withServer({}, async ({ url, developmentKey }) => {
    const [first, ...rest] = (await scriptOf('twins', 'API=')).split('\n');
    assert.match(first!, /^API=http:\/\/127\.0\.0\.1:3000\/v1 KEY=dev_…$/);
    const { stdout, stderr } = await sh([`API=${url}/v1 KEY=${developmentKey}`, ...rest].join('\n'), '.');
    assert.is(stderr, '');
    const answers = stdout.trim().split('\n');
    const told = rest.flatMap((line) => [...line.matchAll(/#.*("\w+":"[\w-]+")/g)].map((match) => match[1]!));
    assert.equal(told, [
      '"code":"domain-not-verified"',
      '"status":"executed"',
      '"status":"Verified"',
      '"status":"issued"',
    ]);
    assert.is(answers.length, 1 + told.length);
    for (const [at, said] of told.entries())
      assert.ok(JSON.stringify(JSON.parse(answers[at + 1]!)).includes(said), said);
  }));

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

test('queries: routes, an entity, a list, what is disabled, what is not there, a height', () =>
  withFolder(async (folder) => {
    const node = await groveNode(0, NODE);
    try {
      const [file, rest] = (await scriptOf('queries', 'cat > gateway.json')).split(/(?<=^END\n)/m) as [string, string];
      await sh(file.replace('127.0.0.1:9090', node.upstream), folder);
      const path = join(folder, 'gateway.json');
      const [list, start, , ...asks] = rest.split('\n');
      assert.match(list!, /^npx twinline gateway routes gateway\.json /);
      assert.is(start, 'GATEWAY_FILE=gateway.json npm start &');
      const routes = await printed(['gateway', 'routes', path]);
      assert.match(routes, /GET +\/ixo\/entity\/\{id\} +.* ixo\.entity\.v1beta1\.Query\/Entity/);
      node.script = ({ rpc, request, metadata }) => {
        const height = String(metadata.get('x-cosmos-block-height')[0] ?? '42');
        const entities = [{ id: 'a' }, { id: 'b' }];
        return {
          reply: rpc.endsWith('List') ? { entities } : { entity: { id: String(request.id ?? '') } },
          headers: { 'x-cosmos-block-height': height },
        };
      };
      await withServer({ env: { GATEWAY_FILE: path } }, async ({ url }) => {
        const answers = (await sh([`API=${url}`, ...asks].join('\n'), folder)).stdout.split('\n');
        assert.equal(JSON.parse(answers[0]!), { entity: { id: 'did:ixo:entity:1', type: '' } });
        assert.is((JSON.parse(answers[1]!) as { entities: unknown[] }).entities.length, 2);
        assert.equal(
          answers.slice(2, 4),
          asks.flatMap((line) => /# (\{"code".*\})$/.exec(line)?.[1] ?? []),
        );
        assert.ok(answers.slice(4).some((line) => line.trim() === 'x-cosmos-block-height: 41'));
      });
      assert.equal(node.seen.find(({ rpc }) => rpc === 'Query/EntityList')!.request, { pagination: { limit: '2' } });
    } finally {
      node.stop();
    }
  }));

test.run();
