// A machine of your own on a server: dialled, watched and drawn as flows are, with its values hidden; and what is refused at the start.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMachine } from 'xstate';
import { machineConversation } from '../../../lib/engine/machine/machine-conversation.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { newUser, ORACLE_KEY } from '../plugins/users.ts';
import { readEvents } from '../support/event-reader.ts';
import { DIAL, json, type Served, withServer } from '../support/serve.ts';
import { orderModule, PRIVATE, writeOrder } from './order.ts';

const test = suite('machines of your own');

/** A call that types one answer after the other; what it read at each. */
async function call({ ussd }: Served, sessionId: string, typed: readonly string[]): Promise<string[]> {
  const read: string[] = [];
  for (let count = 0; count <= typed.length; count++)
    read.push(await ussd({ ...DIAL, sessionId, text: typed.slice(0, count).join('*') }));
  return read;
}

interface Told {
  readonly type: string;
  readonly definition?: string;
  readonly snapshot?: { readonly context: object };
  readonly event?: { readonly type: string };
  readonly twinline?: {
    readonly label: string;
    readonly state: string;
    readonly reply?: string;
    readonly typed?: unknown;
  };
}

test('a caller is answered by its screens, told what is refused, and watched without the values that it does not show', () =>
  withFolder((folder) =>
    withServer({ env: writeOrder(folder) }, async (server) => {
      const watching = await readEvents(`${server.url}/inspector/stream?definitions=always`, {});
      assert.equal(await call(server, 'a', ['9', '2', '1', '1', '3', '2', PRIVATE]), [
        'CON Cups: 0\n1. One more\n2. Pay\n3. Ring',
        'CON There is 1, 2 and 3.\nCups: 0\n1. One more\n2. Pay\n3. Ring',
        'CON Not now.\nCups: 0\n1. One more\n2. Pay\n3. Ring',
        'CON Cups: 1\n1. One more\n2. Pay\n3. Ring',
        'CON Cups: 2\n1. One more\n2. Pay\n3. Ring',
        'CON Cups: 2\n1. One more\n2. Pay\n3. Ring',
        'CON Which street?',
        `END 2 cups to ${PRIVATE}`,
      ]);
      const told = () => watching.events() as unknown as Told[];
      await until('the end', () => told().some(({ twinline }) => twinline?.state === 'bell.ringing + table.paid'));
      const snapshots = told().filter(({ type }) => type === '@xstate.snapshot');
      assert.equal(
        snapshots.map(({ twinline }) => twinline!.state),
        [
          ...Array(5).fill('bell.still + table.choosing'),
          'bell.ringing + table.choosing',
          'bell.ringing + table.asking',
          'bell.ringing + table.paid',
        ],
      );
      assert.equal(snapshots.at(-3)!.snapshot!.context, { phone: '****', cups: 2, street: '****' });
      assert.is(snapshots.at(-3)!.twinline!.reply, 'Cups: 2\n1. One more\n2. Pay\n3. Ring');
      assert.match(snapshots.at(-1)!.twinline!.reply!, /^\*{4} This screen shows values that `shown`/);
      assert.equal(
        told().flatMap(({ type, event }) => (type === '@xstate.event' ? [event!.type] : [])),
        ['xstate.init', 'ADD', 'ADD', 'RING', 'PAY', 'STREET', 'xstate.done.actor.pay'],
      );
      const [{ definition }] = told().filter(({ type }) => type === '@xstate.actor') as [Told];
      assert.ok(createMachine(JSON.parse(definition!)).states.table);
      const all = JSON.stringify(watching.blocks);
      for (const hidden of [PRIVATE, DIAL.phoneNumber]) assert.not.ok(all.includes(hidden), hidden);
      assert.equal(snapshots[1]!.twinline!.typed, [{ text: null, at: 'bell.still + table.choosing' }]);
      await watching.close();
    }),
  ));

test('what is listed: machines of the inspector with a drawing, phones that dial it, the home, a masked session; no flow test', () =>
  withFolder((folder) =>
    withServer({ env: writeOrder(folder) }, async (server) => {
      await call(server, 'b', ['1']);
      const { machines } = (await server.ask('/inspector/machines')).json() as { machines: object[] };
      assert.equal(
        machines.find((one) => 'id' in one && one.id === 'order'),
        { id: 'order', kind: 'machine', version: 1, title: 'a machine of your own' },
      );
      const drawn = await server.ask('/inspector/machines/order.svg');
      assert.match(drawn.text, /data-state="table\.choosing"/);
      assert.match((await server.ask('/simulator')).text, /&quot;order&quot;/);
      assert.match((await server.ask('/', { headers: { accept: 'text/html' } })).text, /Machines of your own <small>1/);
      const { debugInfo } = (await server.ask('/api/ussd/debug/b')).json() as {
        debugInfo: { state: string; context: { message: string } };
      };
      assert.is(debugInfo.state, 'bell.still + table.choosing');
      assert.match(debugInfo.context.message, /^Cups: 1/);
      const test = await server.ask('/simulator/flow-test', {
        ...json({ sessionId: 'b', phoneNumber: DIAL.phoneNumber, inputs: ['', '1'] }, { origin: server.url }),
      });
      assert.is(test.status, 400);
      assert.match(test.text, /machine of your own/);
    }),
  ));

const end = { flow: 'order', version: 1, start: 'a', screens: { a: { type: 'end', text: 'Bye' } } };

test('what cannot be served is refused at the start, all at once, with what to do', () =>
  withFolder(async (folder) => {
    const { SERVICES } = writeOrder(folder);
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    const bare = `import { createMachine } from ${JSON.stringify(import.meta.resolve('xstate'))};\n`;
    write('bare.mjs', `${bare}export const bare = createMachine({ id: 'bare' });\n`);
    write('none.mjs', 'export const rules = [];\n');
    write('anonymous.mjs', orderModule().replace("id: 'order'", "id: 'my order'").replace('till.pay', 'till.pey'));
    write('silent.mjs', orderModule().replace('render:', 'rendre:').replace("id: 'order'", "id: 'silent'"));
    const files = ['order', 'gone', 'bare', 'none', 'anonymous', 'silent'].map((name) => join(folder, `${name}.mjs`));
    const start = (env: NodeJS.ProcessEnv) =>
      withServer({ env }, async () => {}).then(
        () => assert.unreachable('it started'),
        ({ code, message }) => [code, ...String(message).replaceAll(folder, '.').split('\n')],
      );
    assert.equal(await start({ MACHINES: [...files, files[0]].join(), SERVICES }), [
      'ERR_CONFIG',
      'MACHINES: "./gone.mjs" is not there. ./gone.mjs was looked for: check the path or install the package.',
      'MACHINES: "./bare.mjs" has no machine. Write: export default machineConversation(createMachine({ id: \'order\', … }), { read, render })',
      'MACHINES: "./none.mjs" has no machine. Write: export default machineConversation(createMachine({ id: \'order\', … }), { read, render })',
      'MACHINES: "./anonymous.mjs" has a machine with the id "my order". Give it one of a letter and up to 63 letters, digits, - and _.',
      'MACHINES: "./anonymous.mjs" has the machine "my order", which calls the service "till.pey". Did you mean "till.pay"? There is none of this name: export it from a module of SERVICES.',
      'MACHINES: "./silent.mjs" has the machine "silent" without a screen. Write: machineConversation(silent, { read, render })',
      'MACHINES: "./order.mjs" has the machine "order", whose id another one has. Give one of them another id.',
    ]);
    const menus = join(folder, 'menus');
    mkdirSync(menus);
    writeFileSync(join(menus, 'order.flow.json'), JSON.stringify(end));
    assert.equal(await start({ MACHINES: files[0], SERVICES, MENUS_DIR: menus }), [
      'ERR_CONFIG',
      './menus/order.flow.json: a machine of your own has the name "order". Rename the flow, or give the machine another id.',
    ]);
    const unknown = await start({ MACHINES: files[0], SERVICES, USSD_FLOW: 'ordre' });
    assert.match(
      unknown!.join(),
      /^ERR_FLOW_UNKNOWN,.*\(USSD_FLOW\) is not in .*\. Flows there: .*\. Machines: order\.$/,
    );
  }));

const light = createMachine({
  id: 'light',
  initial: 'red',
  states: { red: { on: { '1': 'green' } }, green: { type: 'final' } },
});
const shine = machineConversation(light, { render: ({ value }) => `It is ${value}.` });

test('a program gives its own: texts are events by default, a final state ends; no menu of its name is written or served', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify({ ...end, flow: 'main' }));
    const parts = { conversations: [shine] };
    await withServer(
      { parts, env: { USSD_FLOW: 'light', AGENT_FLOW: 'light', MENUS_DIR: folder, ORACLE_KEY } },
      async (server) => {
        assert.equal(await call(server, 'c', ['7', '1']), ['CON It is red.', 'CON It is red.', 'END It is green.']);
        const { headers } = await newUser();
        const { sessionId } = (await server.ask('/sessions', json({}, headers))).json() as { sessionId: string };
        const chat = async (message: string) =>
          (
            (await server.ask(`/messages/${sessionId}`, json({ message }, headers))).json() as {
              message: { content: string };
            }
          ).message.content;
        assert.equal(
          [await chat('hello'), await chat('/menu'), await chat('1')],
          ['It is red.', 'It is red.', 'It is green.'],
        );
        const made = await server.ask('/studio/new', json({ flow: 'light', starter: 'menu' }, { origin: server.url }));
        assert.equal([made.status, /There is a machine \\?"light\\?" already/.test(made.text)], [409, true], made.text);
        writeFileSync(join(folder, 'light.flow.json'), JSON.stringify({ ...end, flow: 'light' }));
        await server.refresh();
        const { problems } = (await server.ask('/menus/refused')).json() as { problems: string[] };
        assert.match(problems.join(), /a machine of your own has the name "light"/);
        assert.is(await server.ussd({ ...DIAL, sessionId: 'd' }), 'CON It is red.');
      },
    );
    const flow = { conversations: [{ ...shine, screens: new Map() }] } as never;
    const refusal = await withServer({ parts: flow }, async () => {}).catch(({ message }) => message);
    assert.is(refusal, 'conversations[0] has the flow "light", and takes machines. Put its file into MENUS_DIR.');
  }));

test.run();
