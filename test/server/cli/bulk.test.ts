// `twinline import` and `twinline export` against a real server: outcomes, exit codes, broken connections, no key anywhere.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Chunk, readChunks } from '../../../server/cli/verbs/import.ts';
import { ROOT } from '../../package/manifest.ts';
import { builtFile } from '../../support/build.ts';
import { listenLow } from '../../support/ports.ts';
import { type Ran, run as runHere } from '../support/command.ts';
import { domainClient, keyOf, PROTOCOL, writeKeys } from '../support/domain-client.ts';
import { sharedServer, withServer } from '../support/serve.ts';

const test = suite('import and export');
const folder = mkdtempSync(join(tmpdir(), 'twinline-bulk-'));
const env = { API_KEYS_FILE: writeKeys(folder) };
const server = sharedServer(test, { env });
const client = domainClient(() => server().url);
test.after(() => rmSync(folder, { recursive: true }));

/** Runs the command in this process; no output ever shows the key. */
const run = async (args: readonly string[], key = keyOf('operator')): Promise<Ran> =>
  checked(await runHere(args, { TWINLINE_API_KEY: key }));

/** Runs it in a process of its own, with standard input and output. */
async function runApart(args: readonly string[], input = ''): Promise<Ran> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [await builtFile('server/cli/main.ts'), ...args], {
    cwd: ROOT,
    env: { PATH, HOME, TWINLINE_API_KEY: keyOf('operator') },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin.end(input);
  return new Promise((resolve) => child.on('close', (code) => resolve(checked({ code: code ?? undefined, out, err }))));
}

function checked(ran: Ran): Ran {
  assert.not.match(ran.out + ran.err, keyOf('operator'));
  return ran;
}

let files = 0;
function inFile(content: string): string {
  const file = join(folder, `${++files}.ndjson`);
  writeFileSync(file, content);
  return file;
}

const objects = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const protocol = { kind: 'protocol', alsoKnownAs: PROTOCOL, properties: { size: 'number' }, relationships: {} };
const devices = (count: number, from: number) =>
  Array.from({ length: count }, (_, n) => ({ type: 'Device', class: PROTOCOL, properties: { size: from + n } }));
const text = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
/** Lines are sent in chunks of 1,000: with as many empty ones in the middle there are two. */
const twoChunks = (count: number, from: number) =>
  `${text([protocol, ...devices(count, from)])}${'\n'.repeat(1_000)}${text(devices(count, from + count))}`;

test('a file goes in, comes out as a whole, and goes into another server; again nothing changes', async () => {
  const [file, dump, url] = [inFile(twoChunks(100, 0)), join(folder, 'dump'), server().url];
  const exported = async () => (await client.send('operator', '/v1/export')).text;
  const tried = await run(['import', file, '--url', url, '--dry-run']);
  assert.is(tried.code, 0, tried.err);
  assert.is(objects(await exported()).length, 2);
  const first = await run(['import', file, '--url', url]);
  const [sum] = objects(first.out);
  assert.equal([first.code, sum!.lines, sum!.created, sum!.failed], [0, 201, 201, 0]);
  const again = objects((await runApart(['import', '-', '--url', url], readFileSync(file, 'utf8'))).out);
  assert.equal([again[0]!.created, again[0]!.unchanged], [0, 201], 'also lines without a name of their own');
  const later = objects((await run(['import', file, '--url', url, '--from', '1001'])).out);
  assert.equal([later[0]!.lines, later[0]!.unchanged], [100, 100]);
  const out = await run(['export', dump, '--url', `${url}/`]);
  const [told] = objects(out.err);
  assert.equal([out.code, out.out, told!.lines, told!.records], [0, '', 203, { protocol: 1, domain: 200 }]);
  assert.ok((told!.leftOut as string[]).includes('accounts and PINs'));
  assert.is((await runApart(['export', '--url', url])).out, readFileSync(dump, 'utf8'));
  await withServer({ env }, async (other) => {
    assert.is((await run(['import', dump, '--url', other.url])).code, 0);
    const there = () => domainClient(() => other.url).send('operator', '/v1/export');
    assert.is((await there()).text, readFileSync(dump, 'utf8'));
  });
  await withServer({ env }, async (other) => {
    const there = () => domainClient(() => other.url).send('operator', '/v1/export');
    const lines = readFileSync(dump, 'utf8').trim().split('\n');
    const cut = inFile(lines.slice(0, -3).join('\n'));
    const changed = inFile([...lines.slice(0, 50), ...lines.slice(51), lines[50]].join('\n'));
    for (const [damaged, why] of [
      [cut, /has no last line: it was cut off.* With --part/],
      [changed, /\(200 lines are there, 201 were written\)/],
      [inFile(`${lines.slice(1).join('\n')}\n`), /its first line is missing/],
    ] as const) {
      const refused = await run(['import', damaged, '--url', other.url]);
      assert.equal([refused.code, refused.out], [1, '']);
      assert.match(refused.err, why);
    }
    assert.is(objects((await there()).text).length, 2, 'nothing was sent');
    for (const more of [['--dry-run'], []]) {
      const piped = await runApart(['import', '-', '--url', other.url, ...more], readFileSync(cut, 'utf8'));
      assert.is(piped.code, 1);
      assert.match(piped.err, /it was cut off/);
    }
    const part = await run(['import', cut, '--url', other.url, '--part']);
    assert.equal([part.code, objects(part.out)[0]!.failed, part.err], [0, 0, '']);
    const bare = await run(['import', inFile(lines.slice(1, -1).join('\n')), '--url', other.url]);
    assert.equal([bare.code, objects(bare.out)[0]!.lines], [0, 201]);
    assert.match(bare.err, /have no first and last line/);
    assert.is((await there()).text, readFileSync(dump, 'utf8'));
  });
});

test('lines that are refused are told as JSON with their number, and the code is 1', async () => {
  const file = inFile(`${twoChunks(1, 500)}${text([{ type: 'Device' }])}{"half":`);
  const { code, out } = await run(['import', file, '--url', server().url]);
  const [missing, broken, sum] = objects(out);
  assert.equal([code, missing!.line, missing!.status], [1, 1_004, 422]);
  assert.equal([broken!.line, broken!.status], [1_005, 400]);
  assert.equal([sum!.created, sum!.unchanged, sum!.failed], [2, 1, 2]);
});

test('lines that are there already are told on demand, with what is other there; what a name of two records is in fails', async () => {
  const [first, second] = [
    { type: 'Device', class: PROTOCOL, externalId: 'e1', alsoKnownAs: 'did:x:a1' },
    { type: 'Device', class: PROTOCOL, externalId: 'e2' },
  ];
  const url = ['--url', server().url];
  assert.is((await run(['import', inFile(text([protocol, first, second])), ...url])).code, 0);
  const other = { ...second, properties: { size: 1 } };
  const file = inFile(text([protocol, first, other, { ...second, alsoKnownAs: 'did:x:a1' }]));
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
});

test('wrong arguments are 2; no server, a wrong key or a missing role are 1, in words', async () => {
  const [file, url] = [inFile(text([protocol])), ['--url', server().url]];
  for (const args of [
    ['import'],
    ['import', join(folder, 'missing')],
    ['import', file, '--from', '0'],
    ['export', '--url', 'nonsense'],
    ['import', file, '--key', ''],
    ['import', file, '--key', 'bad\nkey'],
  ]) {
    const { code, err } = await run(args);
    assert.is(code, 2, args.join(' '));
    assert.not.match(err, /bad\nkey/);
  }
  const unknown = await run(['import', file, ...url], 'some-other-secret-key');
  assert.equal([unknown.code, unknown.out], [1, '']);
  assert.match(unknown.err, /Send an API key.*\(401\)\nThe lines before 1 are done\./);
  assert.not.match(unknown.err, /some-other-secret/);
  const voter = await run(['export', ...url], keyOf('voter'));
  assert.match(voter.err, /needs the role operator/);
  assert.is(voter.code, 1);
  const elsewhere = await run(['export', '--url', 'http://127.0.0.1:9']);
  assert.match(elsewhere.err, /Cannot reach http:\/\/127\.0\.0\.1:9/);
});

/** A server in between that cuts an answer off in its middle as often as `cut` says so. */
async function withBreaking(cut: () => boolean, work: (url: string) => Promise<void>): Promise<void> {
  const proxy: Server = createServer((req, res) => {
    const { method, headers, url } = req;
    const onward = request(server().url + url, { method: method!, headers, agent: false }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      if (!cut()) return void answer.pipe(res);
      answer.once('data', (chunk: Buffer) => {
        res.write(chunk.subarray(0, chunk.length / 2), () => {
          res.destroy();
          answer.destroy();
        });
      });
    });
    onward.on('error', () => res.destroy());
    req.pipe(onward);
  });
  try {
    await work(`http://127.0.0.1:${await listenLow(proxy)}`);
  } finally {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  }
}

test('connections that break in the middle are tried again, and every line is taken once', () => {
  let cuts = 2;
  return withBreaking(
    () => cuts-- > 0,
    async (url) => {
      const { code, out, err } = await run(['import', inFile(twoChunks(30, 9_000)), '--url', url]);
      assert.is(code, 0, err);
      assert.is(objects(out)[0]!.lines, 61);
      assert.ok(cuts < 0);
      const { text: dump } = await client.send('operator', '/v1/export');
      assert.is(dump.match(/"size":90\d\d\b/g)?.length, 60);
    },
  );
});

test('an export that breaks off leaves the file as it was', () =>
  withBreaking(
    () => true,
    async (url) => {
      const file = inFile('the export of yesterday\n');
      const { code, err } = await run(['export', file, '--url', url]);
      assert.is(code, 1);
      assert.match(err, /The export broke off/);
      assert.is(readFileSync(file, 'utf8'), 'the export of yesterday\n');
      assert.not.ok(existsSync(`${file}.part`));
      const nowhere = await run(['export', join(folder, 'no', 'such', 'folder'), '--url', server().url]);
      assert.match(nowhere.err, /Cannot write .*folder\.part \(ENOENT\)/);
    },
  ));

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
