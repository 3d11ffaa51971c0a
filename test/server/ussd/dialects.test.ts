// Every telecom dialect on its own route, in its own words, also where it is refused.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TELECOM_DIALECTS, type TelecomDialect, type TelecomStep } from '../../../lib/ussd/telecoms.ts';
import { DIAL, json, sharedServer, withServer } from '../support/serve.ts';

const test = suite('dialects');
const server = sharedServer(test, { env: { LOG_LEVEL: 'debug' } });

const NAMES = Object.keys(TELECOM_DIALECTS);

const listSessions = async () =>
  ((await server().ask('/api/ussd/sessions')).json() as { activeSessions: readonly string[] }).activeSessions;

/** One step of a dialogue as the gateway of a dialect puts it; undefined where it has none for it. */
async function take({ name, ask, read }: TelecomDialect, step: Partial<TelecomStep>) {
  const request = ask({
    ...{
      kind: 'type',
      sessionId: `a b ${name}`,
      phoneNumber: `+2332412345${NAMES.indexOf(name)}0`,
      serviceCode: '*713#',
    },
    ...{ text: '', history: '', number: 1 },
    ...step,
  });
  if (!request) return undefined;
  const { method, path, query, headers = {}, body } = request;
  const url = `/api/ussd/${name}${path}${query === undefined ? '' : `?${query}`}`;
  const answer = await server().ask(url, { method, headers, ...(body !== undefined && { body }) });
  const type = answer.headers['content-type'] ?? '';
  return { answer, reply: read({ status: answer.status, type, headers: answer.headers as never, body: answer.text }) };
}

for (const dialect of Object.values(TELECOM_DIALECTS))
  test(`${dialect.name}: a dialogue on its own route, a retry, and the end of it`, async () => {
    const dial = await take(dialect, { kind: 'dial' });
    assert.match(dial!.reply.text, /^Welcome to Twinline\n/);
    const answer = { text: '1', history: '1', number: 2 };
    const next = await take(dialect, answer);
    assert.match(next!.reply.text, /^Know more/);
    assert.is(next!.reply.kind, 'continue');
    assert.ok((await listSessions()).includes(`a b ${dialect.name}`));
    const gone = { kind: 'end', history: '1', number: 3 } as const;
    if (!(await take(dialect, gone))) {
      const end = await take(dialect, { text: '*', history: '1**', number: 3 });
      assert.is(end!.reply.kind, 'end');
    }
    assert.not.ok((await listSessions()).includes(`a b ${dialect.name}`));
  });

test('comviva is told in a header whether to go on, and asking twice is not two turns', async () => {
  const ask = (input: string) => server().ask(`/api/ussd/comviva?MSISDN=919810000001&SessionID=c1&input=${input}`);
  const first = await ask('121');
  assert.equal([first.headers.freeflow, first.headers['cache-control']], ['FC', 'no-store']);
  assert.is((await ask('*')).headers.freeflow, 'FB');
  const head = await server().ask('/api/ussd/comviva?MSISDN=919810000001&input=121', { method: 'HEAD' });
  assert.is(head.status, 405);
});

test('what a dialect refuses is answered in its words', async () => {
  const refused = await server().ask('/api/ussd/hubtel', json({ SessionId: 'h2', Type: 'Response' }));
  assert.equal([refused.status, (refused.json() as { Type: string }).Type], [200, 'Release']);
});

test('infobip, which names the SIM: another one is noted, and no IMSI is kept or logged', async () => {
  const [own, other] = ['648041234567890', '648049876543210'];
  const walk = async (id: string, imsi: string, answers: readonly string[]) => {
    const msisdn = '260971230001';
    const post = (step: string, body: object) => server().ask(`/api/ussd/infobip/session/${id}/${step}`, json(body));
    let said = await post('start', { msisdn, text: '', shortCode: '*1#', imsi });
    for (const text of answers) said = await post('response', { msisdn, text, imsi });
    return (said.json() as { ussdMenu: string }).ussdMenu;
  };
  assert.match(await walk('i1', own, ['2', '2', 'Tariro Moyo', '83519', '83519']), /^Your account is ready/);
  assert.match(await walk('i2', own, ['2', '1', '83519']), /^Tariro Moyo/);
  const audits = () => server().logged.filter(({ audit }) => audit === 'account.sim-change');
  assert.equal(audits(), []);
  assert.match(await walk('i3', other, ['2', '1', '83519']), /^Tariro Moyo/);
  assert.is(audits().length, 1);
  const shown = await server().ask('/api/ussd/accounts/show', json({ phoneNumber: '+260971230001' }));
  assert.ok(Date.parse((shown.json() as { simChangedAt: string }).simChangedAt) > 0);
  for (const secret of [own, other, '260971230001']) assert.not.match(JSON.stringify(server().logged), secret);
});

test('infobip asks whether a session goes on, and is told so without touching it', async () => {
  const path = '/api/ussd/infobip/session/asked';
  const status = async (of = path) => (await server().ask(`${of}/status`)).json();
  const told = (sessionActive: boolean) => ({ sessionActive, responseExitCode: 200, responseMessage: '' });
  assert.equal(await status(), told(false));
  const post = (step: string, body: object) => server().ask(`${path}/${step}`, json(body));
  await post('start', { msisdn: '38595123456', text: '', shortCode: '*1#' });
  assert.equal([await status(), await status(), await status(`${path}x`)], [told(true), told(true), told(false)]);
  assert.match((await post('response', { msisdn: '38595123456', text: '1' })).text, /Know more/);
  await post('end', { exitCode: 200 });
  assert.equal(await status(), told(false));
  assert.is((await server().ask(`${path}/status`, { method: 'HEAD' })).status, 405);
});

test("Africa's Talking tells that a session is over: it is freed at once, but by its own telecom only", async () => {
  const own = { ...DIAL, sessionId: 'told', phoneNumber: '+260971230009' };
  const isOpen = async () => (await listSessions()).includes(own.sessionId);
  const tell = (fields: Record<string, string>) =>
    server().ask('/api/ussd', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ status: 'Incomplete', sessionId: own.sessionId, ...fields }).toString(),
    });
  const event = { lastAppResponse: await server().ussd(own), hopsCount: '1', input: '' };
  for (const foreign of [
    { ...event, lastAppResponse: 'CON Something else' },
    { hopsCount: '1', input: '' },
    { ...event, phoneNumber: '+260971230002' },
    { ...event, phoneNumber: own.phoneNumber, serviceCode: '*9999#' },
    { ...event, sessionId: 's2' },
  ]) {
    assert.is((await tell(foreign)).status, 200);
    assert.ok(await isOpen(), JSON.stringify(foreign));
  }
  assert.is((await tell(event)).text, 'END ');
  assert.not.ok(await isOpen());
  assert.is(await server().ussd({ ...own, text: '1' }), 'END Your session has ended. Please dial again.');
  await server().ussd(own);
  await tell({ hopsCount: '1', input: '', phoneNumber: own.phoneNumber, serviceCode: own.serviceCode });
  assert.not.ok(await isOpen(), 'with its phone, whatever was seen last');
});

test('word of ended sessions without a phone does not count as one caller', () =>
  withServer({ env: { RATE_LIMIT_MAX: '3', RATE_LIMIT_EXEMPT: '127.0.0.1' } }, async ({ ask }) => {
    for (let at = 0; at < 8; at++) {
      const answer = await ask(`/api/ussd/infobip/session/e${at}/end`, { ...json({}), method: 'PUT' });
      assert.is(answer.status, 200, String(at));
    }
  }));

test('the same session id in two dialects is two sessions', async () => {
  const own = { ...DIAL, sessionId: 'same', phoneNumber: '+260971230008' };
  await server().ussd(own);
  const arkesel = { sessionID: 'same', userID: 'u', newSession: true, msisdn: '233241234567', userData: '*928#' };
  assert.match((await server().ask('/api/ussd/arkesel', json(arkesel))).text, /Welcome/);
  assert.match(await server().ussd({ ...own, text: '1' }), /^CON Know more/);
});

test('an unknown dialect is 404, and inherited names are no dialects', async () => {
  for (const name of ['nobody', 'constructor', '__proto__', 'Hubtel', 'hubtel/'])
    assert.is((await server().ask(`/api/ussd/${name}`, json(DIAL))).status, 404, name);
});

test.run();
