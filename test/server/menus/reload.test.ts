// Edits of menus while people dial: sound ones are served to new dials, others change nothing, and both are told about.

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../../lib/engine/engine.ts';
import { takeTurn } from '../../../lib/engine/session/turn.ts';
import { memorySnapshots } from '../../../lib/store/memory/index.ts';
import { readMenus } from '../../../server/menus/menus.ts';
import { editThread, watchMenus } from '../../../server/menus/watch.ts';
import type { Log } from '../../../server/telemetry/log.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { DIAL, type Served, withServer } from '../support/serve.ts';

const test = suite('reload');

const IN_ORDER = 'all menus are in order again';

const menu = (text: string, more: object = {}) => ({
  flow: 'main',
  version: 1,
  start: 'first',
  keys: { exit: '*' },
  screens: {
    first: { type: 'menu', text, options: [{ id: 'on', text: 'Go on', to: 'second' }] },
    second: { type: 'menu', text: `${text}, second`, options: [{ id: 'back', text: 'Go back', to: 'first' }] },
  },
  ...more,
});

const SUB = (text: string) => ({
  flow: 'sub',
  version: 1,
  start: 'ask',
  vars: { x: { type: 'string', max: 5 } },
  screens: { ask: { type: 'input', text, save: 'x', to: 'done' }, done: { type: 'end', text: 'Done' } },
});

const CALLER = menu('Top', {
  screens: {
    first: { type: 'menu', text: 'Top', options: [{ id: 'on', text: 'Go on', to: 'call' }] },
    call: { type: 'flow', flow: 'sub', done: 'first' },
  },
});

const testsOf = (flow: string, text: string) => ({
  flow,
  tests: [{ name: 'it dials', steps: [{ in: '', has: text }] }],
});

interface Menus {
  readonly server: Served;
  /** Writes a file as editors do: whole, under another name first. */
  write(name: string, content: object | string): void;
  /** Dials anew; the first line of the screen. */
  dial(): Promise<string>;
  readonly folder: string;
}

function withMenus(files: Readonly<Record<string, object>>, work: (menus: Menus) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const write = (name: string, content: object | string) => {
      writeFileSync(join(folder, `.${name}.tmp`), typeof content === 'string' ? content : JSON.stringify(content));
      renameSync(join(folder, `.${name}.tmp`), join(folder, name));
    };
    for (const [name, content] of Object.entries(files)) write(name, content);
    let dials = 0;
    await withServer({ env: { MENUS_DIR: folder } }, async (server) => {
      const dial = async () => {
        const caller = { sessionId: `dial-${dials}`, phoneNumber: `+26097200${1_000 + dials++}` };
        return (await server.ussd({ ...DIAL, ...caller })).split('\n')[0]!;
      };
      await work({ server, write, dial, folder });
    });
  });
}

const warnings = (server: Served) =>
  server.logged.filter(({ level }) => (level as number) >= 40).map(({ msg }) => msg as string);

test('a sound edit is noticed by itself: new dials get it, running sessions go on as they began', () =>
  withMenus({ 'main.flow.json': menu('Old') }, async ({ server, write, dial }) => {
    assert.is(await server.ussd(DIAL), 'CON Old\n1. Go on\n*. Exit');
    for (const text of ['Newer', 'New']) {
      write('main.flow.json', menu(text));
      await until(`"${text}" is served`, async () => (await dial()) === `CON ${text}`);
    }
    assert.match(await server.ussd({ ...DIAL, text: '1' }), /^CON Old, second/);
    assert.ok(server.logged.some(({ flow, version }) => flow === 'main' && version === 1));
  }));

const BROKEN: Readonly<Record<string, object | string>> = {
  'half a file': '{"flow":"main","version":',
  'a screen that is not there': menu('Broken', { start: 'nowhere' }),
  'another name': { ...menu('Broken'), flow: 'other' },
  'an expression that cannot be': menu('{{name|}}'),
};

test('a broken edit changes nothing, and its problem is told once', () =>
  withMenus({ 'main.flow.json': menu('Old') }, async ({ server, write, dial }) => {
    let served = 'Old';
    for (const [what, content] of Object.entries(BROKEN)) {
      const before = warnings(server).length;
      write('main.flow.json', content);
      await server.refresh();
      assert.is(await dial(), `CON ${served}`, what);
      const told = warnings(server);
      const words = told.slice(before).join('\n');
      assert.ok(words.includes('main.flow.json:'), `${what}: ${words}`);
      await server.refresh();
      assert.equal(warnings(server), told);
      served = `Better than ${what.split(' ').at(-1)}`;
      write('main.flow.json', menu(served));
      await server.refresh();
      assert.is(await dial(), `CON ${served}`);
    }
  }));

test('an edit that its own tests refuse changes nothing', () =>
  withMenus(
    { 'main.flow.json': menu('Old'), 'main.test.json': testsOf('main', 'Old') },
    async ({ server, write, dial }) => {
      write('main.flow.json', menu('New'));
      await server.refresh();
      assert.is(await dial(), 'CON Old');
      assert.match(warnings(server).join('\n'), /test "it dials".*does not have "Old"/);
      assert.match(warnings(server).join('\n'), 'npx twinline test --update');
      assert.not.ok(server.logged.some(({ msg }) => msg === IN_ORDER));
      write('main.test.json', testsOf('main', 'New'));
      await server.refresh();
      assert.is(await dial(), 'CON New');
      assert.ok(
        server.logged.some(({ msg }) => msg === IN_ORDER),
        'and that it is mended is said',
      );
    },
  ));

test('a file of tests that cannot be read refuses the edit of its flow, and says so', () =>
  withMenus({ 'main.flow.json': menu('Old') }, async ({ server, write, dial, folder }) => {
    mkdirSync(join(folder, 'main.test.json'));
    write('main.flow.json', menu('New'));
    await server.refresh();
    assert.is(await dial(), 'CON Old');
    assert.match(warnings(server).join('\n'), /main\.test\.json:1:1 error unreadable: .*\(EISDIR\)/);
  }));

test('an edited flow changes those that call it too', () =>
  withMenus({ 'main.flow.json': CALLER, 'sub.flow.json': SUB('Old question:') }, async ({ server, write }) => {
    const ask = async (sessionId: string) => {
      await server.ussd({ ...DIAL, sessionId });
      return (await server.ussd({ ...DIAL, sessionId, text: '1' })).split('\n')[0];
    };
    assert.is(await ask('a'), 'CON Old question:');
    write('sub.flow.json', SUB('New question:'));
    await server.refresh();
    assert.is(await ask('b'), 'CON New question:');
  }));

test('a called flow that its tests refuse is not served through those that call it either', () =>
  withMenus(
    { 'main.flow.json': CALLER, 'sub.flow.json': SUB('Old question:'), 'sub.test.json': testsOf('sub', 'Old') },
    async ({ server, write, dial }) => {
      write('sub.flow.json', SUB('New question:'));
      write('main.flow.json', {
        ...CALLER,
        screens: {
          ...CALLER.screens,
          first: { type: 'menu', text: 'Top edited', options: [{ id: 'on', text: 'Go on', to: 'call' }] },
        },
      });
      await server.refresh();
      assert.is(await dial(), 'CON Top edited', 'the edit of the caller itself is good');
      await server.ussd(DIAL);
      assert.match(await server.ussd({ ...DIAL, text: '1' }), /^CON Old question:/);
    },
  ));

test('a flow whose file is gone is served until the next start, and that is told', () =>
  withMenus({ 'main.flow.json': menu('Old'), 'sub.flow.json': SUB('Q') }, async ({ server, dial, folder }) => {
    rmSync(join(folder, 'main.flow.json'));
    await server.refresh();
    assert.is(await dial(), 'CON Old');
    assert.match(warnings(server).join('\n'), /flow "main": its file is gone/);
  }));

test('a new flow can be called by an edited one in the same step', () =>
  withMenus({ 'main.flow.json': menu('Old') }, async ({ server, write, dial }) => {
    write('sub.flow.json', SUB('Q'));
    write('main.flow.json', CALLER);
    await server.refresh();
    assert.is(await dial(), 'CON Top');
  }));

test('an edit that changes nothing is not served again', () =>
  withMenus({ 'main.flow.json': menu('Old') }, async ({ server, write }) => {
    write('main.flow.json', JSON.stringify(menu('Old'), null, 2));
    await server.refresh();
    assert.equal(
      server.logged.filter(({ flow }) => flow === 'main'),
      [],
    );
  }));

test('an edit whose check takes too much is refused by name, and callers go on with the old version meanwhile', () =>
  withFolder(async (folder) => {
    const write = (content: object) => writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(content));
    write(menu('Old'));
    const { compiled } = await readMenus({ folder });
    const engine = createEngine({ store: memorySnapshots(), conversations: [...compiled.values()] });
    const dial = async (key: string) => {
      const turn = await takeTurn(engine, { key, decide: () => ({ kind: 'begin', conversation: 'main' }) });
      return turn.kind === 'replied' ? turn.reply.text.split('\n')[0] : turn.kind;
    };
    const told: string[] = [];
    const note = (...words: readonly unknown[]) => void told.push(String(words.at(-1)));
    const log = { info: note, warn: note, error: note } as unknown as Log;
    const thread = editThread({ ms: 600_000, memoryMb: 64 });
    const watched = watchMenus({ menus: { folder }, library: engine.library, log, onServed: () => {}, thread });
    try {
      const many = [...Array(10_000).keys()].map((at) => {
        const options = [at + 1, at * 7].map((to) => ({ id: `to${to}`, text: 'Go on', to: `s${to % 10_000}` }));
        return [`s${at}`, { type: 'menu', text: `Screen ${at}`, options }];
      });
      write(menu('New', { start: 's0', screens: Object.fromEntries(many) }));
      const reloaded = watched.reload();
      assert.is(await dial('during'), 'Old');
      await reloaded;
      assert.is(await dial('after'), 'Old');
      const [refusal] = watched.refused();
      assert.match(
        refusal!,
        /^flow "main": its edit could not be checked and is not served: it takes more than 64 MB\./,
      );
      assert.ok(told.includes(refusal!), told.join('\n'));
      write(menu('Small again'));
      await watched.reload();
      assert.is(await dial('then'), 'Small again');
      assert.equal([watched.refused(), watched.edits.served, watched.edits.refused], [[], 1, 1]);
    } finally {
      await watched.close();
      await thread.close();
    }
  }));

test.run();
