// Routes that a plugin declares as a list: who gets in where, what is checked before a handler, and what is documented.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ownRoutes } from '../../../server/boot/route-groups.ts';
import { readConfig } from '../../../server/config/config.ts';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import { pluginRouteGroups } from '../../../server/plugins/open.ts';
import { withFolder } from '../../support/process.ts';
import { json, type Served } from '../support/serve.ts';
import { newUser, sharedBy, withModules, withPlugins } from './users.ts';

const test = suite('declared routes of plugins');

const SHOP = `
const show = (koa, ctx) => { koa.body = { did: ctx.did ?? null, input: koa.state.input ?? null }; };
const whole = { type: 'integer', minimum: 1, maximum: 9, default: 3 };
const text = { type: 'string', pattern: '^[a-z]+$' };
export default {
  name: 'shop', version: '1',
  routes: [
    { method: 'GET', path: '/shop/open', access: 'public', handle: show },
    { method: 'GET', path: '/shop/mine', query: { limit: { description: 'Most', schema: whole } }, handle: show },
    { method: 'GET', path: '/shop/find', query: { q: { description: 'Words', schema: text, required: true } }, handle: show },
    { method: 'GET', path: '/shop/admin', access: 'operator', handle: show },
    { method: 'POST', path: '/shop/cron', access: { bearer: 'secret-of-the-shop', name: 'SHOP_SECRET' }, handle: show },
    {
      method: 'POST', path: '/shop/items/:id', id: 'addItem', summary: 'Add an item',
      parameters: { id: { description: 'Its id', schema: text } },
      headers: { 'X-Count': { description: 'How many', schema: whole } },
      body: { types: { 'application/json': {
        $defs: { kind: { enum: ['a', 'b'] } },
        type: 'object', required: ['name'], additionalProperties: false,
        properties: { name: { type: 'string', maxLength: 5 }, kind: { $ref: '#/$defs/kind', default: 'a' } },
      } } },
      handle: show,
    },
  ],
};`;

const WORDS = `export default {
  name: 'words', version: '1', authExcluded: [{ path: '/words/free' }],
  documentation: { routes: [
    { method: 'GET', path: '/words/shut', id: 'shut', summary: 'Shut', access: 'public', answers: {} },
    { method: 'GET', path: '/words/free', id: 'free', summary: 'Free', access: 'user', answers: {} },
  ] },
  routes(router) {
    for (const path of ['/words/shut', '/words/free']) router.get(path, (koa) => { koa.body = {}; });
  },
};`;

const OPERATOR = { authorization: 'Bearer operators-of-the-shop' };
const env = { OPERATOR_TOKEN: 'operators-of-the-shop' };
const shop = (work: (server: Served) => Promise<void>, more: NodeJS.ProcessEnv = {}) =>
  withModules({ 'shop.js': SHOP, 'words.js': WORDS }, (path) =>
    withPlugins([path('shop.js'), path('words.js')], { env: { ...env, ...more } }, work),
  );

const shared = sharedBy(test, (use) => shop(use));

test('each route lets in those whom it names, and needs a user where it names nobody', async () => {
  const { ask, logged } = shared();
  const { headers } = await newUser();
  const cron = { authorization: 'Bearer secret-of-the-shop' };
  const who = { nobody: {}, user: headers, operator: OPERATOR, cron };
  const allowed: readonly (readonly [string, readonly string[]])[] = [
    ['GET /shop/open', ['nobody', 'user', 'operator', 'cron']],
    ['GET /shop/mine', ['user']],
    ['GET /shop/admin', ['operator']],
    ['POST /shop/cron', ['cron']],
  ];
  for (const [line, names] of allowed)
    for (const [name, sent] of Object.entries(who)) {
      const [method, path] = line.split(' ') as [string, string];
      const { status } = await ask(path, { method, headers: sent });
      assert.is(status, names.includes(name) ? 200 : 401, `${line} as ${name}`);
    }
  const refused = await ask('/shop/cron', { method: 'POST' });
  assert.is(refused.headers['www-authenticate'], 'Bearer realm="shop"');
  assert.match(refused.text, 'Send Authorization: Bearer <SHOP_SECRET>');
  assert.not.match(JSON.stringify(logged), 'secret-of-the-shop');
});

test('a handler finds what was checked, with the defaults; everything that is wrong is in one list', async () => {
  const { ask } = shared();
  const { headers } = await newUser();
  const input = async (path: string, how: object) => {
    const { status, text } = await ask(path, how);
    const { input: checked, message } = JSON.parse(text) as { input?: object; message?: unknown };
    return [status, checked ?? message];
  };
  const read = (path: string) => input(path, { headers });
  assert.equal(await read('/shop/mine'), [200, { path: {}, query: { limit: 3 }, headers: {} }]);
  assert.equal(await read('/shop/mine?limit=9&x=1'), [200, { path: {}, query: { limit: 9 }, headers: {} }]);
  for (const limit of ['0', '10', 'x', '', '1&limit=2', '1.5', '-1'])
    assert.equal(await read(`/shop/mine?limit=${limit}`), [400, ['limit must be a whole number from 1 to 9']]);
  assert.equal(await read('/shop/find'), [400, ['q must be a string']]);
  assert.equal((await read('/shop/find?q=a'))[0], 200);
  const add = (body: unknown, id = 'abc', more: object = {}) =>
    input(`/shop/items/${id}`, json(body, { ...headers, ...more }));
  assert.equal(await add({ name: 'pot' }), [
    200,
    { path: { id: 'abc' }, query: {}, headers: { 'X-Count': 3 }, body: { name: 'pot', kind: 'a' } },
  ]);
  assert.equal(await add({ name: 'kettle', kind: 'c', colour: 1 }, 'A', { 'x-count': '0' }), [
    400,
    [
      'id must match pattern "^[a-z]+$"',
      'X-Count must be a whole number from 1 to 9',
      'property colour should not exist',
      'name must be shorter than or equal to 5 characters',
      'kind must be one of the following values: a, b',
    ],
  ]);
  assert.equal(await add([]), [400, ['the body must be an object']]);
  assert.equal(await add({}), [400, ['name must be a string']]);
  assert.is((await input('/shop/items/abc', json({}, {})))[0], 401, 'a body is not read for nobody');
});

test('AUTH_EXCLUDED frees a declared route, but not from the token of operators or from a secret', () =>
  shop(
    async ({ ask }) => {
      assert.equal((await ask('/shop/mine')).status, 200);
      assert.equal((await ask('/shop/admin')).status, 401);
      assert.equal((await ask('/shop/cron', { method: 'POST' })).status, 401);
      const { paths } = (await ask('/openapi.json')).json() as OpenApiDocument;
      assert.equal((paths['/shop/mine']!.get as { security: object[] }).security, []);
      assert.is((paths['/shop/admin']!.get as { security: object[] }).security.length, 1);
    },
    { AUTH_EXCLUDED: 'GET /shop/mine, GET /shop/admin, POST /shop/cron' },
  ));

test('where a function adds the routes, words of the documentation neither open nor close one', async () => {
  const { ask } = shared();
  const { paths } = (await ask('/openapi.json')).json() as OpenApiDocument;
  const needs = (where: string) => (paths[where]!.get as { security: object[] }).security.length;
  assert.equal([(await ask('/words/shut')).status, needs('/words/shut')], [401, 2]);
  assert.equal([(await ask('/words/free')).status, needs('/words/free')], [200, 0]);
});

const BROKEN = "export default { name: 'a', version: '1', start() { throw new Error('no base'); } };";

test('what a plugin throws at its start ends the start', () =>
  withModules({ 'a.js': BROKEN }, async (path) => {
    const error = await withPlugins([path('a.js')], {}, async () => 'started').catch((thrown: Error) => thrown);
    assert.match(String(error), 'PLUGINS: "a" cannot start: no base');
  }));

test('the routes of plugins are told without a server, and nothing is written', () =>
  withFolder((folder) =>
    withModules({ 'words.js': WORDS }, async (path) => {
      const claims = { CLAIMS_SECRET: 'cron', CLAIMS_SERVICE: 'claims.evaluate' };
      const given = { DATA_DIR: join(folder, 'data'), PLUGINS: `claims,credits,${path('words.js')}`, ...claims };
      const { config } = readConfig(given, { makeKeys: true });
      const before = readdirSync(given.DATA_DIR);
      const groups = await pluginRouteGroups(config!, ownRoutes(config!));
      const told = groups.map(({ tag, routes }) => [tag, ...routes.map(({ path: of, access }) => `${of} ${access}`)]);
      assert.equal(
        told.map((group) => group.sort()),
        [
          ['/claims user', '/claims user', '/claims/:id user', '/claims/process public', 'Plugin claims'],
          ['/credits user', '/credits/:did operator', 'Plugin credits'],
          ['/words/free public', '/words/shut user', 'Plugin words'],
        ],
      );
      assert.equal(readdirSync(given.DATA_DIR), before);
    }),
  ));

test.run();
