// The examples of the API reference, as `/docs/guides/api` shows them: compiled against the declarations that are packed, and run. What
// their comments promise is compared.

import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ApiName, readApi } from '../../server/docs/generate/api.ts';
import { HELLO_FLOW } from '../../server/docs/generate/examples.ts';
import { checkedExample, countPromises } from '../guides/examples.ts';
import { KEYS } from '../package/keys.ts';
import { ROOT } from '../package/manifest.ts';
import { builtPackage, TSC } from '../support/build.ts';
import { startMongo } from '../support/mongo-server.ts';
import { compileKept } from '../support/protoc.ts';
import { startRedis } from '../support/redis-server.ts';

const test = suite('examples of the reference');

/** Subpaths whose examples need a server. */
const SERVERS: { readonly [subpath: string]: () => Promise<{ env: Record<string, string>; stop(): Promise<void> }> } = {
  'twinline/store/redis': async () => {
    const { url, stop } = await startRedis();
    return { env: { REDIS_URL: url }, stop };
  },
  'twinline/store/mongo': async () => {
    const { url, stop } = await startMongo();
    const own = new URL(url);
    own.pathname = `twinline-reference-${process.pid}`;
    return { env: { MONGODB_URL: own.href }, stop };
  },
};

// What an example imports beside those of its comments.
const CHECK = `import { isDeepStrictEqual, inspect } from 'node:util';
const plain = (value: unknown) => (typeof value === 'object' ? structuredClone(value) : value);
export function check(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(plain(actual), plain(expected))) throw new Error('gives ' + inspect(actual, { depth: 9 }));
}
export async function checkThrows(work: () => Promise<unknown>, code: string): Promise<void> {
  const thrown = await work().then(() => 'nothing', (error: { code?: string }) => error.code);
  if (thrown !== code) throw new Error('throws ' + thrown);
}
`;

// One process for all of them: `run.js <module> …`.
const RUN = `const failed: string[] = [];
for (const name of process.argv.slice(2))
  await import('./' + name + '.js').catch((error: Error) => failed.push(name + ' ' + error.message));
console.log(JSON.stringify(failed));
`;

const folder = mkdtempSync(join(tmpdir(), 'twinline-reference-'));
const modules = new Map<string, string[]>();

test.before(async () => {
  const dist = join(await builtPackage(), 'dist');
  mkdirSync(join(folder, 'node_modules/twinline'), { recursive: true });
  symlinkSync(dist, join(folder, 'node_modules/twinline/dist'));
  symlinkSync(join(ROOT, 'package.json'), join(folder, 'node_modules/twinline/package.json'));
  for (const name of ['@types', 'xstate'])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'hello.flow.json'), HELLO_FLOW);
  writeFileSync(join(folder, 'library.pb'), compileKept('demo/library.proto'));
  const files = ['check.ts', 'run.ts'];
  writeFileSync(join(folder, 'check.ts'), CHECK);
  writeFileSync(join(folder, 'run.ts'), RUN);
  for (const [subpath, names] of readApi(dist)) {
    const examples = names.filter(
      (one): one is ApiName & { example: string } => one.example !== undefined && !one.seeAt,
    );
    const module = (name: string) => `${subpath.replaceAll('/', '-')}-${name}`;
    modules.set(
      subpath,
      examples.map(({ name }) => module(name)),
    );
    for (const { name, example } of examples) {
      assert.ok(countPromises(example) > 0, `the example of ${subpath} ${name} says what it gives`);
      writeFileSync(join(folder, `${module(name)}.ts`), checkedExample(example));
      files.push(`${module(name)}.ts`);
    }
    const lacking = names.filter(
      ({ signature, example, seeAt }) => /^(function|class) /.test(signature) && !example && !seeAt,
    );
    assert.equal(
      lacking.map(({ name }) => `${subpath} ${name} has no example`),
      [],
    );
  }
  const compilerOptions = { module: 'nodenext', target: 'es2022', strict: true, skipLibCheck: true, types: ['node'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  assert.is(spawnSync(process.execPath, [TSC, '-p', '.'], { cwd: folder, encoding: 'utf8' }).stdout, '');
});
test.after(() => rmSync(folder, { recursive: true }));

async function run(names: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
  assert.ok(names.length > 0);
  const given = {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ORACLE_KEY: KEYS.ORACLE_KEY, ...env },
    timeout: 60_000,
  };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['run.js', ...names], given);
  assert.equal([stderr, JSON.parse(stdout)], ['', []]);
}

test('they give what their comments say', () =>
  run([...modules].flatMap(([subpath, names]) => (subpath in SERVERS ? [] : names))));

for (const [subpath, start] of Object.entries(SERVERS))
  test(`those of ${subpath} do on a real server`, async () => {
    const { env, stop } = await start();
    try {
      await run(modules.get(subpath)!, env);
    } finally {
      await stop();
    }
  });

test.run();
