// `twinline import` and `twinline export` against a real server: outcomes, exit codes, broken connections, no key anywhere.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { twinline } from '../../../server/cli/main.ts';
import { type Chunk, readChunks } from '../../../server/cli/verbs/import.ts';
import { builtFile } from '../../support/build.ts';
import { withFolder } from '../../support/process.ts';
import { type DomainClient, domainClient, keyOf, PROTOCOL, writeKeys } from '../support/domain-client.ts';
import { type Served, withServer } from '../support/serve.ts';

const test = suite('import and export');
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const KEY = keyOf('operator');

/** Runs the command in this process; no output ever shows the key. */
async function run(args: readonly string[], { key = KEY }: { key?: string } = {}): Promise<Ran> {
  const { log, error } = console;
  const lines: { out: string[]; err: string[] } = { out: [], err: [] };
  console.log = (line) => lines.out.push(String(line));
  console.error = (line) => lines.err.push(String(line));
  try {
    const code = await twinline(args, { TWINLINE_API_KEY: key });
    return checked({
      code: code ?? null,
      out: lines.out.join('\n'),
      err: stripVTControlCharacters(lines.err.join('\n')),
    });
  } finally {
    console.log = log;
    console.error = error;
  }
}

/** Runs it in a process of its own, with standard input and output. */
async function runApart(args: readonly string[], input = ''): Promise<Ran> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TWINLINE_API_KEY: KEY };
  const child = spawn(process.execPath, [await builtFile('server/cli/main.ts'), ...args], { cwd: ROOT, env });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin.end(input);
  return new Promise((resolve) => child.on('close', (code) => resolve(checked({ code, out, err }))));
}

function checked(ran: Ran): Ran {
  assert.not.match(ran.out + ran.err, KEY);
  return ran;
}

type Work = (server: Served, client: DomainClient, folder: string) => Promise<void>;

const withDomain = (work: Work) =>
  withFolder((folder) =>
    withServer({ env: { API_KEYS_FILE: writeKeys(folder) } }, (server) =>
      work(
        server,
        domainClient(() => server.url),
        folder,
      ),
    ),
  );

const objects = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const protocol = { kind: 'protocol', alsoKnownAs: PROTOCOL, properties: { size: 'number' }, relationships: {} };
const devices = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ type: 'Device', class: PROTOCOL, properties: { size: n } }));
const text = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

test('a file goes in, comes out as a whole, and goes into another server; again nothing changes', () =>
  withDomain(async (server, client, folder) => {
    const [file, dump] = [join(folder, 'in.ndjson'), join(folder, 'out.ndjson')];
    writeFileSync(file, text([protocol, ...devices(1_500)]));
    const tried = await run(['import', file, '--url', server.url, '--dry-run']);
    assert.is(tried.code, 0, tried.err);
    assert.is((await client.send('operator', '/v1/export')).text, '');
    const first = await run(['import', file, '--url', server.url]);
    const [sum] = objects(first.out);
    assert.equal([first.code, sum!.lines, sum!.created, sum!.failed], [0, 1_501, 1_501, 0]);
    const again = objects((await runApart(['import', '-', '--url', server.url], readFileSync(file, 'utf8'))).out);
    assert.equal([again[0]!.created, again[0]!.unchanged], [0, 1_501], 'also lines without a name of their own');
    const later = objects((await run(['import', file, '--url', server.url, '--from', '1200'])).out);
    assert.equal([later[0]!.lines, later[0]!.unchanged], [501, 501]);
    const out = await run(['export', dump, '--url', `${server.url}/`]);
    assert.equal([out.code, out.out, objects(out.err)[0]!.lines], [0, '', 1_501]);
    assert.is((await runApart(['export', '--url', server.url])).out, readFileSync(dump, 'utf8'));
    await withDomain(async (other, otherClient) => {
      assert.is((await run(['import', dump, '--url', other.url])).code, 0);
      assert.is((await otherClient.send('operator', '/v1/export')).text, readFileSync(dump, 'utf8'));
    });
  }));

test('lines that are refused are told as JSON with their number, and the code is 1', () =>
  withDomain(async (server, _client, folder) => {
    const file = join(folder, 'in.ndjson');
    const lines = [...devices(1_001), { type: 'Device' }];
    writeFileSync(file, `${text([protocol])}\n${text(lines)}{"half":`);
    const { code, out } = await run(['import', file, '--url', server.url]);
    const [missing, broken, sum] = objects(out);
    assert.equal([code, missing!.line, missing!.status], [1, 1_004, 422]);
    assert.equal([broken!.line, broken!.status], [1_005, 400]);
    assert.equal([sum!.created, sum!.failed], [1_002, 2]);
  }));

test('lines that are there already are told on demand, with what is other there; what a name of two records is in fails', () =>
  withDomain(async (server, _client, folder) => {
    const file = join(folder, 'in.ndjson');
    const [first, second] = [
      { type: 'Device', class: PROTOCOL, externalId: 'e1', alsoKnownAs: 'did:x:a1' },
      { type: 'Device', class: PROTOCOL, externalId: 'e2' },
    ];
    const url = ['--url', server.url];
    writeFileSync(file, text([protocol, first, second]));
    assert.is((await run(['import', file, ...url])).code, 0);
    const other = { ...second, properties: { size: 1 } };
    writeFileSync(file, text([protocol, first, other, { ...second, alsoKnownAs: 'did:x:a1' }]));
    const quiet = await run(['import', file, ...url]);
    const [failed, sum, ...none] = objects(quiet.out);
    assert.equal([quiet.code, failed!.line, failed!.status, none], [1, 4, 409, []]);
    const { seconds: _, ...counts } = sum!;
    assert.equal(counts, { lines: 4, created: 0, unchanged: 3, differing: 1, failed: 1 });
    const loud = objects((await run(['import', file, ...url, '--unchanged'])).out);
    assert.equal(
      loud.slice(0, -1).map(({ line, status, differs }) => [line, status, differs]),
      [
        [1, 200, undefined],
        [2, 200, undefined],
        [3, 200, ['/properties']],
        [4, 409, undefined],
      ],
    );
  }));

test('wrong arguments are 2; no server, a wrong key or a missing role are 1, in words', () =>
  withDomain(async (server, _client, folder) => {
    const file = join(folder, 'in.ndjson');
    writeFileSync(file, text([protocol]));
    const url = ['--url', server.url];
    const usage: Ran[] = [];
    for (const args of [
      ['import'],
      ['import', join(folder, 'missing')],
      ['import', file, '--from', '0'],
      ['export', '--url', 'nonsense'],
      ['import', file, '--key', ''],
      ['import', file, '--key', 'bad\nkey'],
    ])
      usage.push(await run(args));
    assert.equal(
      usage.map(({ code }) => code),
      [2, 2, 2, 2, 2, 2],
    );
    assert.not.match(usage.at(-1)!.err, /bad\nkey/);
    const unknown = await run(['import', file, ...url], { key: 'some-other-secret-key' });
    assert.equal([unknown.code, unknown.out], [1, '']);
    assert.match(unknown.err, /Send an API key.*\(401\)\nThe lines before 1 are done\./);
    assert.not.match(unknown.err, /some-other-secret/);
    const voter = await run(['export', ...url], { key: keyOf('voter') });
    assert.match(voter.err, /needs the role operator/);
    assert.is(voter.code, 1);
    const elsewhere = await run(['export', '--url', 'http://127.0.0.1:9']);
    assert.match(elsewhere.err, /Cannot reach http:\/\/127\.0\.0\.1:9/);
  }));

test('connections that break in the middle are tried again, and every line is taken once', () =>
  withDomain(async (server, client, folder) => {
    const file = join(folder, 'in.ndjson');
    writeFileSync(file, text([protocol, ...devices(2_500)]));
    let cuts = 3;
    const [proxy, url] = await breaking(server.url, () => cuts-- > 0);
    try {
      const { code, out, err } = await run(['import', file, '--url', url]);
      assert.is(code, 0, err);
      assert.is(objects(out)[0]!.lines, 2_501);
      assert.ok(cuts < 0);
      assert.is((await client.send('operator', '/v1/export')).text.trim().split('\n').length, 2_501);
    } finally {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    }
  }));

/** Passes requests on, and cuts the answer off in its middle as long as `cut` says so. */
async function breaking(target: string, cut: () => boolean): Promise<[Server, string]> {
  const proxy = createServer((req, res) => {
    const { method, headers, url } = req;
    const onward = request(target + url, { method: method!, headers, agent: false }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      if (!cut()) return void answer.pipe(res);
      answer.once('data', (chunk: Buffer) => {
        res.write(chunk.subarray(0, chunk.length / 2));
        setImmediate(() => {
          res.destroy();
          answer.destroy();
        });
      });
    });
    onward.on('error', () => res.destroy());
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return [proxy, `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`];
}

test('an export that breaks off leaves the file as it was', () =>
  withDomain(async (server, client, folder) => {
    const file = join(folder, 'out.ndjson');
    writeFileSync(file, 'the export of yesterday\n');
    await client.protocol('operator');
    await client.project('operator');
    const [proxy, url] = await breaking(server.url, () => true);
    const { code, err } = await run(['export', file, '--url', url]);
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
    assert.is(code, 1);
    assert.match(err, /The export broke off/);
    assert.is(readFileSync(file, 'utf8'), 'the export of yesterday\n');
    assert.not.ok(existsSync(`${file}.part`));
    assert.match(
      (await run(['export', join(folder, 'no', 'such', 'folder'), '--url', server.url])).err,
      /Cannot write .*folder\.part \(ENOENT\)/,
    );
  }));

test('chunks hold the whole file in order, and are cut the same way however it is read', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3_000), { maxLength: 6 }), fc.array(fc.nat(60_000)), async (counts, cuts) => {
      const content = Buffer.from(
        counts.map((count) => 'line\n'.repeat(count)).join('\n') + (cuts.length % 2 ? 'last' : ''),
      );
      const read = async (parts: Buffer[]) => {
        const chunks: Chunk[] = [];
        for await (const chunk of readChunks(Readable.from(parts))) chunks.push(chunk);
        return chunks;
      };
      const places = [0, ...cuts.map((cut) => Math.min(cut, content.length)).sort((a, b) => a - b), content.length];
      const chunks = await read(places.slice(1).map((place, at) => content.subarray(places[at], place)));
      assert.ok(Buffer.concat(chunks.map(({ bytes }) => bytes)).equals(content));
      assert.equal(chunks, content.length ? await read([content]) : []);
      assert.ok(chunks.every(({ first, end }, at) => first === at * 1_000 + 1 && end <= content.length));
    }),
    { numRuns: 30 },
  ));

test.run();
