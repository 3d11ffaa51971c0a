// A TypeScript project of somebody else that imports every subpath of the packed package, and checks its types too.

import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GUIDES, type GuideName, guideText } from '../../server/docs/guides.ts';
import { blocksOf } from '../guides/blocks.ts';
import { ask } from '../server/support/serve.ts';
import { TSC } from '../support/build.ts';
import { killed } from '../support/process.ts';
import { isWhole } from '../support/size.ts';
import { addressIn } from './listening.ts';
import { manifest, ROOT } from './manifest.ts';
import { buildPackage, copyPacked, linkDependencies } from './packed.ts';

const test = suite('a TypeScript project that uses the package');

/** The oldest compiler that is held to it. */
const OLDEST = join(ROOT, 'test/package/oldest-compiler.mjs');

const SETTINGS = {
  module: 'nodenext',
  target: 'es2022',
  strict: true,
  skipLibCheck: false,
  noEmit: true,
  types: ['node'],
  // Dependencies are links, and must not find the types that only this repository installs.
  preserveSymlinks: true,
};

/** A project that has installed the package, without what only our development needs. */
const folder = mkdtempSync(join(tmpdir(), 'twinline-consumer-'));

test.before(async () => {
  await buildPackage(join(folder, 'source'));
  copyPacked(join(folder, 'source'), join(folder, 'node_modules/twinline'));
  linkDependencies(join(folder, 'node_modules'));
  // Types must not need what is optional, nor what only that needs.
  for (const name of [...Object.keys(manifest.optionalDependencies ?? {}), 'zod'])
    rmSync(join(folder, 'node_modules', name));
  for (const name of ['esbuild', '@types/koa']) assert.not.ok(existsSync(join(folder, 'node_modules', name)));
});
test.after(() => rmSync(folder, { recursive: true }));

/** What the compiler says of a project in this folder, for which it is `skipLibCheck: false` and strict; '' when all is well. */
function compile(place: string, options: object, files: Readonly<Record<string, string>>): string {
  mkdirSync(place, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
  const compilerOptions = { ...SETTINGS, ...options };
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', '.'], { cwd: place, encoding: 'utf8' });
  assert.is(status === 0, stdout === '');
  return stdout;
}

/** What the oldest compiler says of a project that {@link compile} has written; one at a time takes seconds. */
function compileAsOldest(place: string): string {
  const { stdout } = spawnSync(process.execPath, [OLDEST, place], { cwd: ROOT, encoding: 'utf8' });
  assert.match(stdout, /^5\.4\.\d+\n/);
  return stdout.replace(/^.*\n/, '');
}

const RESOLUTIONS = {
  nodenext: { module: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
};

for (const [name, options] of Object.entries(RESOLUTIONS))
  test(`all subpaths compile without the packages that only our development needs: ${name}`, () => {
    const names = Object.keys(manifest.exports).map((path) => `twinline${path.slice(1)}`);
    assert.is(names.length, 16);
    const lines = names.map(
      (name, at) => `import * as m${at} from '${name}';\nexport type M${at} = keyof typeof m${at};`,
    );
    const place = join(folder, name);
    assert.is(compile(place, options, { 'index.mts': [...lines, USE].join('\n') }), '');
    if (name === 'nodenext' || isWhole) assert.is(compileAsOldest(place), '');
  });

test('the client is typed for a page, as strictly as the compiler can, without the types of Node', () => {
  const page = { lib: ['es2022', 'dom', 'dom.iterable'], types: [], exactOptionalPropertyTypes: true };
  assert.is(compile(join(folder, 'page'), { ...page, noUncheckedIndexedAccess: true }, { 'index.mts': CLIENT }), '');
});

test('what subpaths export can be exported again with declarations', async () => {
  const lines = await Promise.all(
    Object.entries(manifest.exports).map(async ([path, file], at) => {
      const names = Object.keys(await import(pathToFileURL(join(folder, 'source', file)).href));
      const again = names.map((name) => `export const ${name}${at} = m${at}.${name};`);
      return [`import * as m${at} from 'twinline${path.slice(1)}';`, ...again].join('\n');
    }),
  );
  assert.is(compile(join(folder, 'again'), { declaration: true }, { 'index.mts': lines.join('\n') }), '');
});

test('machines of the oldest XState are accepted by type', () => {
  const place = join(folder, 'oldest-xstate');
  mkdirSync(join(place, 'node_modules'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules/xstate-oldest'), join(place, 'node_modules/xstate'));
  const text = `import { compileMachine } from 'twinline';
import { createMachine, setup } from 'xstate';
export const plain = compileMachine(createMachine({ id: 'd', initial: 'a', states: { a: { on: { X: 'b' } }, b: {} } }));
export const typed = compileMachine(
  setup({ types: { context: {} as { n: number }, events: {} as { type: 'X' }, input: {} as { n: number } } }).createMachine({
    context: ({ input }) => ({ n: input.n }),
    initial: 'a',
    states: { a: { on: { X: 'b' } }, b: { type: 'final' } },
  }),
);
// @ts-expect-error
compileMachine({ initial: 'a' });
`;
  assert.is(compile(place, {}, { 'index.mts': text }), '');
});

// Arguments need no types in an example that is JavaScript; all else must be right.
const OF_OTHERS = /from '(?!\.|node:|twinline|xstate)/;
const EXAMPLES = { allowJs: true, checkJs: true, noImplicitAny: false };

test('the programs of all guides are right by the types', async () => {
  const place = join(folder, 'guides');
  const files: Record<string, string> = { 'package.json': '{"type":"module"}' };
  for (const name of Object.keys(GUIDES) as GuideName[]) {
    for (const block of blocksOf(await guideText(name))) {
      if (block.kind !== 'write' || !/^[\w.-]+\.m?js$/.test(block.file)) continue;
      // Those import the tools of others.
      if (/\.(config|test)\.mjs$/.test(block.file) || OF_OTHERS.test(block.text)) continue;
      mkdirSync(join(place, name), { recursive: true });
      files[join(name, block.file)] = block.text;
    }
  }
  assert.ok(Object.keys(files).length > 10, Object.keys(files).join());
  assert.is(compile(place, EXAMPLES, files), '');
});

test('no file that is packed names one that is not: maps of sources are not packed', () => {
  const dist = join(folder, 'node_modules/twinline/dist');
  const named = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.(js|d\.ts)$/.test(path) && /^\/\/# sourceMappingURL=/m.test(readFileSync(join(dist, path), 'utf8')),
  );
  assert.equal(named, []);
});

test('it draws with the style inside, and serves every page with its bundled script and style sheet', async () => {
  const program = (name: string) => join(folder, 'node_modules/twinline/dist/server', name);
  const menus = join(folder, 'node_modules/twinline/menus');
  const drawn = spawnSync(process.execPath, [program('cli/main.js'), 'graph', 'main', '--menus-dir', menus], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.is(drawn.stderr, '');
  assert.match(drawn.stdout, /<style>\.drawing \{[^<]+\.drawing \.card \{ fill: var\(--card\)[^<]+<\/style>/);
  const env = { ...process.env, HOST: '127.0.0.1', PORT: '0', DATA_DIR: ':memory:', MENUS_DIR: menus };
  const child = spawn(process.execPath, [program('main.js')], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const url = await addressIn(child);
    const tools = ['/inspector', '/inspector/stately', '/simulator', '/chat', '/registry'];
    for (const page of ['/', ...tools, '/docs', '/docs/guides', '/docs/guides/menus', '/docs/search?q=private']) {
      const { status, text } = await ask(url + page, { headers: { accept: 'text/html' } });
      assert.is(status, 200, page);
      const files = [...text.matchAll(/(?:src|href)="(\/pages\/[^"]+)"/g)].map(([, path]) => path!);
      assert.is(files.length, 2, `${page}: ${files}`);
      for (const file of files) {
        const { status, headers } = await ask(url + file);
        assert.equal([status, headers['cache-control']], [200, 'public, max-age=31536000, immutable'], file);
      }
    }
    await takesPacked(`${url}/docs/swagger-ui.css`);
  } finally {
    await killed(child);
  }
});

/** A file that is packed as Brotli comes so to those who take it, and as it is to all others. */
async function takesPacked(url: string): Promise<void> {
  const raw = (encoding: string) => fetch(url, { headers: { 'accept-encoding': encoding } });
  const [plain, packed] = [await raw('identity'), await raw('gzip, br')];
  assert.equal([plain.headers.get('content-encoding'), packed.headers.get('content-encoding')], [null, 'br']);
  for (const { headers } of [plain, packed]) assert.match(headers.get('vary') ?? '', /Accept-Encoding/i);
  assert.is.not(plain.headers.get('etag'), packed.headers.get('etag'));
  const etag = packed.headers.get('etag')!;
  assert.is((await ask(url, { headers: { 'accept-encoding': 'br', 'if-none-match': etag } })).status, 304);
  // fetch has unpacked it.
  assert.is(await packed.text(), await plain.text());
}

/** Types that are there, and are not `any`. */
const USE = `
import { type Engine, memoryDocuments, memorySnapshots, type LogStore, type Services, takeTurn } from 'twinline';
import type { Responder } from 'twinline/agent';
import type { LintRule } from 'twinline/flow';
import { type Config, type Plugin, readConfig, requireConfig, type RunningServer, type ServerParts, startServer } from 'twinline/server';
import { type Adapter, jsonReply, readFields, readMsisdn } from 'twinline/ussd';

export const adapter: Adapter = {
  name: 'zed',
  routes: [{ method: 'GET', path: '/:id', about: { summary: 'Zed' } }],
  read: ({ path, body }) => ({
    sessionId: path[0] ?? '',
    phoneNumber: readMsisdn(readFields(body).from, 'from'),
    serviceCode: '*1#',
    text: '',
    event: 'turn',
    mode: 'latest',
  }),
  write: ({ text }) => jsonReply(text),
  refuse: ({ text }) => jsonReply(text),
};
export const plugin: Plugin = {
  name: 'mine',
  version: '1.0.0',
  routes: [
    {
      method: 'GET',
      path: '/mine/:id',
      handle(koa, ctx) {
        const id: string | undefined = koa.params.id;
        koa.body = { id, user: ctx.requireDid() };
        // @ts-expect-error
        koa.nothing;
      },
    },
  ],
  gate(ctx) {
    if (ctx.did === undefined) throw ctx.refuse(403, 'No');
  },
};
export const more: Plugin = { ...plugin, routes: (router, ctx) => void router.get('/x', ctx.jsonBody) };
export const rule: LintRule = { code: 'a', severity: 'error', means: 'b', find: ({ flow }) => (flow.langs ? [] : []) };
export const responder: Responder = {
  name: 'echo',
  isResumable: true,
  async *respond({ request }) {
    yield { type: 'text', text: request.message };
  },
};
export const services: Services = { 'a.b': async (input, { signal }) => ({ input, late: signal.aborted }) };
export async function say(engine: Engine): Promise<string> {
  const { reply, repeated } = await takeTurn(engine, { key: 'k', decide: () => ({ kind: 'input', input: '1' }) });
  const result = await takeTurn(engine, { key: 'k', decide: () => ({ kind: 'repeat' }) });
  const again: string = result.kind === 'replied' ? result.reply.text : result.reason;
  return repeated ? again : (reply?.text ?? again);
}
export const parts = (logs: LogStore): ServerParts => ({
  adapters: [adapter],
  plugins: [plugin, more],
  lintRules: [rule],
  ...{ responder, services },
  stores: { snapshots: memorySnapshots(), documents: memoryDocuments(), logs },
});
export async function run(): Promise<string> {
  const { config, problems } = readConfig(process.env);
  if (!config) throw new Error(problems.join());
  const checked: Config = config;
  await (await startServer(requireConfig(process.env))).close();
  const server: RunningServer = await startServer(checked);
  const paths: readonly string[] = server.routes.map(({ path }) => path);
  // @ts-expect-error
  server.nothing;
  // @ts-expect-error
  config.nothing;
  return server.url + paths.length;
}
`;

const CLIENT = `import { agentClient, type ApiSchemas, ProblemError, twinsClient } from 'twinline/client';

const agent = agentClient({ url: 'http://h', credential: () => 'a' });
const twins = twinsClient({ credential: async () => ({ value: 'a', expiresAt: 1 }) });
const { sessionId }: { sessionId: string } = await agent.ask('POST /sessions');
for await (const frame of await agent.sendMessage(sessionId, { message: 'x', timezone: 'Africa/Lusaka' })) {
  if (frame.event === 'message') frame.data.content.trim();
  // @ts-expect-error
  else if (frame.event === 'massage') break;
}
// @ts-expect-error
await agent.sendMessage(sessionId, { massage: 'x' });
const { items, next } = await twins.ask('GET /v1/domains', { query: { limit: 3, cursor: undefined } });
const first: string | undefined = items[0]?.did ?? next ?? undefined;
const body: ApiSchemas['NewTwin'] = { type: 'Project', class: 'did:x:a', properties: { n: 1, more: { a: [1] } } };
const twin: ApiSchemas['Domain'] = await twins.ask('POST /v1/domains', { body, headers: { 'Idempotency-Key': 'a' } });
const etag: string | null = (await twins.send('GET /v1/domains/{did}', { path: { did: twin.did } })).headers.get('etag');
for await (const { seq, revision } of twins.events({ after: 0 })) console.log(seq.toFixed(), revision?.toFixed());
// @ts-expect-error
await twins.ask('GET /v1/domain');
// @ts-expect-error
await twins.ask('GET /v1/domains/{did}');
// @ts-expect-error
await twins.ask('GET /v1/domains/{did}', { path: { id: 'x' } });
// @ts-expect-error
await twins.ask('POST /v1/domains', { body: { tipe: 'Project' } });
export function isVoted(error: unknown): boolean {
  // @ts-expect-error
  if (error instanceof ProblemError && error.code === 'already-votet') return false;
  return error instanceof ProblemError && error.code === 'already-voted';
}
export const all = [first, etag];
`;

test.run();
