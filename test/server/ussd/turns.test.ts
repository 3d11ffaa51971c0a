// The USSD route over HTTP: the first dialogue, both body formats, retries, owners, what is refused.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DIAL, json, sharedServer, withServer } from '../support/serve.ts';

const test = suite('ussd');
const server = sharedServer(test, {});

const MENU = 'CON Welcome to Twinline\n1. Know more\n2. Account\n*. Exit';
const INVALID = 'END Invalid input. Please try again.';

let callers = 0;
/** A phone of its own, and what it says in one session. */
function newCaller() {
  const at = ++callers;
  const own = { ...DIAL, sessionId: `s${at}`, phoneNumber: `+26097123${1_000 + at}` };
  const say = (text: string, more: object = {}) => server().ussd({ ...own, text, ...more });
  return { own, say, look: () => server().ask(`/api/ussd/debug/${own.sessionId}`) };
}

test('the first dial shows the numbered main menu with * for exit, in plain text, whatever else a gateway says', async () => {
  const { own, look } = newCaller();
  const answer = await server().ask('/api/ussd', json({ ...own, networkCode: '64801', x: { y: [1] } }));
  assert.equal([answer.status, answer.text], [200, MENU]);
  assert.is(answer.headers['content-type'], 'text/plain; charset=utf-8');
  assert.is(answer.headers['content-length'], String(Buffer.byteLength(MENU)));
  assert.is(((await look()).json() as { debugInfo: { state: string } }).debugInfo.state, 'preMenu');
});

test('form-urlencoded and JSON bodies mean the same, whatever their label says', async () => {
  const { own } = newCaller();
  const form = new URLSearchParams({ ...own, networkCode: '64801' }).toString();
  for (const type of ['application/x-www-form-urlencoded', 'application/json', 'text/plain', undefined]) {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    assert.is((await server().ask('/api/ussd', { method: 'POST', body: form, headers })).text, MENU, type);
  }
  const labelled = json(own, { 'content-type': 'application/x-www-form-urlencoded' });
  assert.is((await server().ask('/api/ussd', labelled)).text, MENU);
});

test('another phone or code on the same session id is refused and disturbs nobody', async () => {
  const { say } = newCaller();
  await say('');
  for (const other of [{ phoneNumber: '+260971230002' }, { serviceCode: '*99#' }])
    for (const text of ['', '1', '2']) assert.is(await say(text, other), INVALID);
  assert.match(await say('1'), /^CON Know more/);
});

test('an unknown session that begins with text ends, or is forwarded as configured; in latest mode text is the last input only', async () => {
  assert.match(await newCaller().say('1'), /^END .*dial again/i);
  await withServer({ env: { USSD_UNKNOWN_SESSION: 'forward', USSD_TEXT_MODE: 'latest' } }, async ({ ussd }) => {
    assert.match(await ussd({ ...DIAL, text: '1' }), /^CON Know more/);
    assert.match(await ussd({ ...DIAL, text: '2' }), /^CON Your PIN/);
  });
});

test('another method is 405 with Allow; another case, a slash or a further segment is 404', async () => {
  const { own } = newCaller();
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
    const answer = await server().ask('/api/ussd', { method });
    assert.equal([answer.status, answer.headers.allow], [405, 'POST'], method);
  }
  for (const path of ['/API/USSD', '/api/ussd/', '/api/ussd/x', '//api/ussd', '/api//ussd'])
    assert.is((await server().ask(path, json(own))).status, 404, path);
  assert.is((await server().ask('/api/ussd?a=b', json(own))).text, MENU);
});

test.run();
