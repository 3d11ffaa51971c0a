// Every telecom dialect on its own route, in its own words, also where it is refused.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DIAL, json, withServer } from '../support/serve.ts';

const test = suite('dialects');

test('africastalking is the plain endpoint, with the same sessions', () =>
  withServer({}, async (server) => {
    await server.ussd(DIAL);
    const answer = await server.ask('/api/ussd/africastalking', json({ ...DIAL, text: '1' }));
    assert.match(answer.text, /^CON Know more/);
  }));

test('hubtel', () =>
  withServer({}, async (server) => {
    const fields = { SessionId: 'h1', Mobile: '233241234567', ServiceCode: '713', Operator: 'mtn' };
    const first = await server.ask(
      '/api/ussd/hubtel',
      json({ ...fields, Type: 'Initiation', Message: '*713#', Sequence: 1 }),
    );
    const { Type, Message, SessionId } = first.json() as Record<string, string>;
    assert.equal([Type, SessionId], ['Response', 'h1']);
    assert.match(Message!, /^Welcome to Twinline\n/);
    const second = await server.ask(
      '/api/ussd/hubtel',
      json({ ...fields, Type: 'Response', Message: '1', Sequence: 2 }),
    );
    assert.match((second.json() as Record<string, string>).Message!, /^Know more/);
    const refused = await server.ask('/api/ussd/hubtel', json({ SessionId: 'h2', Type: 'Response' }));
    assert.equal([refused.status, (refused.json() as Record<string, string>).Type], [200, 'Release']);
  }));

test('infobip, whose path names the session', () =>
  withServer({}, async (server) => {
    const post = (step: string, body: object, method = 'POST') =>
      server.ask(`/api/ussd/infobip/session/a%20b/${step}`, { ...json(body), method });
    const start = await post('start', { msisdn: '38595123456', text: '', shortCode: '*1#' });
    assert.match((start.json() as { ussdMenu: string }).ussdMenu, /^Welcome/);
    assert.equal((await server.ask('/api/ussd/sessions')).json(), { activeSessions: ['a b'], count: 1 });
    const next = await post('response', { msisdn: '38595123456', text: '1' });
    assert.match((next.json() as { ussdMenu: string }).ussdMenu, /^Know more/);
    assert.equal((await post('end', { exitCode: 200 }, 'PUT')).json(), { responseExitCode: 200, responseMessage: '' });
    assert.equal((await server.ask('/api/ussd/sessions')).json(), { activeSessions: [], count: 0 });
  }));

test('comviva, which asks with GET and is told in a header whether to go on', () =>
  withServer({}, async (server) => {
    const ask = (input: string) => server.ask(`/api/ussd/comviva?MSISDN=919810000001&SessionID=c1&input=${input}`);
    const first = await ask('121');
    assert.match(first.text, /^Welcome/);
    assert.equal([first.headers.freeflow, first.headers['cache-control']], ['FC', 'no-store']);
    assert.is((await ask('*')).headers.freeflow, 'FB');
    const head = await server.ask('/api/ussd/comviva?MSISDN=919810000001&input=121', { method: 'HEAD' });
    assert.is(head.status, 405, 'asking twice must not be two turns');
  }));

test('nalo and arkesel', () =>
  withServer({}, async (server) => {
    const nalo = {
      USERID: 'u',
      MSISDN: '233241234567',
      USERDATA: '*920*1#',
      MSGTYPE: true,
      NETWORK: 'MTN',
      SESSIONID: 'n1',
    };
    assert.match(((await server.ask('/api/ussd/nalo', json(nalo))).json() as { MSG: string }).MSG, /^Welcome/);
    const arkesel = { sessionID: 'a1', userID: 'u', newSession: true, msisdn: '233241234567', userData: '*928*01#' };
    const { message, continueSession } = (await server.ask('/api/ussd/arkesel', json(arkesel))).json() as Record<
      string,
      unknown
    >;
    assert.match(message as string, /^Welcome/);
    assert.is(continueSession, true);
  }));

test('infobip, which names the SIM: another one is noted, and no IMSI is kept or logged', () =>
  withServer({ env: { LOG_LEVEL: 'debug' } }, async (server) => {
    const [own, other] = ['648041234567890', '648049876543210'];
    const walk = async (id: string, imsi: string, answers: readonly string[]) => {
      const msisdn = '260971230001';
      const post = (step: string, body: object) => server.ask(`/api/ussd/infobip/session/${id}/${step}`, json(body));
      let said = await post('start', { msisdn, text: '', shortCode: '*1#', imsi });
      for (const text of answers) said = await post('response', { msisdn, text, imsi });
      return (said.json() as { ussdMenu: string }).ussdMenu;
    };
    assert.match(await walk('i1', own, ['2', '2', 'Tariro Moyo', '83519', '83519']), /^Your account is ready/);
    assert.match(await walk('i2', own, ['2', '1', '83519']), /^Tariro Moyo/);
    const audits = () => server.logged.filter(({ audit }) => audit === 'account.sim-change');
    assert.equal(audits(), []);
    assert.match(await walk('i3', other, ['2', '1', '83519']), /^Tariro Moyo/);
    assert.is(audits().length, 1);
    const shown = await server.ask('/api/ussd/accounts/show', json({ phoneNumber: '+260971230001' }));
    assert.ok(Date.parse((shown.json() as { simChangedAt: string }).simChangedAt) > 0);
    for (const secret of [own, other, '260971230001']) assert.not.match(JSON.stringify(server.logged), secret);
  }));

test('infobip asks whether a session goes on, and is told so without touching it', () =>
  withServer({}, async (server) => {
    const status = async (id: string) => (await server.ask(`/api/ussd/infobip/session/${id}/status`)).json();
    const told = (sessionActive: boolean) => ({ sessionActive, responseExitCode: 200, responseMessage: '' });
    assert.equal(await status('i1'), told(false));
    const post = (step: string, body: object) => server.ask(`/api/ussd/infobip/session/i1/${step}`, json(body));
    await post('start', { msisdn: '38595123456', text: '', shortCode: '*1#' });
    assert.equal([await status('i1'), await status('i1'), await status('i2')], [told(true), told(true), told(false)]);
    assert.match((await post('response', { msisdn: '38595123456', text: '1' })).text, /Know more/);
    await post('end', { exitCode: 200 });
    assert.equal(await status('i1'), told(false));
    const head = await server.ask('/api/ussd/infobip/session/i1/status', { method: 'HEAD' });
    assert.is(head.status, 405);
  }));

test('nalo without session id and mark: a phone has one session, and a dial begins it anew', () =>
  withServer({}, async (server) => {
    const say = async (USERDATA: string, MSISDN = '233265542141') =>
      ((await server.ask('/api/ussd/nalo', json({ USERID: 'u', MSISDN, USERDATA }))).json() as { MSG: string }).MSG;
    assert.match(await say('*920*1#'), /^Welcome/);
    assert.match(await say('1'), /^Know more/);
    assert.match(await say('*920*1#', '233265542142'), /^Welcome/, 'another phone is another session');
    assert.match(await say('*920*1#'), /^Welcome/, 'it was dialled again');
    assert.match(await say('1'), /^Know more/);
  }));

test('hubtel from its app, where the code is the id of a service', () =>
  withServer({}, async (server) => {
    const fields = {
      Mobile: '233246912184',
      SessionId: '3c796dac28174f739de4262d08409c51',
      ServiceCode: 'b230733cd56b4a0fad820e39f66bc27c',
      Operator: 'Hubtel-Android',
      ClientState: '',
    };
    const say = async (changes: object) =>
      (await server.ask('/api/ussd/hubtel', json({ ...fields, ...changes }))).json() as Record<string, string>;
    assert.match((await say({ Sequence: '1', Type: 'initiation', Message: '' })).Message!, /^Welcome/);
    assert.match((await say({ Sequence: '2', Type: 'response', Message: '1' })).Message!, /^Know more/);
    const other = { Sequence: '3', Type: 'response', Message: '1', ServiceCode: 'another' };
    assert.is((await say(other)).Message, 'Invalid input. Please try again.', 'the session is that of its service');
  }));

test("Africa's Talking tells that a session is over: it is freed at once, but by its own telecom only", () =>
  withServer({}, async (server) => {
    const open = async () =>
      server
        .ask('/api/ussd/sessions')
        .then((answer) => answer.json() as { count: number })
        .then(({ count }) => count);
    const tell = (fields: Record<string, string>) =>
      server.ask('/api/ussd', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ status: 'Incomplete', sessionId: DIAL.sessionId, ...fields }).toString(),
      });
    const screen = await server.ussd(DIAL);
    const event = { lastAppResponse: screen, hopsCount: '1', input: '' };
    for (const foreign of [
      { ...event, lastAppResponse: 'CON Something else' },
      { hopsCount: '1', input: '' },
      { ...event, phoneNumber: '+260971230002' },
      { ...event, phoneNumber: DIAL.phoneNumber, serviceCode: '*9999#' },
      { ...event, sessionId: 's2' },
    ]) {
      assert.is((await tell(foreign)).status, 200);
      assert.is(await open(), 1, JSON.stringify(foreign));
    }
    assert.is((await tell(event)).text, 'END ');
    assert.is(await open(), 0);
    assert.is(await server.ussd({ ...DIAL, text: '1' }), 'END Your session has ended. Please dial again.');
    await server.ussd(DIAL);
    await tell({ hopsCount: '1', input: '', phoneNumber: DIAL.phoneNumber, serviceCode: DIAL.serviceCode });
    assert.is(await open(), 0, 'with its phone, whatever was seen last');
  }));

test('word of ended sessions without a phone does not count as one caller', () =>
  withServer({ env: { RATE_LIMIT_MAX: '3', RATE_LIMIT_EXEMPT: '127.0.0.1' } }, async (server) => {
    for (let at = 0; at < 8; at++) {
      const answer = await server.ask(`/api/ussd/infobip/session/e${at}/end`, { ...json({}), method: 'PUT' });
      assert.is(answer.status, 200, String(at));
    }
  }));

test('the same session id in two dialects is two sessions', () =>
  withServer({}, async (server) => {
    await server.ussd({ ...DIAL, sessionId: 'same' });
    const arkesel = { sessionID: 'same', userID: 'u', newSession: true, msisdn: '233241234567', userData: '*928#' };
    assert.match((await server.ask('/api/ussd/arkesel', json(arkesel))).text, /Welcome/);
    assert.match(await server.ussd({ ...DIAL, sessionId: 'same', text: '1' }), /^CON Know more/);
  }));

test('an unknown dialect is 404, and inherited names are no dialects', () =>
  withServer({}, async (server) => {
    for (const name of ['nobody', 'constructor', '__proto__', 'Hubtel', 'hubtel/'])
      assert.is((await server.ask(`/api/ussd/${name}`, json(DIAL))).status, 404, name);
  }));

test.run();
