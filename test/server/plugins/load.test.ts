// Plugins as they are loaded: what is wrong with them ends the start, with everything told at once.

import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Clock, SimulatedClock, systemClock } from '../../../lib/clock.ts';
import type { TwinlineError } from '../../../lib/errors.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import { ownRoutes } from '../../../server/boot/route-groups.ts';
import { readConfig } from '../../../server/config/config.ts';
import { openPlugins } from '../../../server/plugins/open.ts';
import { createLog } from '../../../server/telemetry/log.ts';
import { until } from '../../support/until.ts';
import { withModules } from './users.ts';

const test = suite('loading plugins');

/** The lines with which a start fails. */
async function problemsOf(
  plugins: readonly string[],
  env: NodeJS.ProcessEnv = {},
  clock: Clock = systemClock,
): Promise<string[]> {
  const given = { DATA_DIR: ':memory:', PLUGINS: plugins.join(','), ...env };
  const { config } = readConfig(given, { makeKeys: true });
  const ground = {
    documents: memoryDocuments(),
    services: {},
    ownRoutes: ownRoutes(config!),
    clock,
    log: createLog({ logLevel: 'silent' }),
    operatorsOnly: async () => {},
    audit: { append: () => Promise.reject(new Error('nothing is noted here')) },
  };
  const failed = await openPlugins({ config: config!, ...ground }).then(
    () => undefined,
    (error: TwinlineError) => error,
  );
  if (failed) assert.is(failed.code, 'ERR_CONFIG', failed.message);
  return failed ? failed.message.split('\n') : [];
}

const plugin = (name: string, more = '') => `export default { name: '${name}', version: '1', ${more} };`;
const route = (line: string) => `routes: (router) => { ${line} }`;
const _declared = (more: string) => `routes: [{ method: 'GET', path: '/x', handle() {}, ${more} }]`;
const tool = (name: string, schema = '{}') =>
  `tools: [{ name: '${name}', description: 'x', schema: ${schema}, handler: () => null }]`;
const ok = '(koa) => { koa.body = {}; }';

/** What is wrong, the module, and a pattern of the words that say so. */
const SHAPES = JSON.parse(
  readFileSync(new URL('../../fixtures/plugins/refused.json', import.meta.url), 'utf8'),
) as readonly (readonly [what: string, module: string, words: string])[];

for (const [what, text, words] of SHAPES)
  test(`a start is refused for ${what}`, () =>
    withModules({ 'a.js': text }, async (path) => {
      const problems = await problemsOf([path('a.js')]);
      assert.match(problems.join('\n'), new RegExp(words));
    }));

const CLASHES: readonly (readonly [string, string, string, RegExp])[] = [
  ['names', plugin('a'), plugin('a'), /two plugins have the name "a"/],
  ['tools', plugin('a', tool('x')), plugin('b', tool('x')), /tool "x" is offered by both "a" and "b"/],
  [
    'routes',
    plugin('a', route(`router.get('/x/:id', ${ok})`)),
    plugin('b', route(`router.get('/x/y', ${ok})`)),
    /GET \/x\/y, which conflicts with GET \/x\/:id of "a"/,
  ],
  [
    'kinds',
    plugin('a', "kinds: [{ name: 'plugin-a-b-c', indexes: {} }]"),
    plugin('a-b', "kinds: [{ name: 'plugin-a-b-c', indexes: {} }]"),
    /kind "plugin-a-b-c" is declared by both "a" and "a-b"/,
  ],
];

for (const [what, first, second, words] of CLASHES)
  test(`two plugins cannot share ${what}`, () =>
    withModules({ 'a.js': first, 'b.js': second }, async (path) => {
      assert.match((await problemsOf([path('a.js'), path('b.js')])).join('\n'), words);
    }));

test('every problem is told at once, also of shipped plugins and of names that may have been meant', () =>
  withModules({ 'a.js': plugin('a', 'gate: 1'), 'b.js': 'throw 1' }, async (path) => {
    const problems = await problemsOf(['credit', path('a.js'), path('b.js'), 'team-chat', 'claims']);
    for (const words of [/"credit" is not there.*credits/, /invalid "gate"/, /b\.js" cannot be loaded/])
      assert.ok(
        problems.some((line) => words.test(line)),
        String(words),
      );
    for (const name of ['TEAM_CHAT_SIGNING_SECRET', 'TEAM_CHAT_BOT_TOKEN', 'CLAIMS_SECRET', 'CLAIMS_SERVICE'])
      assert.ok(
        problems.some((line) => line.startsWith(`${name}: is not set`)),
        name,
      );
  }));

test('AUTH_EXCLUDED names routes that are there, and no door with keys of its own', async () => {
  const problems = await problemsOf(['user-preferences'], {
    AUTH_EXCLUDED: 'GET /user-preference,GET /v1/domains,GET /health,GET /user-preferences,POST /sessions/',
  });
  assert.is(problems.length, 3, problems.join('\n'));
  assert.match(problems[0]!, /"GET \/user-preference" is not a route.*GET \/user-preferences/);
  assert.match(problems[1]!, /"GET \/v1\/domains" is a route with its own credentials/);
  assert.match(problems[2]!, /"POST \/sessions\/" is not a route/);
});

const HANGS = 'globalThis.hangs = true; await new Promise(() => {});';
const HANGING: readonly (readonly [what: string, module: string, words: RegExp])[] = [
  ['is never loaded', HANGS, /a\.js" cannot be loaded: it has not ended after 30 s/],
  [
    'never starts',
    plugin('slow', `start: async () => { ${HANGS} }`),
    /"slow" cannot start: it has not ended after 30 s/,
  ],
  ['never has routes', plugin('slow', `routes: async () => { ${HANGS} }`), /"slow" cannot add its routes: .* 30 s/],
];

for (const [what, text, words] of HANGING)
  test(`a plugin that ${what} ends the start after 30 s, by its name`, () =>
    withModules({ 'a.js': text }, async (path) => {
      const clock = new SimulatedClock();
      const problems = problemsOf([path('a.js')], {}, clock);
      const state = globalThis as { hangs?: boolean };
      await until('it hangs', () => state.hangs);
      delete state.hangs;
      await clock.advance(30_000);
      assert.match((await problems).join('\n'), words);
    }));

test('plugins that belong together are loaded together, whichever comes first', () =>
  withModules({ 'a.js': plugin('a', "dependsOn: ['b']"), 'b.js': plugin('b') }, async (path) => {
    assert.equal(await problemsOf([path('a.js'), path('b.js')]), []);
  }));

test.run();
