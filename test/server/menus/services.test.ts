// Services of one's own: loaded from files and packages, checked before anybody dials, and watched when they fail.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadServices, serviceNames } from '../../../server/menus/services.ts';
import { withFolder } from '../../support/process.ts';
import { DIAL, withServer } from '../support/serve.ts';

const test = suite('services');

const BUILT_IN = { 'account.exists': async () => true };

const inFolder = (files: Readonly<Record<string, string>>, work: (folder: string) => Promise<void>) =>
  withFolder(async (folder) => {
    for (const [name, content] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
      mkdirSync(join(folder, name, '..'), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    await work(folder);
  });

const problemsOf = (modules: readonly string[], folder: string) =>
  loadServices(modules, { builtIn: BUILT_IN, folder }).then(
    () => [],
    (error: Error & { code?: string }) => {
      assert.is(error.code, 'ERR_CONFIG');
      return error.message.split('\n');
    },
  );

test('modules are found as relative and absolute files, and as packages', () =>
  inFolder(
    {
      'a.js': 'export default { "a.one": async () => 1 };',
      'deep/b.js': 'export default { "b.two": async () => 2, "b.more.deep": async () => 3 };',
      'node_modules/@my/pkg/package.json': '{"type":"module","main":"x.js"}',
      'node_modules/@my/pkg/x.js': 'export default { "c.three": async () => 3 };',
    },
    async (folder) => {
      const modules = ['./a.js', join(folder, 'deep/b.js'), '@my/pkg'];
      const services = await loadServices(modules, { builtIn: BUILT_IN, folder });
      assert.equal(Object.keys(services).sort(), ['a.one', 'account.exists', 'b.more.deep', 'b.two', 'c.three']);
      assert.is(await services['c.three']!({}, {} as never), 3);
      assert.ok('a.one' in (await loadServices(['a.js'], { builtIn: {}, folder })), 'without a dot, if it is there');
    },
  ));

test('everything that is wrong is told at once, by module', () =>
  inFolder(
    {
      'none.js': 'export const x = 1;',
      'text.js': 'export default "x";',
      'names.js': 'export default { "bad name": async () => 1, "ok.x": 7 };',
      'taken.js': 'export default { "account.exists": async () => false };',
      'throws.js': 'throw new Error("at its start");',
      'syntax.js': 'export default {',
    },
    async (folder) => {
      const names = ['none', 'text', 'names', 'taken', 'throws', 'syntax', 'gone'];
      const problems = await problemsOf(
        names.map((name) => `./${name}.js`),
        folder,
      );
      assert.match(problems.join('\n'), /^SERVICES: "\.\/none\.js" has no default export/);
      for (const words of [
        '"./text.js" has no default export',
        '"./names.js" offers "bad name", which is no service name',
        '"./names.js" offers "ok.x", which is no function',
        '"./taken.js" offers "account.exists", which comes from twinline already',
        '"./throws.js" cannot be loaded: at its start',
        '"./syntax.js" cannot be loaded',
        '"./gone.js" is not there',
      ])
        assert.ok(
          problems.some((line) => line.includes(words)),
          `${words}\n${problems.join('\n')}`,
        );
    },
  ));

test('a flow may call them; when one fails the flow goes on, and the log says which and, in development, why', () =>
  inFolder(
    {
      'own.js': `export default {
        "own.greet": async ({ name }, { session, idempotencyKey }) => ({ text: "Hello " + name + " " + session.phoneNumber + " " + idempotencyKey.length }),
        "own.fail": async () => { throw new Error("the bank is closed") } };`,
      'main.flow.json': JSON.stringify({
        flow: 'main',
        version: 1,
        start: 'first',
        vars: { said: { type: 'object' } },
        screens: {
          first: {
            type: 'menu',
            text: 'Which?',
            options: [
              { id: 'greet', text: 'Greet', to: 'greet' },
              { id: 'fail', text: 'Fail', to: 'fail' },
            ],
          },
          greet: {
            type: 'call',
            service: 'own.greet',
            with: { name: 'Ada' },
            save: 'said',
            done: 'greeted',
            fail: 'sorry',
          },
          greeted: { type: 'end', text: '{{said.text}}' },
          fail: { type: 'call', service: 'own.fail', done: 'greeted', fail: 'sorry' },
          sorry: { type: 'end', text: 'Sorry.' },
        },
      }),
    },
    (folder) =>
      withServer({ env: { MENUS_DIR: folder, SERVICES: join(folder, 'own.js') } }, async (server) => {
        assert.match(await server.ussd(DIAL), /^CON Which\?/);
        assert.is(await server.ussd({ ...DIAL, text: '1' }), `END Hello Ada ${DIAL.phoneNumber} 22`);
        await server.ussd({ ...DIAL, sessionId: 's2' });
        assert.is(await server.ussd({ ...DIAL, sessionId: 's2', text: '2' }), 'END Sorry.');
        const told = server.logged.find(({ msg }) => msg === 'a service failed');
        assert.equal([told?.service, told?.message], ['own.fail', 'the bank is closed']);
        assert.is((told?.err as { name: string } | undefined)?.name, 'Error', 'and where it comes from');
      }),
  ));

test('lint knows the services of the environment', async () => {
  const names = await serviceNames({});
  for (const name of ['account.create', 'account.verifyPin', 'http.get', 'http.post']) assert.ok(names.has(name), name);
});

test.run();
