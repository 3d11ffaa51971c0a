// Preferences of users: written by a tool that merges, read by their user only.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import type { PluginContext } from '../../../server/plugins/plugin.ts';
import {
  KIND,
  mergePreferences,
  readPreferences,
  userPreferencesPlugin,
} from '../../../server/plugins/shipped/user-preferences.ts';
import { newSession, newUser, say, toolFlow, withFlow, withPlugins } from './users.ts';

const test = suite('user preferences');

test('what a chat writes down, its user reads, and nobody else', () =>
  withFlow(toolFlow('set_user_preferences', { userName: '=said' }), (menus) =>
    withPlugins(['user-preferences'], { env: { MENUS_DIR: menus } }, async (server) => {
      const [ann, bob] = [await newUser(), await newUser()];
      const read = async (who: typeof ann) => {
        const answer = await server.ask('/user-preferences', { headers: who.headers });
        assert.is(answer.status, 200);
        assert.match(answer.headers['content-type']!, 'application/json');
        return answer.json() as { userName: string } | null;
      };
      assert.is(await read(ann), null);
      const session = await newSession(server, ann);
      assert.match(await say(server, ann, session, 'Tariro'), 'Done.');
      assert.is((await read(ann))!.userName, 'Tariro');
      assert.match(await say(server, ann, session, 'x'.repeat(81)), 'Failed.');
      assert.is((await read(ann))!.userName, 'Tariro');
      assert.is(await read(bob), null);
      assert.is((await server.ask('/user-preferences')).status, 401);
    }),
  ));

async function place() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare([KIND]);
  return { clock, documents };
}

test('fields that are not named stay, null removes one, and writers at once do not undo each other', async () => {
  const ground = await place();
  const merge = (changes: object) => mergePreferences(ground, { did: 'did:key:ann', changes: changes as never });
  await Promise.all([merge({ userName: 'Ann' }), merge({ language: 'sw' }), merge({ tone: 'friendly' })]);
  await merge({ language: null, formality: 'formal' });
  const { updatedAt, ...rest } = (await readPreferences(ground, 'did:key:ann'))!;
  assert.equal(rest, { userName: 'Ann', tone: 'friendly', formality: 'formal' });
  assert.is(updatedAt, new Date(ground.clock.now()).toISOString());
});

test('a model is told what is known, and nothing when nothing is', async () => {
  const ground = await place();
  const ctx = { ...ground, requireDid: () => 'did:key:ann' } as unknown as PluginContext;
  const plugin = userPreferencesPlugin();
  assert.is(await plugin.instructions!(ctx), undefined);
  await mergePreferences(ground, { did: 'did:key:ann', changes: { userName: 'Ann "the cook"', language: 'sw' } });
  assert.is(await plugin.instructions!(ctx), 'The user is called "Ann \\"the cook\\"".\nAnswer in the language "sw".');
});

test.run();
