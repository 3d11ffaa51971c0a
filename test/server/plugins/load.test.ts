// Plugins as they are loaded: what is wrong with them ends the start, with everything told at once.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../lib/clock.ts';
import type { TwinlineError } from '../../../lib/errors.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import { ownRoutes } from '../../../server/boot/route-groups.ts';
import { readConfig } from '../../../server/config/config.ts';
import { createLog } from '../../../server/health/log.ts';
import { openPlugins } from '../../../server/plugins/open.ts';
import { withModules } from './users.ts';

const test = suite('loading plugins');

/** The lines with which a start fails. */
async function problemsOf(plugins: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const given = { DATA_DIR: ':memory:', PLUGINS: plugins.join(','), ...env };
  const { config } = readConfig(given, { makeKeys: true });
  const ground = {
    documents: memoryDocuments(),
    services: {},
    ownRoutes: ownRoutes(config!),
    clock: systemClock,
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
const declared = (more: string) => `routes: [{ method: 'GET', path: '/x', handle() {}, ${more} }]`;
const tool = (name: string, schema = '{}') =>
  `tools: [{ name: '${name}', description: 'x', schema: ${schema}, handler: () => null }]`;
const ok = '(koa) => { koa.body = {}; }';

const SHAPES: readonly (readonly [string, string, RegExp])[] = [
  ['no default export', 'export const x = 1;', /has no default export that is a plugin/],
  ['a module that throws', "throw new Error('at its start');", /cannot be loaded: at its start/],
  ['a module that throws no error', "throw 'words';", /cannot be loaded: words/],
  ['a name that is none', plugin('A b'), /wrong "name": it must be lower-case/],
  ['no version', "export default { name: 'a' };", /wrong "version"/],
  ['a field that plugins have not', plugin('a', 'authExclude: []'), /has "authExclude".*authExcluded/],
  ['an exclusion without a slash', plugin('a', "authExcluded: [{ path: 'x' }]"), /wrong "authExcluded"/],
  ['an exclusion with a field too many', plugin('a', "authExcluded: [{ path: '/x', methods: [] }]"), /"authExcluded"/],
  ['routes that are no function', plugin('a', 'routes: {}'), /wrong "routes": it must be a function/],
  ['a declared route without a handler', plugin('a', "routes: [{ method: 'GET', path: '/x' }]"), /wrong "routes"/],
  ['a field that routes have not', plugin('a', declared("acces: 'public'")), /wrong "routes"/],
  ['an access that nobody has', plugin('a', declared("access: 'everybody'")), /wrong "routes"/],
  ['an access with an empty secret', plugin('a', declared("access: { bearer: '', name: 'X' }")), /wrong "routes"/],
  ['a body that is no JSON', plugin('a', declared("body: { types: { 'text/plain': {} } }")), /wrong "routes"/],
  ['a query without schemas', plugin('a', declared('query: { a: {} }')), /wrong "routes"/],
  [
    'a declared schema that is none',
    plugin('a', declared("query: { a: { description: 'x', schema: { type: 'text' } } }")),
    /the route GET \/x, whose schema is none/,
  ],
  [
    'exclusions beside declared routes',
    plugin('a', `authExcluded: [{ path: '/x' }], ${declared('')}`),
    /"authExcluded" beside a list of routes. Say access: "public"/,
  ],
  [
    'words beside declared routes',
    plugin('a', `documentation: { routes: [] }, ${declared('')}`),
    /"documentation.routes" beside a list/,
  ],
  ['a tool without a handler', plugin('a', "tools: [{ name: 'x', description: '', schema: {} }]"), /wrong "tools"/],
  ['a schema that is none', plugin('a', tool('x', "{ type: 'text' }")), /tool "x", whose schema is none/],
  ['a foreign kind', plugin('a', "kinds: [{ name: 'agent-run', indexes: {} }]"), /Begin its name with "plugin-a-"/],
  ['a plugin that is not there', plugin('a', "dependsOn: ['b']"), /needs the plugin "b". Add it/],
  ['routes that throw', plugin('a', route("throw new Error('no base')")), /cannot add its routes: no base/],
  ['an address of the agent', plugin('a', route(`router.get('/sessions/:other/run', ${ok})`)), /of Twinline/],
  [
    'one that overlaps it',
    plugin('a', route(`router.post('/messages/mine', ${ok})`)),
    /POST \/messages\/:sessionId of/,
  ],
  ...['/v1', '/1.0', '/api', '/docs', '/pages', '/socket.io'].map(
    (owned) =>
      [
        `an address below ${owned}`,
        plugin('a', route(`router.get('${owned}/x/y/z', ${ok})`)),
        new RegExp(`below ${owned} is answered before`),
      ] as const,
  ),
  ['the front page', plugin('a', route(`router.get('/health', ${ok})`)), /GET \/health of Twinline/],
  ['a path that takes all', plugin('a', route(`router.get('/:any', ${ok})`)), /first segment is a parameter/],
  ['a wildcard', plugin('a', route(`router.get('/x/*rest', ${ok})`)), /not of plain segments/],
  ['all methods', plugin('a', route(`router.all('/x', ${ok})`)), /whose method is not one of GET/],
  ['one route twice', plugin('a', route(`router.get('/x', ${ok}); router.get('/x', ${ok})`)), /GET \/x twice/],
  [
    'an exclusion of no route',
    plugin('a', `authExcluded: [{ path: '/x/' }], ${route(`router.get('/x', ${ok})`)}`),
    /none of its routes/,
  ],
  [
    'an exclusion of another method',
    plugin('a', `authExcluded: [{ path: '/x', method: 'POST' }], ${route(`router.get('/x', ${ok})`)}`),
    /excludes POST \/x/,
  ],
  [
    'words about no route',
    plugin(
      'a',
      "documentation: { routes: [{ method: 'GET', path: '/y', id: 'y', summary: '', answers: {} }] }, " +
        route(`router.get('/x', ${ok})`),
    ),
    /documents GET \/y, which it does not have/,
  ],
];

for (const [what, text, words] of SHAPES)
  test(`a start is refused for ${what}`, () =>
    withModules({ 'a.js': text }, async (path) => {
      const problems = await problemsOf([path('a.js')]);
      assert.match(problems.join('\n'), words);
    }));

const CLASHES: readonly (readonly [string, string, string, RegExp])[] = [
  ['names', plugin('a'), plugin('a'), /two plugins have the name "a"/],
  ['tools', plugin('a', tool('x')), plugin('b', tool('x')), /tool "x" is offered by "a" and by "b"/],
  [
    'routes',
    plugin('a', route(`router.get('/x/:id', ${ok})`)),
    plugin('b', route(`router.get('/x/y', ${ok})`)),
    /GET \/x\/y, which is GET \/x\/:id of "a"/,
  ],
  [
    'kinds',
    plugin('a', "kinds: [{ name: 'plugin-a-b-c', indexes: {} }]"),
    plugin('a-b', "kinds: [{ name: 'plugin-a-b-c', indexes: {} }]"),
    /kind "plugin-a-b-c" is kept by "a" and by "a-b"/,
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
    for (const words of [/"credit" is not there.*credits/, /wrong "gate"/, /b\.js" cannot be loaded/])
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
  assert.match(problems[0]!, /"GET \/user-preference" is no route here.*GET \/user-preferences/);
  assert.match(problems[1]!, /"GET \/v1\/domains" is a route with keys of its own/);
  assert.match(problems[2]!, /"POST \/sessions\/" is no route here/);
});

test('plugins that belong together are loaded together, whichever comes first', () =>
  withModules({ 'a.js': plugin('a', "dependsOn: ['b']"), 'b.js': plugin('b') }, async (path) => {
    assert.equal(await problemsOf([path('a.js'), path('b.js')]), []);
  }));

test.run();
