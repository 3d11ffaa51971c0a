// Phones that operators simulate: apart from callers, whatever id and number they have, and never unseen.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TELECOM_DIALECTS, type TelecomDialect, type TelecomStep } from '../../../lib/ussd/telecoms.ts';
import { withFolder } from '../../support/process.ts';
import { LOGIN } from '../support/login.ts';
import { PRODUCTION, TOKEN } from '../support/production.ts';
import { DIAL, json, type Served, type ServeOptions, withServer } from '../support/serve.ts';

const test = suite('simulated phones');

const MENU = {
  ...LOGIN,
  vars: { ...LOGIN.vars, who: { type: 'object', sample: { simulated: false } } },
  screens: {
    ...LOGIN.screens,
    first: {
      ...LOGIN.screens.first,
      options: [...LOGIN.screens.first.options, { id: 'who', text: 'Who', to: 'who' }],
    },
    who: { type: 'call', service: 'test.who', save: 'who', done: 'said', fail: 'trouble' },
    said: { type: 'end', text: 'Simulated: {{who.simulated}}' },
  },
};
const services = {
  'test.who': async (_input: unknown, { session }: { readonly session: { readonly simulated?: true } }) => ({
    simulated: session.simulated === true,
  }),
};
const AUTHORIZATION = { authorization: `Bearer ${TOKEN}` };
const ID = 'sim-abc';

/** A server in production that all gateways may ask. */
function inProduction(
  work: (server: Served) => Promise<void>,
  seams: Pick<ServeOptions, 'stores'> = {},
): Promise<void> {
  return withFolder(async (folder) => {
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(MENU));
    const env = { ...PRODUCTION, USSD_GATEWAYS: '*', OPERATOR_TOKEN: TOKEN, MENUS_DIR: folder };
    await withServer({ env, parts: { services }, ...seams }, work);
  });
}

type Ask = (dialect: TelecomDialect, step: Partial<TelecomStep>) => Promise<string>;

const STEP = { kind: 'type', sessionId: ID, serviceCode: '*713#', text: '', history: '', number: 1 } as const;

/** The same number asks as a caller through a gateway, and as a phone of an operator. */
function bothPhones({ ask, url }: Served, phoneNumber: string): Readonly<Record<'caller' | 'simulated', Ask>> {
  const own = { ...AUTHORIZATION, origin: url };
  return {
    async caller(dialect, step) {
      const { method, path, query, headers = {}, body } = dialect.ask({ ...STEP, phoneNumber, ...step })!;
      const address = `/api/ussd/${dialect.name}${path}${query === undefined ? '' : `?${query}`}`;
      const answer = await ask(address, { method, headers, ...(body !== undefined && { body }) });
      return dialect.read({ ...answer, type: '', headers: answer.headers as never, body: answer.text }).text;
    },
    async simulated(dialect, step) {
      const { headers, ...request } = dialect.ask({ ...STEP, phoneNumber, ...step })!;
      const asked = { dialect: dialect.name, ...request, type: headers?.['content-type'] };
      const answer = await ask('/simulator/requests', json(asked, own));
      assert.is(answer.status, 200, answer.text);
      return dialect.read(answer.json() as never).text;
    },
  };
}

const simulatedRows = ({ logged }: Served) => logged.filter(({ audit }) => audit === 'session.simulated');

test('a caller and a simulated phone with the same id and number do not meet, in any dialect', () =>
  inProduction(async (server) => {
    for (const [at, dialect] of Object.values(TELECOM_DIALECTS).entries()) {
      const { caller, simulated } = bothPhones(server, `+23324123450${at}`);
      const choose = (text: string) => ({ text, history: text, number: 2 });
      const menu = 'Account\n1. New\n2. Log in\n3. Who';
      assert.is(await caller(dialect, { kind: 'dial' }), menu, dialect.name);
      assert.is(await simulated(dialect, { kind: 'dial' }), menu, dialect.name);
      assert.is(await simulated(dialect, choose('3')), 'Simulated: true', dialect.name);
      assert.is(await caller(dialect, choose('3')), 'Simulated: false', dialect.name);
    }
    const rows = simulatedRows(server);
    assert.equal(
      rows.map(({ dialect, by }) => [dialect, /^token [\w-]{8}$/.test(String(by))]),
      Object.keys(TELECOM_DIALECTS).map((name) => [name, true]),
    );
    assert.not.match(JSON.stringify(rows), '23324123450');
  }));

test('a simulated phone goes on in no session of a caller, and learns nothing of one', () =>
  inProduction(async ({ ask, ussd, url }) => {
    await ussd({ ...DIAL, sessionId: ID });
    const dial = (fields: object) => ask('/simulator/dial', json(fields, { ...AUTHORIZATION, origin: url }));
    const state = () => ask(`/simulator/sessions/${ID}`, { headers: AUTHORIZATION });
    assert.is((await state()).status, 404);
    assert.match((await dial({ ...DIAL, sessionId: ID, text: '2' })).text, /^END Your session has ended/);
    const refused = await dial({ ...DIAL, sessionId: 'telecom-1' });
    assert.is(refused.status, 400);
    assert.match(refused.text, /must start with sim-/);
    // More than a phone may have at a time.
    for (let at = 0; at < 5; at++) assert.match((await dial({ ...DIAL, sessionId: `sim-${at}` })).text, /^CON Account/);
    assert.match(await ussd({ ...DIAL, sessionId: ID, text: '2' }), /^CON PIN\?/);
    assert.is((await state()).status, 404);
  }));

test('the account of a caller is out of reach for a simulated phone of its number, and the other way around', () =>
  inProduction(async (server) => {
    const { caller, simulated } = bothPhones(server, DIAL.phoneNumber);
    const plain = TELECOM_DIALECTS.africastalking;
    let calls = 0;
    const enter = async (ask: Ask, choice: string, pin: string) => {
      const sessionId = `sim-${calls++}`;
      for (const [kind, history] of [
        ['dial', ''],
        ['type', choice],
      ] as const)
        await ask(plain, { kind, history, sessionId });
      return ask(plain, { history: `${choice}*${pin}`, sessionId });
    };
    assert.is(await enter(caller, '1', '740291'), 'Made');
    for (let tries = 0; tries < 3; tries++) await enter(simulated, '2', '740291');
    assert.is(await enter(simulated, '2', '740291'), 'Locked');
    assert.is(await enter(caller, '2', '740291'), 'In');
    const phone = { phoneNumber: DIAL.phoneNumber };
    const { failuresInWindow } = (await server.ask('/api/ussd/accounts/show', json(phone, AUTHORIZATION))).json() as {
      failuresInWindow: number;
    };
    assert.is(failuresInWindow, 0);
    await server.ask('/api/ussd/accounts/unlock', json(phone, AUTHORIZATION));
    assert.is(await enter(simulated, '1', '593824'), 'Made');
    assert.is(await enter(simulated, '2', '593824'), 'In');
    assert.is(await enter(caller, '2', '593824'), 'Wrong');
  }));

test('nothing is simulated when the audit log cannot say so', () => {
  let isAway = false;
  const failing = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get: (target, name) =>
        isAway && ['insert', 'replace'].includes(String(name))
          ? () => Promise.reject(new Error('away'))
          : Reflect.get(target, name, target),
    });
  const stores: ServeOptions['stores'] = (opened) => ({ ...opened, documents: failing(opened.documents) });
  return inProduction(
    async ({ ask, url }) => {
      isAway = true;
      const answer = await ask('/simulator/dial', json({ ...DIAL, sessionId: ID }, { ...AUTHORIZATION, origin: url }));
      assert.is(answer.text, 'END Service temporarily unavailable. Please try again later.');
      isAway = false;
      assert.match((await ask('/api/ussd/sessions', { headers: AUTHORIZATION })).text, '"count":0');
    },
    { stores },
  );
});

test.run();
