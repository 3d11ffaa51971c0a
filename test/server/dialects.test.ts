// Every telecom dialect on its own route, in its own words, also where it is refused.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DIAL, json, withServer } from './serve.ts';

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
