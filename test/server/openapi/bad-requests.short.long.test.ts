// What is asked wrongly is answered as the OpenAPI document says: every route, those of plugins too, without credentials, with bodies that are none, ids
// that nobody has and queries that nobody reads. In short size a route takes each fourth of the values, in turn.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import { alice, oracle, text as token } from '../../delegation/tokens.ts';
import { choosePairs, isShort } from '../../support/size.ts';
import { type Headers, keyOf, path, place } from '../domain/place.ts';
import { type Documented, documented } from '../support/documented.ts';
import type { Answer } from '../support/serve.ts';

const test = suite('openapi, asked wrongly');

const folder = mkdtempSync(join(tmpdir(), 'twinline-wrong-'));
test.after(() => rmSync(folder, { recursive: true }));
const SERVICES = join(folder, 'rules.mjs');
writeFileSync(SERVICES, "export default { 'claims.evaluate': async () => ({ approved: true }) };");
const PLUGINS = {
  ...{ PLUGINS: 'user-preferences,claims,team-chat', SERVICES },
  ...{ CLAIMS_SECRET: 'cron-secret-of-the-test', CLAIMS_SERVICE: 'claims.evaluate' },
  ...{ TEAM_CHAT_SIGNING_SECRET: 'signing-secret-of-the-test', TEAM_CHAT_BOT_TOKEN: 'xoxb-of-the-test' },
};
const { server, domain } = place(test, { env: { ORACLE_DID: oracle.did(), ...PLUGINS } });

let document: OpenApiDocument;
let held: Documented;
let keys: { readonly [scheme: string]: Headers };
test.before(async () => {
  document = (await server().ask('/openapi.json')).json() as OpenApiDocument;
  held = documented(document);
  const expiration = Math.floor(Date.now() / 1_000) + 300;
  keys = {
    apiKey: { authorization: `Bearer ${keyOf('operator')}` },
    none: {},
    ucan: { authorization: `Bearer ${await token({ issuer: alice, expiration })}`, 'x-auth-type': 'ucan' },
  };
});

interface Operation {
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: object;
}

const operationAt = (line: string): Operation => {
  const [method, where] = line.split(' ') as [string, string];
  return document.paths[where]![method.toLowerCase()] as Operation;
};
const namesIn = (line: string, place: string) =>
  (operationAt(line).parameters ?? []).filter((one) => one.in === place).map(({ name }) => name);

// Streams have no end; of their refusals the head tells.
const STREAMS = new Set(['GET /v1/events', 'GET /inspector/stream']);

async function problemsOf(line: string, where: string, headers: Headers, content?: string): Promise<string[]> {
  const [method] = line.split(' ') as [string];
  const body = content ?? (operationAt(line).requestBody && method !== 'GET' ? '{}' : undefined);
  const sent = { ...(body && { 'content-type': 'application/json' }), ...headers };
  const answer: Answer = await server().ask(where, {
    method: STREAMS.has(line) ? 'HEAD' : method,
    headers: sent,
    ...(body && { body }),
  });
  if (STREAMS.has(line) && answer.text === '' && answer.status >= 400)
    return answer.status in (operationAt(line) as unknown as { responses: object }).responses
      ? []
      : [`${answer.status}`];
  const problems = held.problemsOf(line, answer);
  // 501 is an answer of DID resolution; other faults of the server are none.
  return answer.status < 500 || answer.status === 501 ? problems : [`${line} ${answer.status}`, ...problems];
}

/** What the `nth` route is asked with: each value with the credentials of one kind. */
function pairsFor(values: readonly string[], nth: number): [value: string, headers: Headers][] {
  return choosePairs(values, Object.values(keys)).filter((_, at) => !isShort || (at + nth) % 4 === 0);
}

test('every route without credentials, and with bodies that are none or none of its type', async () => {
  const found: string[] = [];
  for (const [nth, line] of held.operations.entries()) {
    const where = line.split(' ')[1]!.replaceAll(/\{\w+\}/g, 'x');
    found.push(...(await problemsOf(line, where, {})));
    if (!operationAt(line).requestBody) continue;
    for (const [body, headers] of choosePairs(['{', '[]', '{"a":1,"a":2}', 'null'], Object.values(keys)))
      found.push(...(await problemsOf(line, where, headers, body)));
    const headers = { ...Object.values(keys)[nth % 3], 'content-type': 'text/plain' };
    found.push(...(await problemsOf(line, where, headers, 'a')));
  }
  assert.equal([...new Set(found)], []);
});

const BAD_IDS = [
  ..."x %00 %0A ..%2f..%2fetc %F0%9F%98%80 %ED%A0%80 %ff % __proto__ constructor -1 1e3 %20 '%22%3Cb%3E".split(' '),
  ...[257, 300, 5_000].map((length) => 'a'.repeat(length)),
  ...[`did:ixo:entity:${'0'.repeat(300)}`, `did:ixo:${'0'.repeat(600)}`, `did:ixo:entity:${'0'.repeat(32)}`],
];

test('every route with a name in its path, with names that nobody has', async () => {
  const found: string[] = [];
  const lines = held.operations.filter((line) => namesIn(line, 'path').length > 0);
  assert.ok(lines.length > 40, String(lines.length));
  for (const [nth, line] of lines.entries())
    for (const [id, headers] of pairsFor(BAD_IDS, nth)) {
      const where = line.split(' ')[1]!.replaceAll(/\{\w+\}/g, id);
      for (const problem of await problemsOf(line, where, headers))
        found.push(`${id.slice(0, 40)} (${id.length}): ${problem}`);
    }
  assert.equal([...new Set(found)], []);
});

const BAD_VALUES = [...' x -1 0 1.5 1e9 99999999999 %00 %ff %F0%9F%98%80 [] { null'.split(' '), 'a'.repeat(5_000)];

test('every route with a query, with values that nobody reads, twice and beside others', async () => {
  const { did } = await domain();
  const found: string[] = [];
  const lines = held.operations.filter((line) => namesIn(line, 'query').length > 0);
  assert.ok(lines.length > 15, String(lines.length));
  for (const [nth, line] of lines.entries()) {
    const where = line
      .split(' ')[1]!
      .replaceAll(/\{did\}/g, did)
      .replaceAll(/\{\w+\}/g, 'x');
    for (const name of namesIn(line, 'query')) {
      const queries = [
        ...BAD_VALUES.map((value) => `${name}=${value}`),
        name,
        `${name}=1&${name}=2`,
        `${name}[]=1`,
        `${name}[a]=1`,
        `${name}=1&unknown=1`,
      ];
      for (const [query, headers] of pairsFor(queries, nth))
        for (const problem of await problemsOf(line, `${where}?${query}`, headers))
          found.push(`${query.slice(0, 60)}: ${problem}`);
    }
  }
  assert.equal([...new Set(found)], []);
});

test('reads of what is there, with moments and views that nobody knows', async () => {
  const { did } = await domain();
  for (const root of ['domains', 'entities', 'protocols'])
    for (const query of ['at=x', 'at=9999', 'at=2026', 'at=-1', 'view=x', 'view=composed&at=0', 'at=1&at=2']) {
      const line = `GET /v1/${root}/{did}`;
      const one = root === 'protocols' ? 'did:ixo:protocol%2Fclean-cooking' : did;
      const where = root === 'protocols' ? `/v1/protocols/${one}` : path(one, root);
      assert.equal(await problemsOf(line, `${where}?${query}`, keys.apiKey!), [], `${line}?${query}`);
    }
});

test.run();
