// POST /v1/bulk and GET /v1/export over HTTP: every kind of line, order, streaming, repeats, trials, whole instances.

import { once } from 'node:events';
import { request } from 'node:http';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inOrder } from '../../../lib/domain/bulk/bulk.ts';
import { type NumberedLine, readLines } from '../../../lib/domain/bulk/ndjson.ts';
import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import type { TwinlineError } from '../../../lib/errors.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { readSteadily } from '../../../server/domain/routes/bulk.ts';
import { allowLongUpload } from '../../../server/http/connections.ts';
import { listen } from '../../../server/http/listen.ts';
import { fixture } from '../../support/fixture.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { type DomainClient, domainClient, headersOf, PROTOCOL, type Who, writeKeys } from '../support/domain-client.ts';
import { type Served, withServer } from '../support/serve.ts';

const test = suite('bulk');

interface Row {
  readonly line: number;
  readonly status: number;
  readonly did?: string;
  readonly differs?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string; readonly details: readonly { field: string }[] };
}

type Work = (client: DomainClient, server: Served) => Promise<void>;

const withDomain = (work: Work, env: NodeJS.ProcessEnv = {}) =>
  withFolder((folder) =>
    withServer({ env: { API_KEYS_FILE: writeKeys(folder), ...env } }, (server) =>
      work(
        domainClient(() => server.url),
        server,
      ),
    ),
  );

async function bulk(
  client: DomainClient,
  who: Who,
  lines: readonly unknown[],
  more: { query?: string; key?: string } = {},
) {
  const body = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const headers = { 'content-type': 'application/x-ndjson', ...(more.key && { 'idempotency-key': more.key }) };
  const answer = await client.send(who, `/v1/bulk${more.query ?? ''}`, { method: 'POST', headers, body });
  assert.equal([answer.status, answer.headers['content-type']], [207, 'application/x-ndjson'], answer.text);
  return rowsOf(answer.text);
}

function rowsOf(text: string): Row[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Row);
}

const statuses = (rows: readonly Row[]) => rows.map(({ line, status }) => `${line}: ${status}`);

const protocol = {
  kind: 'protocol',
  alsoKnownAs: PROTOCOL,
  properties: { size: 'number' },
  relationships: { verifier: 'Oracle' },
};
const project = (more: object = {}) => ({ type: 'Project', class: PROTOCOL, ...more });

test('every kind of line, each with its row in order; lines refer to lines before them, and broken ones fail alone', () =>
  withDomain(async (client) => {
    const rows = await bulk(client, 'controller', [
      protocol,
      project({ externalId: 'a' }),
      '',
      '{"type":"Project",',
      { kind: 'entity', type: 'Oracle', protocol: PROTOCOL, alsoKnownAs: 'did:x:oracle' },
      project({ relationships: { verifier: 'did:x:oracle' } }),
      { kind: 'domain', type: 'Organisation', class: PROTOCOL, alsoKnownAs: 'did:x:org' },
      { type: 'MembershipGroup', class: PROTOCOL, parent: 'did:x:org' },
      project({ properties: { size: 'large', other: 1 } }),
      project({ did: 'did:ixo:entity:4c73552dbf8a4343016e7f7952836014' }),
      `{"type":"Project","class":"${PROTOCOL}","metadata":{"name":"${'x'.repeat(DOMAIN_LIMITS.bulkLineBytes)}"}}`,
      { kind: 'nothing' },
      '[]',
      'null',
      `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
      project({ externalId: 'a' }),
      { kind: 'entity', type: 'Device' },
      { type: 'Device' },
    ]);
    assert.equal(statuses(rows), [
      '1: 201',
      '2: 201',
      '4: 400',
      '5: 201',
      '6: 201',
      '7: 201',
      '8: 201',
      '9: 422',
      '10: 422',
      '11: 413',
      '12: 422',
      '13: 422',
      '14: 422',
      '15: 400',
      '16: 200',
      '17: 422',
      '18: 422',
    ]);
    const of = (line: number) => rows.find((row) => row.line === line)!;
    assert.is(of(16).did, of(2).did);
    assert.equal(
      of(9).error!.details.map(({ field }) => field),
      ['/properties/size', '/properties/other'],
    );
    assert.equal(
      [of(17), of(18)].map(({ error }) => error!.details[0]!.field),
      ['/protocol', '/class'],
    );
    const group = (await client.send('controller', `/v1/domains/${of(8).did}`)).json() as { parent: string };
    assert.is(group.parent, of(7).did);
    assert.match((await client.send('controller', `/v1/domains/${of(6).did}`)).text, /"verifier":"did:x:oracle"/);
  }));

test('what is there already stays as it is: by the key of a line or of the request, in its tenant, in one import', () =>
  withDomain(async (client) => {
    const lines = [protocol, project({ externalId: 'a' }), project({ idempotencyKey: 'k1' }), project()];
    const first = await bulk(client, 'controller', lines, { key: 'request' });
    assert.equal(statuses(first), ['1: 201', '2: 201', '3: 201', '4: 201']);
    const again = await bulk(client, 'controller', lines, { key: 'request' });
    assert.equal(
      again,
      first.map((row) => ({ ...row, status: 200 })),
    );
    const others = await bulk(client, 'controller', [
      project({ idempotencyKey: 'k1', metadata: { name: 'other' } }),
      project({ idempotencyKey: 7 }),
      project({ idempotencyKey: 'k1' }),
    ]);
    assert.equal(statuses(others), ['1: 422', '2: 422', '3: 200']);
    assert.is(others[0]!.error!.code, 'idempotency-mismatch');
    assert.is(others[2]!.did, first[2]!.did);
    const unkeyed = await bulk(client, 'controller', [project()]);
    assert.is(unkeyed[0]!.status, 201);
    await client.protocol('stranger');
    const theirs = await bulk(client, 'stranger', [project({ externalId: 'a' })]);
    assert.is(theirs[0]!.status, 201, 'names belong to a tenant');
    const twice = await bulk(
      client,
      'controller',
      Array.from({ length: 40 }, () => project({ externalId: 'same' })),
    );
    assert.equal([twice[0]!.status, new Set(twice.map(({ did }) => did)).size], [201, 1]);
    assert.ok(twice.slice(1).every(({ status }) => status === 200));
  }));

test('a line is there already only when all of its names and its type are those of one record; else it fails', () =>
  withDomain(async (client) => {
    const stove = (more: object) => ({ type: 'Device', class: PROTOCOL, ...more });
    const records = [
      protocol,
      stove({ externalId: 'e1', alsoKnownAs: ['did:x:a1', 'did:x:b1'], metadata: { name: 'One' } }),
      stove({ externalId: 'e2', alsoKnownAs: 'did:x:a2' }),
      { kind: 'protocol', name: 'Second', alsoKnownAs: 'did:x:second' },
    ];
    const [, one, two] = await bulk(client, 'controller', records);
    const lines = fixture<[line: object, status: number, what: string[]][]>('domain/bulk-lines.json');
    const before = (await client.send('operator', '/v1/export')).text;
    for (const query of ['?dryRun=true', '']) {
      const rows = await bulk(
        client,
        'controller',
        lines.map(([line]) => line),
        { query },
      );
      for (const [at, [line, status, what]] of lines.entries()) {
        const { status: got, differs, error } = rows[at]!;
        const told = error?.details.map(({ field }) => field) ?? differs ?? [];
        assert.equal([got, told], [status, what], JSON.stringify(line));
        if (status === 409) assert.is(error!.code, 'already-exists');
      }
      assert.equal([rows[0]!.did, rows[1]!.did], [one!.did, one!.did]);
      assert.ok(rows[2]!.error!.message.includes(two!.did!));
    }
    assert.is((await client.send('operator', '/v1/export')).text, before, 'nothing was changed');
    await client.send('controller', `/v1/domains/${two!.did}`, { method: 'DELETE' });
    const [ended] = await bulk(client, 'controller', [records[2]]);
    assert.equal([ended!.status, ended!.differs], [200, ['/status']]);
  }));

test('other media types, codings, roles and parameters are refused before a line is read', () =>
  withDomain(async (client) => {
    const send = (who: Who, headers: Record<string, string>, query = '') =>
      client.send(who, `/v1/bulk${query}`, { method: 'POST', headers, body: '{}\n' });
    const lines = { 'content-type': 'application/x-ndjson' };
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded'])
      assert.is((await send('controller', { 'content-type': type })).status, 415, type);
    assert.is((await send('controller', { ...lines, 'content-encoding': 'gzip' })).status, 415);
    assert.is((await send('controller', lines, '?dryRun=yes')).status, 400);
    assert.is((await send('controller', { ...lines, 'idempotency-key': 'k'.repeat(256) })).status, 400);
    assert.is((await client.send('operator', '/v1/export', { method: 'HEAD' })).status, 200);
    const forged = { import: true, kind: 'domain', id: 'did:x:a', did: 'did:x:a', revision: 1, body: {} };
    const rows = await bulk(client, 'controller', [forged]);
    assert.equal([rows[0]!.status, rows[0]!.error!.code], [403, 'role-missing']);
    for (const id of ['did:x:a', { toString: 1 }, [{ toString: 1 }], null])
      assert.is((await bulk(client, 'operator', [{ ...forged, id }]))[0]!.status, 422);
  }));

test('a record counts no more revisions than were sent and a thousand, and what was imported is in the log', () =>
  withDomain(async (client, server) => {
    await client.protocol('controller');
    await bulk(client, 'controller', [project({ externalId: 'a' })]);
    const exported = (await client.send('operator', '/v1/export')).text.trim().split('\n');
    const record = JSON.parse(exported.at(-2)!) as JsonObject & { body: JsonObject };
    const id = 'did:ixo:entity:0000000000000000000000000000000a';
    const body = { ...record.body, did: id, externalId: null, status: 'Verified' };
    const line = (revision: number) => ({ ...record, id, did: id, revision, body });
    const [first] = await bulk(client, 'operator', [line(1_001)]);
    assert.is(first!.status, 422);
    assert.equal(
      first!.error!.details!.map(({ field }) => field),
      ['/revision'],
    );
    const earlier = { ...line(1), kind: 'revision', of: 'domain' };
    const rows = await bulk(client, 'operator', [earlier, line(1_001)]);
    assert.equal(
      rows.map(({ status }) => status),
      [201, 201],
    );
    const said = server.logged.filter(({ audit }) => audit === 'records.import');
    assert.equal(
      said.map(({ by, records, verified }) => [typeof by, records, verified]),
      [['string', 1, 1]],
    );
  }));

test('each line is answered as soon as it is taken, whatever comes later', () =>
  withDomain(async (client, server) => {
    await client.protocol('controller');
    const headers = { ...headersOf('controller'), 'content-type': 'application/x-ndjson' };
    const sent = request(`${server.url}/v1/bulk`, { method: 'POST', headers, agent: false });
    const answered = new Promise<NodeJS.ReadableStream>((resolve) => sent.on('response', resolve));
    sent.write(`${JSON.stringify(project())}\n`);
    const answer = (await answered)[Symbol.asyncIterator]();
    for (let line = 1; line <= 3; line++) {
      const { value } = await answer.next();
      assert.is((JSON.parse(String(value)) as Row).line, line);
      if (line < 3) sent.write(`${JSON.stringify(project())}\n`);
    }
    sent.end();
    assert.is((await answer.next()).done, true);
  }));

test('behind a proxy no answer begins before all lines have come: some proxies send nothing more then', () =>
  withDomain(async (client, server) => {
    await client.protocol('controller');
    const type = { 'content-type': 'application/x-ndjson' };
    for (const header of [{ 'x-forwarded-for': '203.0.113.9' }, { forwarded: 'for=203.0.113.9' }, { via: '1.1 a' }]) {
      const headers = { ...headersOf('controller'), ...type, ...header };
      const sent = request(`${server.url}/v1/bulk`, { method: 'POST', headers, agent: false });
      let isAnswered = false;
      const text = new Promise<string>((resolve) =>
        sent.on('response', (res) => {
          isAnswered = true;
          let all = '';
          res.setEncoding('utf8').on('data', (part: string) => {
            all += part;
          });
          res.on('end', () => resolve(all));
        }),
      );
      const name = Object.keys(header)[0]!;
      sent.write(`${JSON.stringify({ ...project(), externalId: name })}\n`);
      const isTaken = async () => {
        const { text } = await client.send('controller', `/v1/domains?externalId=${name}`);
        return (JSON.parse(text) as { items: unknown[] }).items.length === 1;
      };
      await until('the line to be taken', isTaken);
      assert.is(isAnswered, false, `${name}: the line was taken, and its answer waits`);
      sent.end(`${JSON.stringify(project())}\n`);
      assert.equal(
        rowsOf(await text).map(({ line, status }) => [line, status]),
        [
          [1, 201],
          [2, 201],
        ],
      );
    }
  }));

test('no more imports at a time than are allowed, and one that is broken off makes room', () =>
  withDomain(async (client, server) => {
    const type = { 'content-type': 'application/x-ndjson' };
    const open = (who: Who) => {
      const headers = { ...headersOf(who), ...type };
      const sent = request(`${server.url}/v1/bulk`, { method: 'POST', headers, agent: false });
      sent.on('error', () => {});
      sent.write('{}\n');
      return new Promise<typeof sent>((resolve) => sent.on('response', () => resolve(sent)));
    };
    const send = (who: Who) => client.send(who, '/v1/bulk', { method: 'POST', headers: type, body: '{}\n' });
    const own = Array.from({ length: SERVER_LIMITS.bulkRequestsPerTenant });
    const running = await Promise.all(own.map(() => open('controller')));
    const refused = await send('operator');
    assert.equal([refused.status, refused.headers['retry-after']], [503, '1'], 'the share of the tenant is taken');
    assert.is((await send('stranger')).status, 207, 'which is nothing to another tenant');
    assert.is(2 * own.length, SERVER_LIMITS.bulkRequests);
    running.push(...(await Promise.all(own.map(() => open('stranger')))));
    assert.is((await send('stranger')).status, 503);
    for (const one of running) one.destroy();
    await until('those that were broken off to make room', async () => (await send('controller')).status === 207);
  }));

test('an upload that drips is told so in a line of its own; our own work and quick senders are not counted', async () => {
  let now = 0;
  const read = async (chunks: number, { bytes, waitMs, workMs }: { bytes: number; waitMs: number; workMs: number }) => {
    const source = async function* () {
      for (let at = 0; at < chunks; at++) {
        now += waitMs;
        yield Buffer.alloc(bytes, 10);
      }
    };
    let received = 0;
    try {
      for await (const chunk of readSteadily(source(), () => now)) {
        received += chunk.length;
        now += workMs;
      }
      return `${received} bytes`;
    } catch (error) {
      return `${(error as TwinlineError).reason} after ${received}`;
    }
  };
  assert.is(await read(100, { bytes: 1, waitMs: 20_000, workMs: 0 }), 'too-slow after 2');
  assert.is(await read(100, { bytes: 1_000, waitMs: 2_000, workMs: 0 }), 'too-slow after 29000');
  assert.is(await read(100, { bytes: 4_096, waitMs: 2_000, workMs: 0 }), '409600 bytes');
  assert.is(await read(100, { bytes: 1, waitMs: 1, workMs: 20_000 }), '100 bytes');
  assert.is(await read(2_000, { bytes: 4_096, waitMs: 2_000, workMs: 0 }), 'too-slow after 7372800');
});

test('an upload that takes longer than requests may goes on, and others are still cut off', async () => {
  const door = await listen(
    (req, res) => {
      if (req.url === '/long') allowLongUpload(req);
      req.on('error', () => {});
      req.resume().on('end', () => res.end('whole'));
    },
    {
      host: '127.0.0.1',
      port: 0,
      timeouts: { requestTimeout: 300, headersTimeout: 200, connectionsCheckingInterval: 50 },
    },
  );
  const upload = (path: string) => {
    const sent = request(door.url + path, { method: 'POST', agent: false });
    sent.on('error', () => {});
    sent.write('a');
    const status = new Promise<number>((resolve) => sent.on('response', (res) => resolve(res.resume().statusCode!)));
    return { sent, status };
  };
  const long = upload('/long');
  await once(long.sent, 'socket');
  // It began later, and is cut off.
  assert.is(await upload('/short').status, 408);
  long.sent.end('b');
  assert.is(await long.status, 200);
  await door.close(0);
});

test('lines are the same however the bytes are cut, and a line that is too long costs only itself', async () => {
  const read = async (chunks: Iterable<Buffer>) => {
    const lines: string[] = [];
    const source = async function* () {
      yield* chunks;
    };
    for await (const line of readLines(source())) lines.push(describe(line));
    return lines;
  };
  const describe = (line: NumberedLine) =>
    `${line.line} ${'problem' in line ? line.problem.reason : JSON.stringify(line.value)}`;
  const text = '\ufeff{"a":"ä€😀"}\r\n\n  \n"x"\n{bad\n[1,2]\n"\\ud800"\n{"last":true}';
  const expected = ['1 {"a":"ä€😀"}', '4 "x"', '5 bad-request', '6 [1,2]', '7 bad-request', '8 {"last":true}'];
  const bytes = Buffer.from(text);
  assert.equal(await read([bytes]), expected);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length })), async (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      assert.equal(await read(places.slice(1).map((place, at) => bytes.subarray(places[at], place))), expected);
    }),
  );
  const long = Buffer.alloc(DOMAIN_LIMITS.bulkLineBytes / 2 + 1, 'x');
  assert.equal(await read([long, long, long, Buffer.from('\n1\n')]), ['1 too-large', '2 1']);
  assert.equal(await read([Buffer.from([0x22, 0xff, 0x22, 0x0a, 0x31])]), ['1 bad-request', '2 1']);
});

test('answers come in order whatever takes how long, and never is more worked on than fits', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 40 }), fc.integer({ min: 1, max: 8 }), async (delays, width) => {
      let busy = 0;
      let most = 0;
      const items = async function* () {
        for (const [at, delay] of delays.entries()) {
          if (delay === 3) await new Promise(setImmediate);
          yield { at, delay };
        }
      };
      const work = async ({ at, delay }: { at: number; delay: number }) => {
        most = Math.max(most, ++busy);
        for (let turn = 0; turn < delay; turn++) await new Promise(setImmediate);
        busy--;
        return at;
      };
      const answers: number[] = [];
      for await (const answer of inOrder(items(), { width, work })) answers.push(answer);
      assert.equal(
        answers,
        delays.map((_, at) => at),
      );
      assert.ok(most <= width);
    }),
    { numRuns: 50 },
  ));

test.run();
