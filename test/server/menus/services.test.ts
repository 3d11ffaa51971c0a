// Services of one's own: loaded from files and packages, checked before anybody dials, and watched when they fail.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readMenus, readTestProblems } from '../../../server/menus/menus.ts';
import { loadServices, servicesFrom } from '../../../server/menus/services.ts';
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
      const { services } = await loadServices(modules, { builtIn: BUILT_IN, folder });
      assert.equal(Object.keys(services).sort(), ['a.one', 'account.exists', 'b.more.deep', 'b.two', 'c.three']);
      assert.is(await services['c.three']!({}, {} as never), 3);
      assert.ok(
        'a.one' in (await loadServices(['a.js'], { builtIn: {}, folder })).services,
        'without a dot, if it is there',
      );
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
  const { services } = await servicesFrom({});
  for (const name of ['account.create', 'account.verifyPin', 'http.get', 'http.post'])
    assert.ok(services.has(name), name);
});

const BILLS = `export default { 'bills.find': async () => null, 'bills.pay': async () => null };
  export const contracts = {
    'bills.find': {
      doc: 'The bills of a phone.',
      input: { phone: { kind: 'text', about: 'E.164', required: true } },
      answer: { found: { kind: 'boolean' }, bills: { kind: 'list', fields: { due: { kind: 'number' } } } },
    },
    'bills.pay': { input: {} },
  };`;
const BILLS_FLOW = (change: (flow: string) => string) =>
  change(`{ "flow": "main", "version": 1, "start": "find",
    "vars": { "phoneNumber": { "type": "string", "max": 16 }, "got": { "type": "object" } },
    "screens": {
      "find": { "type": "call", "service": "bills.find", "with": { "phone": "=phoneNumber" }, "save": "got",
        "done": [{ "when": "got.found", "to": "show" }, { "to": "pay" }], "fail": "bye" },
      "show": { "type": "list", "text": "Bills", "items": "got.bills", "row": "{{row.due|money}}",
        "options": [{ "id": "pay", "text": "Pay", "to": "pay" }] },
      "pay": { "type": "call", "service": "bills.pay", "done": "bye", "fail": "bye" },
      "bye": { "type": "end", "text": "Bye" } } }`);

test('contracts that a module exports check the calls, the answers and the mocked answers of tests', () =>
  inFolder({ 'bills.js': BILLS }, async (folder) => {
    const known = await servicesFrom({ SERVICES: join(folder, 'bills.js') });
    const told = async (change: (flow: string) => string, mock = '{ "found": true, "bills": [{ "due": 5 }] }') => {
      writeFileSync(join(folder, 'main.flow.json'), BILLS_FLOW(change));
      const tests = `{ "flow": "main", "tests": [{ "name": "t", "services": { "bills.find": [
        { "when": { "phone": "+260971230001" }, "return": ${mock} }] }, "steps": [{ "in": "" }] }] }`;
      writeFileSync(join(folder, 'main.test.json'), tests);
      const { problems, files } = await readMenus({ folder, ...known });
      const inTests = await readTestProblems({ folder, ...known }, files);
      return [...problems, ...inTests].map(({ code, message }) => `${code}: ${message}`);
    };
    assert.equal(await told((flow) => flow), []);
    for (const [from, to, ...says] of [
      ['"phone":', '"phne":', 'service-input: ', 'Did you mean "phone"?'],
      ['"with": { "phone": "=phoneNumber" }, ', '', 'service-input: ', 'without "phone", which it needs.'],
      ['"=phoneNumber"', 'true', 'service-input: ', '"phone", which is a text.'],
      ['got.found', 'got.fond', 'unknown-field: ', 'the answer of "bills.find"'],
      ['row.due', 'row.deu', 'unknown-field: ', 'Did you mean "due"?'],
      ['"service": "bills.pay", ', '"service": "bills.pay", "with": { "x": 1 }, ', 'service-input: ', '"x"'],
    ] as const) {
      const problems = (await told((flow) => flow.replace(from, to))).filter((one) => !one.startsWith('unused-'));
      assert.is(problems.length, 1, problems.join('\n'));
      for (const words of says) assert.ok(problems[0]!.includes(words), `${words} in ${problems[0]}`);
    }
    for (const [mock, says] of [
      ['{ "fund": true }', '"bills.find" answers no "fund". Did you mean "found"?'],
      ['{ "found": "yes" }', '"bills.find" answers "found" as true or false, and this is a text.'],
      ['{ "bills": [{ "due": 1 }, { "du": 2 }] }', '"bills.find" answers in "bills" no "du".'],
      ['[]', '"bills.find" answers an object, and this is [].'],
    ] as const)
      assert.ok((await told((flow) => flow, mock))[0]?.startsWith(`wrong-mock: ${says}`), says);
  }));

test('a contract that is none is told with the module and its place', () =>
  inFolder(
    Object.fromEntries(
      Object.entries({
        a: '[]',
        b: '{ "x.y": { input: {} } }',
        c: '{ "own.one": {} }',
        d: '{ "own.one": { input: { phone: { kind: "txt" } } } }',
        e: '{ "own.one": { input: {}, answer: { list: { kind: "list", fields: { a: { kin: "text" } } } } } }',
        f: '{ "own.one": { input: { a: { kind: "text", need: true } } } }',
        g: '{ "own.one": { inputs: {}, input: {} } }',
      }).map(([name, contracts]) => [
        `${name}.js`,
        `export default { "own.one": async () => 1 }; export const contracts = ${contracts};`,
      ]),
    ),
    async (folder) => {
      for (const [name, says] of [
        ['a', 'exports "contracts", which is no object'],
        ['b', 'the contract "x.y", which is for no service of this module.'],
        ['c', 'the contract "own.one", which has no "input".'],
        [
          'd',
          'has "input.phone" without a "kind": one of text, number, boolean, list, object, any. Did you mean "text"?',
        ],
        ['e', 'has "answer.list.a" without a "kind"'],
        ['f', 'has "need" in "input.a": the keys are kind, about, fields, required.'],
        ['g', 'has "inputs": the keys are doc, input and answer. Did you mean "input"?'],
      ] as const) {
        const problems = await problemsOf([`./${name}.js`], folder);
        assert.is(problems.length, 1);
        assert.ok(problems[0]?.includes(says) && problems[0].includes(`${name}.js`), `${says} in ${problems[0]}`);
      }
    },
  ));

test.run();
