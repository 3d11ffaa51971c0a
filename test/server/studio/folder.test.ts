// Where the studio writes: into a folder of the author's own, never into the installed package.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { refuseInstalled } from '../../../server/menus/home.ts';
import { DIAL, json, type Served, withServer } from '../support/serve.ts';

const test = suite('the folder of the menus');
const SHIPPED = resolve('menus');
const before = process.cwd();
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinline-folder-')));
test.before.each(() => process.chdir(folder));
test.after.each(() => process.chdir(before));
test.after(() => rmSync(folder, { recursive: true }));

const post = async ({ ask, url }: Served, path: string, body: object) =>
  (await ask(`/studio${path}`, json(body, { origin: url }))).json() as Record<string, unknown>;
const read = async ({ ask }: Served, flow: string) =>
  (await ask(`/studio/flows/${flow}`)).json() as { flow: { text: string; hash: string }; file: string };
const looks = (place: string) =>
  readdirSync(place).map((name) => [
    name,
    readFileSync(join(place, name), 'utf8'),
    statSync(join(place, name)).mtimeMs,
  ]);

test('in a folder without menus the first write makes ./menus with all that is served, and nothing changes where npm put the menus', async () => {
  const shipped = looks(SHIPPED);
  await withServer({}, async (server) => {
    const main = await read(server, 'main');
    assert.is(main.file, join('menus', 'main.flow.json'));
    assert.equal(readdirSync(folder), [], 'reading makes nothing');
    const text = main.flow.text.replace('"version": 1', '"version": 2');
    assert.is.not(text, main.flow.text);
    assert.is((await post(server, '/save', { flow: 'main', text, base: 'other' })).file, 'flow', 'a conflict');
    const saved = await post(server, '/save', { flow: 'main', text, base: main.flow.hash });
    assert.is(saved.file, main.file, JSON.stringify(saved));
    assert.equal(readdirSync(join(folder, 'menus')), readdirSync(SHIPPED), 'flows, tests and schemas');
    assert.is(readFileSync(main.file, 'utf8'), text);
    const begun = await post(server, '/new', { flow: 'farmshop', starter: 'menu' });
    assert.is(begun.file, join('menus', 'farmshop.flow.json'));
    const { flows } = (await server.ask('/studio/flows')).json() as { flows: { flow: string; version: number }[] };
    assert.equal(
      flows.filter(({ flow }) => ['farmshop', 'main'].includes(flow)).map(({ flow, version }) => [flow, version]),
      [
        ['main', 2],
        ['farmshop', 1],
      ],
    );
  });
  assert.equal(looks(SHIPPED), shipped);
  await withServer({}, async (server) => {
    assert.match((await read(server, 'main')).flow.text, '"version": 2');
    assert.match((await read(server, 'farmshop')).flow.text, '"farmshop"');
  });
  rmSync(join(folder, 'menus'), { recursive: true });
});

test('an empty folder starts in development, and a dial reaches the first flow once it is written', async () => {
  mkdirSync(join(folder, 'menus'));
  await withServer({}, async (server) => {
    const listed = (await server.ask('/studio/flows')).json() as { dialled: string; flows: readonly object[] };
    assert.equal([listed.dialled, listed.flows], ['main', []]);
    assert.match(await server.ussd(DIAL), /^END /);
    await post(server, '/new', { flow: 'main', starter: 'menu' });
    assert.match(await server.ussd({ ...DIAL, sessionId: 's2' }), /^CON Welcome\n1\. About us/);
  });
  rmSync(join(folder, 'menus'), { recursive: true });
});
test('an empty folder without a studio says how to write the first flow', async () => {
  mkdirSync(join(folder, 'menus'));
  const error = await withServer({ env: { STUDIO: 'false' } }, async () => undefined).catch((why: Error) => why);
  assert.match(error?.message ?? '', /Flows there: none\. Write the first ones with: npx twinline new ussd$/);
  rmSync(join(folder, 'menus'), { recursive: true });
});

test('a folder inside the installed package is refused, a clone and folders beside it are not', () => {
  const root = join(folder, 'node_modules', 'twinline');
  for (const name of ['menus', 'menus-of-mine']) mkdirSync(join(root, name), { recursive: true });
  assert.throws(() => refuseInstalled(join(root, 'menus'), root), /inside the installed package.*MENUS_DIR/);
  refuseInstalled(folder, root);
  refuseInstalled(join(folder, 'gone'), root);
  const clone = join(folder, 'clone');
  mkdirSync(join(clone, 'menus'), { recursive: true });
  refuseInstalled(join(clone, 'menus'), clone);
});

test.run();
