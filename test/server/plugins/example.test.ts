// The example of a plugin, served: its routes behind tokens, its tool in a chat, its events, and what it is told of a request.

import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import { MISSING } from '../../../server/user/authenticate.ts';
import { newSession, newUser, say, toolFlow, withFlow, withPlugins } from './users.ts';

const test = suite('the example plugin');
const NOTES = fileURLToPath(new URL('../../fixtures/plugins/notes.js', import.meta.url));

test('a tool of a plugin writes for its user, and nobody else reads it', () =>
  withFlow(toolFlow('add_note', { text: '=said' }), (menus) =>
    withPlugins([NOTES], { env: { MENUS_DIR: menus } }, async (server) => {
      const { ask } = server;
      const [ann, bob] = [await newUser(), await newUser()];
      const session = await newSession(server, ann);
      assert.match(await say(server, ann, session, 'buy milk'), 'Done.');
      const { notes } = (await ask('/notes', { headers: ann.headers })).json() as {
        notes: { id: string; text: string }[];
      };
      assert.equal(
        notes.map(({ text }) => text),
        ['buy milk'],
      );
      const own = `/notes/${encodeURIComponent(notes[0]!.id)}`;
      assert.is((await ask(own, { headers: ann.headers })).status, 200);
      assert.is((await ask(own, { headers: bob.headers })).status, 404);
      assert.equal((await ask('/notes', { headers: bob.headers })).json(), { notes: [] });
      assert.ok(server.logged.some(({ plugin, status }) => plugin === 'notes' && status === 'finished'));
    }),
  ));

test('arguments that break the schema of a tool do not reach it', () =>
  withFlow(toolFlow('add_note', { text: '=said', more: 'x' }), (menus) =>
    withPlugins([NOTES], { env: { MENUS_DIR: menus } }, async (server) => {
      const ann = await newUser();
      const session = await newSession(server, ann);
      assert.match(await say(server, ann, session, 'buy milk'), 'Failed.');
      assert.equal((await server.ask('/notes', { headers: ann.headers })).json(), { notes: [] });
    }),
  ));

test('a public route answers everybody, and does not look at tokens', () =>
  withPlugins([NOTES], { env: { NOTES_GREETING: 'Mwaiseni' } }, async ({ ask }) => {
    const ann = await newUser();
    for (const headers of [{}, ann.headers, { authorization: 'Bearer x', 'x-auth-type': 'ucan' }]) {
      const answer = await ask('/notes/greeting', { headers: { ...headers, 'x-matrix-access-token': 'syt' } });
      assert.equal([answer.status, answer.json()], [200, { greeting: 'Mwaiseni', did: null, hasToken: false }]);
    }
    const refused = await ask('/notes');
    assert.equal([refused.status, refused.json()], [401, { statusCode: 401, message: MISSING }]);
  }));

test('a route is told of the request, and refuses in the form of the agent service', () =>
  withPlugins([NOTES], {}, async (server) => {
    const [ann, bob] = [await newUser(), await newUser()];
    const session = await newSession(server, ann);
    const path = `/notes/tell/${session}`;
    const headers = {
      'x-timezone': 'Africa/Lusaka',
      'x-matrix-access-token': 'syt_secret',
      'x-matrix-homeserver': 'https://matrix.example.org',
      'x-request-id': 'r-1',
    };
    const tell = (who: typeof ann, more: object = headers) =>
      server.ask(path, { method: 'POST', headers: { ...who.headers, ...more }, body: '{"status":"stale"}' });
    assert.equal((await tell(ann)).json(), {
      told: true,
      requestId: 'r-1',
      timezone: 'Africa/Lusaka',
      hasToken: true,
      matrixHomeserver: 'https://matrix.example.org',
    });
    for (const homeserver of [
      'http://127.0.0.1:8008',
      'https://10.0.0.1',
      'localhost',
      'http://[::1]/',
      'javascript:1',
    ]) {
      const answer = await tell(ann, { 'x-matrix-homeserver': homeserver, 'x-timezone': '../../x' });
      const { matrixHomeserver, timezone } = answer.json() as Record<string, unknown>;
      assert.equal([matrixHomeserver, timezone], [undefined, undefined], homeserver);
    }
    assert.equal((await tell(bob)).json(), { statusCode: 404, message: 'Session not found', error: 'Not Found' });
    const bad = await server.ask(path, { method: 'POST', headers: ann.headers, body: '{' });
    assert.is(bad.status, 400);
    assert.not.match(JSON.stringify(server.logged), 'syt_secret');
  }));

test('its routes are listed and documented, with what they need', () =>
  withPlugins([NOTES], {}, async ({ ask, routes, publicRoutes }) => {
    const { paths } = (await ask('/openapi.json')).json() as OpenApiDocument;
    const own = routes.filter(({ path }) => path.startsWith('/notes'));
    assert.is(own.length, 4);
    for (const { method, path } of own) assert.ok(paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()], path);
    const needs = (path: string) => (paths[path] as { get: { security: object[] } }).get.security.length;
    assert.equal([needs('/notes'), needs('/notes/greeting')], [2, 0]);
    assert.equal(publicRoutes, [{ method: 'GET', path: '/notes/greeting' }]);
  }));

test.run();
