// Numbers that cannot be kept, and nests that cannot be walked: refused with their place at every door that reads JSON.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseFlow } from '../../../lib/flow/format/parse.ts';
import { parseGatewayFile } from '../../../lib/gateway/settings.ts';
import { readMcpServers } from '../../../server/agent/mcp.ts';
import { compileProtos } from '../../support/protoc.ts';
import { withGateway } from '../gateway/place.ts';
import { newSession, newUser, withModules, withPlugins } from '../plugins/users.ts';
import { DIAL } from '../support/serve.ts';

const test = suite('JSON at the doors');

const NUMBERS = ['1e999', '-1e999', '9007199254740993'];
const DEEP = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
const RULES = "export default { 'claims.evaluate': async () => ({}) };\n";

test('bodies of the agent service, of plugins and of USSD', () =>
  withModules({ 'rules.js': RULES }, (path) => {
    const secret = 'secret-of-the-claims-0123456789-012345678';
    const env = { CLAIMS_SECRET: secret, CLAIMS_SERVICE: 'claims.evaluate', SERVICES: path('rules.js') };
    return withPlugins(['claims'], { env }, async (server) => {
      const user = await newUser();
      const session = await newSession(server, user);
      const post = async (where: string, body: string) => {
        const { status, text } = await server.ask(where, { method: 'POST', headers: user.headers, body });
        return `${status} ${text}`;
      };
      const doors: readonly [string, (value: string) => string, string][] = [
        [`/messages/${session}`, (value) => `{"message":"hi","metadata":{"x":[${value}]}}`, '/metadata/x/0'],
        ['/messages/abort', (value) => `{"sessionId":"a","x":${value}}`, '/x'],
        ['/delegation', (value) => `{"raw":"a","expiration":${value}}`, '/expiration'],
        ['/claims', (value) => `{"collection":"a","data":{"x":${value}}}`, '/data/x'],
      ];
      for (const [where, bodyWith, pointer] of doors) {
        for (const number of NUMBERS) {
          const answer = await post(where, bodyWith(number));
          assert.match(answer, /^400 /, `${where} ${number}`);
          assert.match(answer, `, at ${pointer}`, `${where} ${number}`);
        }
        const deep = await post(where, bodyWith(DEEP));
        assert.match(deep, /^400 .*nests deeper than 64 levels/, `${where}: ${deep.slice(0, 200)}`);
      }
      for (const number of NUMBERS) {
        const body = JSON.stringify({ ...DIAL, x: 0 }).replace('"x":0', `"x":${number}`);
        const { text } = await server.ask('/api/ussd', { method: 'POST', headers: JSON_TYPE, body });
        assert.match(text, /^END /, number);
      }
      assert.equal(
        server.logged.filter(({ level }) => Number(level) >= 50),
        [],
      );
    });
  }));

const JSON_TYPE = { 'content-type': 'application/json' };

const LEDGER = compileProtos({
  'ledger.proto': `syntax = "proto3"; package ledger; import "google/api/annotations.proto";
    message Entry { int64 amount = 1; double rate = 2; string note = 3; repeated Entry parts = 4; }
    service Ledger { rpc Write(Entry) returns (Entry) { option (google.api.http) = { post: "/entries" body: "*" }; } }`,
});

test('bodies of the query gateway: exact integers reach the node, and what would be rounded does not', () =>
  withGateway(
    {},
    async ({ server, node }) => {
      node.script = () => ({});
      const post = async (body: string) => {
        const { status, text } = await server.ask('/entries', { method: 'POST', headers: JSON_TYPE, body });
        return `${status} ${text}`;
      };
      const refused: readonly [string, string][] = [
        ...NUMBERS.map((number): [string, string] => [`{"parts":[{"amount":${number}}]}`, ', at /parts/0/amount']),
        // Its digits are read as the same double again, which is another integer.
        ['{"amount":9223372036854775000}', 'would be rounded; send it as a string, at /amount'],
        ['{"rate":1e-400}', ', at /rate'],
        ['{"note":"a","note":"b"}', 'the same name twice, at /note'],
      ];
      for (const [body, words] of refused) {
        const answer = await post(body);
        assert.match(answer, /^400 /, body);
        assert.match(answer, words, body);
      }
      const taken = ['9007199254740991', '-9007199254740992', '"9223372036854775807"'];
      for (const amount of taken) assert.match(await post(`{"amount":${amount},"rate":1e23}`), /^200 /, amount);
    },
    { set: LEDGER },
  ));

test('files of settings and flows', async () => {
  assert.throws(() => parseGatewayFile('{"upstream":"a:1","x":[1e999]}'), /\/x\/0.*too large/s);
  const flow = parseFlow('{"flow":"a","version":1,"start":"s","vars":{"x":1e999},"screens":{}}', 'a.flow.json');
  assert.ok(flow.problems.some(({ pointer, message }) => pointer === '/vars/x' && /too large/.test(message)));
  const folder = mkdtempSync(join(tmpdir(), 'twinline-json-'));
  const file = join(folder, 'mcp.json');
  writeFileSync(file, '[{"name":"a","x":1e999}]');
  assert.throws(() => readMcpServers(file), /\/0\/x/);
  rmSync(folder, { recursive: true });
});

test.run();
