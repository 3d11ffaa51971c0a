// The example of a plugin, served: its tool in a chat, its events, and what it is told of a request.

import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newSession, newUser, say, toolFlow, withFlow, withPlugins } from './users.ts';

const test = suite('the example plugin');
const NOTES = fileURLToPath(new URL('../../fixtures/plugins/notes.js', import.meta.url));

test('its tool writes for its user, and nobody else reads it; a route is told of the request', () =>
  withFlow(toolFlow('add_note', { text: '=said' }), (menus) =>
    withPlugins([NOTES], { env: { MENUS_DIR: menus } }, async (server) => {
      const { ask } = server;
      const [ann, bob] = [await newUser(), await newUser()];
      const session = await newSession(server, ann);
      assert.match(await say(server, ann, session, 'buy milk'), 'Done.');
      type Notes = { notes: { id: string; text: string }[] };
      const { notes } = (await ask('/notes', { headers: ann.headers })).json() as Notes;
      assert.equal(
        notes.map(({ text }) => text),
        ['buy milk'],
      );
      const own = `/notes/${encodeURIComponent(notes[0]!.id)}`;
      assert.is((await ask(own, { headers: ann.headers })).status, 200);
      assert.is((await ask(own, { headers: bob.headers })).status, 404);
      assert.equal((await ask('/notes', { headers: bob.headers })).json(), { notes: [] });
      assert.ok(server.logged.some(({ plugin, status }) => plugin === 'notes' && status === 'finished'));
      const path = `/notes/tell/${session}`;
      const matrixHomeserver = 'https://matrix.example.org';
      const headers = {
        'x-timezone': 'Africa/Lusaka',
        'x-matrix-access-token': 'syt_secret',
        'x-matrix-homeserver': matrixHomeserver,
        'x-request-id': 'r-1',
      };
      const tell = async (who: typeof ann, more: object = headers) => {
        const told = await ask(path, {
          method: 'POST',
          headers: { ...who.headers, ...more },
          body: '{"status":"stale"}',
        });
        return told.json() as Record<string, unknown>;
      };
      const told = { told: true, requestId: 'r-1', timezone: 'Africa/Lusaka', hasToken: true, matrixHomeserver };
      assert.equal(await tell(ann), told);
      // Which addresses are public is told by a table for all doors.
      const bad = await tell(ann, { 'x-matrix-homeserver': 'http://127.0.0.1:8008', 'x-timezone': '../../x' });
      assert.equal([bad.matrixHomeserver, bad.timezone], [undefined, undefined]);
      assert.equal(await tell(bob), { statusCode: 404, message: 'Session not found', error: 'Not Found' });
      assert.is((await ask(path, { method: 'POST', headers: ann.headers, body: '{' })).status, 400);
      assert.not.match(JSON.stringify(server.logged), 'syt_secret');
    }),
  ));

test.run();
