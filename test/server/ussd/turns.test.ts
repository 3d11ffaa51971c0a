// The USSD route over HTTP: the first dialogue, both body formats, retries, owners, what is refused.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DIAL, json, type Served, withServer } from '../support/serve.ts';

const test = suite('ussd');

const MENU = 'CON Welcome to Twinline\n1. Know more\n2. Account\n*. Exit';
const INVALID = 'END Invalid input. Please try again.';

const debug = async (server: Served, sessionId: string) =>
  (await server.ask(`/api/ussd/debug/${encodeURIComponent(sessionId)}`)).json() as { debugInfo?: { state: string } };

test('the first dial shows the numbered main menu with * for exit, in plain text', () =>
  withServer({}, async (server) => {
    const answer = await server.ask('/api/ussd', json(DIAL));
    assert.is(answer.status, 200);
    assert.is(answer.text, MENU);
    assert.is(answer.headers['content-type'], 'text/plain; charset=utf-8');
    assert.is(answer.headers['content-length'], String(Buffer.byteLength(MENU)));
    assert.is((await debug(server, 's1')).debugInfo?.state, 'preMenu');
  }));

test('1 leads to the information menu, * ends, and then the session is gone', () =>
  withServer({}, async (server) => {
    await server.ussd(DIAL);
    const information = await server.ussd({ ...DIAL, text: '1' });
    assert.match(information, /^CON .*\n1\. /);
    assert.match(information, /\n\*\. /);
    assert.match(await server.ussd({ ...DIAL, text: '1**' }), /^END /);
    assert.is((await server.ask('/api/ussd/debug/s1')).status, 404);
  }));

test('form-urlencoded and JSON bodies mean the same, whatever their label says', () =>
  withServer({}, async (server) => {
    const form = 'sessionId=s1&serviceCode=%2A2233%23&phoneNumber=%2B260971230001&text=&networkCode=64801';
    const typed = (type?: string) => ({
      method: 'POST',
      body: form,
      ...(type && { headers: { 'content-type': type } }),
    });
    for (const type of ['application/x-www-form-urlencoded', 'application/json', 'text/plain', undefined])
      assert.is((await server.ask('/api/ussd', typed(type))).text, MENU, type);
    const labelled = json(DIAL, { 'content-type': 'application/x-www-form-urlencoded' });
    assert.is((await server.ask('/api/ussd', labelled)).text, MENU);
  }));

test('unknown extra fields change nothing', () =>
  withServer({}, async (server) =>
    assert.is(await server.ussd({ ...DIAL, networkCode: '64801', x: { y: [1] } }), MENU),
  ));

for (const text of ['', '1', '1*2'])
  test(`20 copies of the text "${text}" at once get the same bytes and count once`, () =>
    withServer({}, async (server) => {
      for (const before of ['', '1'].filter((one) => one.length < text.length))
        await server.ussd({ ...DIAL, text: before });
      const copies = await Promise.all(Array.from({ length: 20 }, () => server.ussd({ ...DIAL, text })));
      assert.is(new Set(copies).size, 1, [...new Set(copies)].join('\n---\n'));
      assert.is(await server.ussd({ ...DIAL, text }), copies[0], 'and once more, later');
    }));

test('20 copies of the last text get the same END, also later, and start nothing', () =>
  withServer({}, async (server) => {
    await server.ussd(DIAL);
    const copies = await Promise.all(Array.from({ length: 20 }, () => server.ussd({ ...DIAL, text: '*' })));
    assert.is(new Set(copies).size, 1);
    assert.match(copies[0]!, /^END /);
    assert.is(await server.ussd({ ...DIAL, text: '*' }), copies[0]);
    assert.equal((await server.ask('/api/ussd/sessions')).json(), { activeSessions: [], count: 0 });
    assert.is(await server.ussd(DIAL), MENU, 'an empty text dials anew');
  }));

test('a late, older text is answered and changes nothing', () =>
  withServer({}, async (server) => {
    await server.ussd(DIAL);
    await server.ussd({ ...DIAL, text: '1' });
    const third = await server.ussd({ ...DIAL, text: '1*2' });
    const { state } = (await debug(server, 's1')).debugInfo!;
    for (const text of ['', '1']) assert.match(await server.ussd({ ...DIAL, text }), /^CON /);
    assert.is((await debug(server, 's1')).debugInfo!.state, state);
    assert.is(await server.ussd({ ...DIAL, text: '1*2' }), third);
  }));

test('another phone or code on the same session id is refused and disturbs nobody', () =>
  withServer({}, async (server) => {
    await server.ussd(DIAL);
    for (const other of [{ phoneNumber: '+260971230002' }, { serviceCode: '*99#' }])
      for (const text of ['', '1', '2']) assert.is(await server.ussd({ ...DIAL, ...other, text }), INVALID);
    assert.is((await debug(server, 's1')).debugInfo?.state, 'preMenu');
    assert.match(await server.ussd({ ...DIAL, text: '1' }), /^CON Know more/);
  }));

test('an unknown session that begins with text ends, shows the menu or is forwarded, as configured', async () => {
  const first = (mode: string) =>
    withServer({ env: { USSD_UNKNOWN_SESSION: mode } }, (server) => server.ussd({ ...DIAL, text: '1' }));
  assert.match(await first('end'), /^END .*dial again/i);
  assert.is(await first('menu'), MENU);
  assert.match(await first('forward'), /^CON Know more/);
});

test('in latest mode, text is the last input only', () =>
  withServer({ env: { USSD_TEXT_MODE: 'latest' } }, async (server) => {
    await server.ussd(DIAL);
    assert.match(await server.ussd({ ...DIAL, text: '1' }), /^CON Know more/);
    assert.match(await server.ussd({ ...DIAL, text: '2' }), /^CON Your PIN/);
  }));

test('another method is 405 with Allow; another case, a slash or a further segment is 404', () =>
  withServer({}, async (server) => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await server.ask('/api/ussd', { method });
      assert.equal([answer.status, answer.headers.allow], [405, 'POST'], method);
    }
    for (const path of ['/API/USSD', '/api/ussd/', '/api/ussd/x', '//api/ussd', '/api//ussd'])
      assert.is((await server.ask(path, json(DIAL))).status, 404, path);
    const query = await server.ask('/api/ussd?a=b', json(DIAL));
    assert.is(query.text, MENU);
  }));

test.run();
