// The shape of the source: which way imports point, no circles, no env or HTTP in lib, file names, sizes, first lines.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { manifest, ROOT, sourceOf } from './package/manifest.ts';
import { PROMISES } from './promises/promises.ts';
import { listTests, usualFiles } from './support/choose.ts';
import { clockReadings } from './support/clock-readings.ts';
import {
  cycles,
  forbiddenImports,
  importsOf,
  isData,
  longFunctions,
  type Sources,
  scatteredTypes,
  upwardImports,
  wrongRooms,
} from './support/layers.ts';
import { FLOORS, ROOMS } from './support/rooms.ts';

const LINES_MAX = 300;
const FILES_MAX = 15;
const FUNCTION_MAX = 80;

/** Longer functions. One that is split, or shorter by now, leaves the list; none joins it. */
const LONG_FUNCTIONS = [
  'lib/account/account.ts accounts',
  'lib/account/spray.ts sprayBrake',
  'lib/agent/mcp/connection.ts mcpConnection',
  'lib/gateway/channel/breaker.ts guardedChannel',
  'lib/gateway/channel/grpc-channel.ts grpcChannel',
  'lib/gateway/descriptors/type-source.ts typeSource',
  'lib/gateway/http2/open.ts createReconnector',
  'lib/inspection/hub.ts createHub',
  'lib/store/lmdb/gate.ts makeGate',
  'lib/store/lmdb/logs.ts openLogs',
  'lib/store/lmdb/snapshots.ts openSnapshots',
  'lib/store/log/follow.ts followers',
  'lib/store/memory/documents.ts memoryDocuments',
  'lib/store/memory/logs.ts memoryLogs',
  'lib/store/mongo/feed.ts openFeed',
  'lib/store/mongo/index.ts mongoDocuments',
  'lib/store/mongo/snapshots.ts mongoSnapshots',
  'lib/store/redis/channel.ts redisSubscriber',
  'lib/store/redis/index.ts storeOn',
  'lib/store/redis/logs.ts logsOn',
  'lib/store/sqlite/documents.ts openDocuments',
  'lib/store/sqlite/schema.ts openRegistry',
  'lib/ussd/service.ts ussdService',
  'machines/ussd-menu.ts menuVocabulary',
  'server/cli/verbs/inspect.ts inspectDoor',
  'server/gateway/answers/large-replies.ts largeReplies',
  'server/gateway/door.ts gatewayDoor',
  'server/sockets/open.ts openSockets',
  'server/web/browser/inspector/drawing.ts drawingView',
];

const product = read(['lib', 'machines', 'server']);
const everything = new Map([...product, ...read(['test'])]);

const test = suite('layers');

test('imports point from the doors to the engine to the machines', () => {
  assert.ok(product.size > 0);
  assert.equal(forbiddenImports(product), []);
});

test('each room imports from the rooms of its row, types too, and rows name nothing else', () =>
  assert.equal(wrongRooms(product, ROOMS), []));

test('each import leads to a lower floor', () => {
  assert.equal(upwardImports(product, FLOORS), []);
  const sources: Sources = new Map([
    ['lib/errors.ts', ''],
    ['lib/redact.ts', "import { json } from './json/json.ts';"],
    ['lib/json/json.ts', "import { errors } from '../errors.ts';\nimport type { Redactor } from '../redact.ts';"],
    ['server/a/one.ts', "import { three } from '../b/three.ts';\nimport { two } from './deep/two.ts';"],
    ['server/a/deep/two.ts', "import { one } from '../one.ts';"],
    ['server/b/three.ts', "import type { One } from '../a/one.ts';"],
    ['odd/odd.ts', ''],
  ]);
  assert.equal(upwardImports(sources, ['lib', 'lib/json', 'lib/redact.ts', 'server/a', 'server/b']), [
    'lib/json/json.ts → lib/redact.ts: not on a lower floor',
    'server/a/one.ts → server/b/three.ts: not on a lower floor',
    'odd/odd.ts: is on no floor',
  ]);
});

test('no type name is declared in more than two rooms', () => {
  assert.equal(scatteredTypes(product, 2), []);
  const sources: Sources = new Map([
    ['lib/a/one.ts', 'export interface Row {}\ntype Cell = string;'],
    ['lib/b/two.ts', 'type Row = string;\nexport class Cell {}'],
    ['lib/b/three.ts', 'export type Cell = number;'],
    ['lib/c/four.ts', 'class Row {}'],
  ]);
  assert.equal(scatteredTypes(sources, 2), ['Row: lib/a lib/b lib/c']);
});

test('a room holds at most 15 files', () => {
  const files = new Map<string, number>();
  for (const path of product.keys()) files.set(dirname(path), (files.get(dirname(path)) ?? 0) + 1);
  assert.equal(
    [...files].filter(([, count]) => count > FILES_MAX),
    [],
  );
});

test('a row that names too much or too little is told', () => {
  const sources: Sources = new Map([
    ['server/a/one.ts', "import { b } from '../b/two.ts';\nimport type { C } from '../c/three.ts';"],
    ['server/b/two.ts', "import type { A } from '../a/one.ts';\nimport { c } from '../c/three.ts';"],
    ['server/c/three.ts', "import { a } from '../a/one.ts';"],
  ]);
  const rooms = {
    'server/a': { uses: 'server/b server/d', types: '' },
    'server/b': { uses: 'server/c', types: 'server/a' },
    'server/e': { uses: '', types: '' },
  };
  assert.equal(wrongRooms(sources, rooms), [
    'server/a → server/d: its row names values that nothing needs',
    'server/a → server/c: its row names no types of it',
    'server/c: has no row in test/support/rooms.ts',
    'server/c → server/a: its row names no values of it',
    'server/e: is no room',
  ]);
});

test('no file imports itself through others', () => assert.equal(cycles(product), []));

test('lib reads no environment and serves nothing', () => {
  const found = where(
    product,
    (path, source) =>
      path.startsWith('lib/') && /process\.env|\bcreate(Secure)?Server\b/.test(source.replace(/^ \* .*/gm, '')),
  );
  assert.equal(found, []);
});

test('every file says in its first line what lives there', () => {
  assert.equal(
    where(everything, (_path, source) => !/^(#!.*\n)?\/\/ \S/.test(source)),
    [],
  );
});

/** The files that are loaded with one, and the packages; what is imported when it is asked for is not. */
function loadedWith(path: string): { files: string[]; packages: string[] } {
  const files = new Set([path]);
  const packages = new Set<string>();
  for (const file of files)
    for (const { from, typeOnly, isDynamic } of importsOf(product.get(file)!)) {
      if (typeOnly || isDynamic || isData({ from })) continue;
      if (from.startsWith('.')) files.add(join(dirname(file), from));
      else if (!from.startsWith('node:')) packages.add(from);
    }
  return { files: [...files], packages: [...packages].sort() };
}

test('the command loads what its verb needs: little for --version, and nothing of a server to lint', () => {
  const command = loadedWith('server/cli/main.ts');
  assert.equal(command.packages, ['picocolors']);
  assert.ok(command.files.length <= 12, command.files.join(' '));
  const lint = loadedWith('server/cli/menus/lint.ts');
  // A build has the compiled checks in the place of Ajv.
  assert.equal(lint.packages, ['@humanwhocodes/momoa', 'ajv', 'picocolors', 're2js', 'xstate']);
});

test(`no source file is longer than ${LINES_MAX} lines, but the table of limits`, () => {
  const long = where(product, (_path, source) => source.trimEnd().split('\n').length > LINES_MAX);
  assert.equal(
    long.filter((path) => path !== 'lib/limits.ts'),
    [],
  );
});

test(`no function has more than ${FUNCTION_MAX} lines, but these, of which there are only ever fewer`, () => {
  assert.equal(longFunctions(product, FUNCTION_MAX).sort(), [...LONG_FUNCTIONS].sort());
  const body = '    a();\n'.repeat(3);
  const sources: Sources = new Map([
    ['a.ts', `export async function one(\n  a: A,\n): Promise<B> {\n${body}}\nfunction two() {\n${body}}\n`],
    ['b.ts', `class B {\n  async #three({\n    a,\n  }: A) {\n${body}  }\n  get four() {\n${body}  }\n}\n`],
    [
      'c.ts',
      `const five = async () => {\n${body}${body}};\nfive(\n  1,\n);\nrows({\n${body}${body}});\nif (a) {\n${body}${body}}\n`,
    ],
  ]);
  assert.equal(longFunctions(sources, 5), ['a.ts one', 'b.ts #three', 'c.ts five']);
});

test('file names are in kebab-case, say what is inside, and an index.ts is one that package.json exports', () => {
  const bad = /^(utils?|helpers?|common|types|misc|shared|index)\./;
  const barrels = Object.values(manifest.exports).map(sourceOf);
  const found = where(everything, (path) => {
    const name = basename(path);
    return !barrels.includes(path) && (bad.test(name) || !/^[a-z0-9]+([-.][a-z0-9]+)*\.ts$/.test(name));
  });
  assert.equal(found, []);
});

// Words that are no object of a verb: checks made of checks, and a choice.
const ENDS_IN_OF = new Set(['checkOneOf', 'checkListOf', 'checkObjectOf', 'oneOf', 'anyOf']);

test('the name of a function is a verb, not a noun with Of', () => {
  const functions =
    /\bfunction\*? ([a-z]\w*Of)\b|\bconst ([a-z]\w*Of)\b[^=\n]* = (?:async )?(?:\(|\w+ =>)|^ +(?:readonly )?([a-z]\w*Of)(?:\(|: (?:async )?\(|: \w+ =>)/gm;
  const found = [...product].flatMap(([path, source]) =>
    [...source.matchAll(functions)].flatMap(([, ...names]) => {
      const name = names.find((one) => one !== undefined)!;
      return ENDS_IN_OF.has(name) ? [] : [`${path}: ${name}`];
    }),
  );
  assert.equal(found, []);
});

test('the scan reads every form of import, and tells types from values', () => {
  const source = `// import 'comment';
import one from 'one';
import { type Two, two } from './two.ts';
import type { Three } from './three.ts';
import * as four from "four";
import {
  five,
  six as seven,
} from '../five.ts';
import './six.ts';
import seven from './seven.json' with { type: 'json' };
export * from './eight.ts';
export type { Nine } from './nine.ts';
export const text = 'import { x } from "nothing"';
const ten = await import('./ten.ts');
`;
  const found = importsOf(source).map(({ from, typeOnly }) => (typeOnly ? `type ${from}` : from));
  assert.equal(found, [
    ...['one', './two.ts', 'type ./three.ts', 'four', '../five.ts', './six.ts', './seven.json', './eight.ts'],
    ...['type ./nine.ts', './ten.ts'],
  ]);
});

test('an import that points the wrong way is found and named', () => {
  const sources: Sources = new Map([
    ['lib/errors.ts', "import { turn } from './engine/turn.ts';"],
    [
      'lib/engine/turn.ts',
      "import { app } from '../../server/app.ts';\nimport type { App } from '../../server/app.ts';",
    ],
    [
      'lib/ussd/reply.ts',
      "import Koa from 'koa';\nimport Router from '@koa/router';\nimport { dialect } from './dialect.ts';",
    ],
    ['lib/gateway/route.ts', "import { turn } from '../engine/turn.ts';"],
    ['odd/odd.ts', ''],
    ['machines/menu.ts', "import { setup } from 'xstate';\nimport { now } from 'node:os';\nimport '../lib/errors.ts';"],
    ['server/app.ts', "import Koa from 'koa';\nimport { turn } from '../lib/engine/turn.ts';"],
  ]);
  assert.equal(forbiddenImports(sources), [
    'lib/errors.ts → lib/engine/turn.ts: base may not use engine',
    'lib/engine/turn.ts → server/app.ts: engine may not use server',
    'lib/ussd/reply.ts → koa: not a package for ussd',
    'lib/ussd/reply.ts → @koa/router: not a package for ussd',
    'lib/ussd/reply.ts → lib/ussd/dialect.ts: no such file',
    'lib/gateway/route.ts → lib/engine/turn.ts: gateway may not use engine',
    'odd/odd.ts: belongs to no area of test/support/layers.ts',
    'machines/menu.ts → node:os: not a package for machines',
    'machines/menu.ts → lib/errors.ts: machines may not use base',
  ]);
});

test('a circle of imports is found, also when a type closes it', () => {
  const circle = new Map([
    ['lib/a.ts', "import { b } from './b.ts';"],
    ['lib/b.ts', "import { c } from './c.ts';"],
    ['lib/c.ts', "export { a } from './a.ts';"],
  ]);
  assert.equal(cycles(circle), ['lib/a.ts → lib/b.ts → lib/c.ts → lib/a.ts']);
  const closedByType = new Map([...circle, ['lib/c.ts', "import type { A } from './a.ts';"]]);
  assert.equal(cycles(closedByType), ['lib/a.ts → lib/b.ts → lib/c.ts → lib/a.ts']);
  assert.equal(cycles(new Map([...circle, ['lib/c.ts', 'export const c = 1;']])), []);
});

test('every promise has a proof in npm test, but those that say what Node alone lacks', () => {
  const files = listTests(join(ROOT, 'test'), (name, reason) => assert.unreachable(`${name} ${reason}`));
  const usual = new Set(usualFiles(files).map(({ name }) => name));
  for (const { promise, proofs, needs } of Object.values(PROMISES).flat()) {
    for (const proof of proofs) assert.ok(existsSync(join(ROOT, 'test', `${proof}.test.ts`)), `${promise}: ${proof}`);
    const isUsual = proofs.some((proof) => usual.has(`${proof}.test.ts`));
    assert.is(isUsual, needs === undefined, promise);
  }
});

/** Programs that people run, which tell how long they took; the runner itself; what only files that run alone use. */
const TOOLS =
  /^test\/((bench|load|soak|mutation|promises)\/|(.*\/)?run\.ts$|chance\.ts$|support\/(build|command-line|file|leftovers|timed|clock-readings)\.ts$|chaos\/gateway\.ts$|fuzz\/packets\.ts$|layers\.test\.ts$|server\/faults\/play\.ts$)/;

test('no test judges by the clock of the machine or by chance, but for those that run alone', () => {
  const tests = new Map([...everything].filter(([path]) => path.startsWith('test/') && !TOOLS.test(path)));
  assert.equal(clockReadings(tests), []);
  const bad = new Map([['a.test.ts', 'assert.ok(Date.now() - start < 5);\nconst { ms } = await timed(work);']]);
  assert.is(clockReadings(bad).length, 2);
});

test.run();

function read(folders: readonly string[]): Map<string, string> {
  const present = folders.filter((folder) => existsSync(join(ROOT, folder)));
  const paths = present.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  const own = paths.filter((path) => path.endsWith('.ts') && !path.startsWith('test/fixtures/')).sort();
  return new Map(own.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

function where(sources: Sources, isBad: (path: string, source: string) => boolean): string[] {
  return [...sources].filter(([path, source]) => isBad(path, source)).map(([path]) => path);
}
