// Who may speak for callers: telecom gateways by address or by secret, nobody else, and nothing is left behind of others.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { USSD_LIMITS } from '../../../lib/ussd/limits.ts';
import { readConfig } from '../../../server/config/config.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { maskSetting } from '../../../server/config/secrets.ts';
import { forbiddenGateways, gatewaySignature, ussdGateways } from '../../../server/ussd/gateways.ts';
import { PRODUCTION } from '../support/production.ts';
import { type AskOptions, DIAL, json, type Served, withServer } from '../support/serve.ts';

const test = suite('ussd gateways');

const SECRET = 'correct.horse/battery+staple';
const PROXY = { TRUST_PROXY_ENABLED: 'true', TRUST_PROXY_CIDRS: '127.0.0.1' };

const metric = (text: string, series: string) => text.split('\n').find((line) => line.startsWith(series));

const from = (address: string, fields: object = DIAL) => json(fields, { 'x-forwarded-for': address });

test('a listed address is let in, also as one of a network and in IPv6; any other gets 403 and END', () =>
  withServer({ env: { ...PROXY, USSD_GATEWAYS: '203.0.113.0/24, 2001:db8::/32,198.51.100.7' } }, async (server) => {
    for (const address of ['203.0.113.9', '2001:db8::1', '198.51.100.7', '::ffff:198.51.100.7'])
      assert.match((await server.ask('/api/ussd', from(address))).text, /^CON /, address);
    for (const address of ['203.0.114.9', '2001:db9::1', '198.51.100.8', '10.1.2.3', '::1']) {
      const answer = await server.ask('/api/ussd', from(address));
      assert.equal([answer.status, answer.headers['content-type']], [403, 'text/plain; charset=utf-8'], address);
      assert.match(answer.text, /^END /);
    }
    const own = await server.ask('/api/ussd', json(DIAL));
    assert.is(own.status, 403, 'a proxy that forwards nothing is no gateway');
    // Every dialect is guarded, in every one of its routes.
    const ask = (path: string, method = 'POST') => server.ask(`/api/ussd${path}`, { ...json({}), method });
    const answers = await Promise.all([
      ...['', '/africastalking', '/hubtel', '/nalo', '/arkesel'].map((path) => ask(path)),
      ...['start', 'response', 'end'].map((step) => ask(`/infobip/session/s/${step}`)),
      ask('/infobip/session/s/end', 'PUT'),
      server.ask('/api/ussd/comviva?MSISDN=919810000001&input=121'),
      server.ask('/api/ussd', json(DIAL, { origin: server.url })),
    ]);
    assert.equal(new Set(answers.map(({ status }) => status)), new Set([403]));
    for (const { text } of answers) assert.match(text, /^END /);
  }));

test('of a refused request nothing is left: no session, no try at a PIN, one line in the log, a count', () =>
  withServer({ env: { ...PROXY, USSD_GATEWAYS: '203.0.113.9' } }, async (server) => {
    const gateway = '203.0.113.9';
    const type = async (text: string, id: string, address = gateway) =>
      (await server.ask('/api/ussd', from(address, { ...DIAL, sessionId: id, text }))).text;
    for (const text of ['', '2', '2*2', '2*2*Tariro', '2*2*Tariro*83519', '2*2*Tariro*83519*83519'])
      await type(text, 'create');
    for (const text of ['', '2', '2*1']) await type(text, 'login');
    for (let guess = 0; guess < 5; guess++) assert.match(await type('2*1*47026', 'login', '198.51.100.1'), /^END /);
    for (const text of ['', '2']) await type(text, 'stranger', '198.51.100.2');
    assert.equal((await server.ask('/api/ussd/sessions')).json(), { activeSessions: ['create', 'login'], count: 2 });
    assert.match(await type('2*1*83519', 'login'), /^CON Tariro/, 'nothing was counted against the caller');
    const refused = server.logged.filter(({ reason }) => reason === 'address');
    assert.equal(
      refused.map(({ level, address, dialect }) => [level, address, dialect]),
      [
        [40, '198.51.100.1', 'africastalking'],
        [40, '198.51.100.2', 'africastalking'],
      ],
    );
    const { text } = await server.ask('/metrics');
    const series = 'twinline_ussd_refused_total{dialect="africastalking",reason="address"}';
    assert.is(metric(text, series), `${series} 7`);
  }));

test('a dialect with a secret is let in with it, in each place where a callback can carry one', () =>
  withServer({ env: { USSD_GATEWAYS: `africastalking:${SECRET},hubtel:another-secret-of-hubtel` } }, async (server) => {
    const ask = (query: string, headers: Record<string, string> = {}) =>
      server.ask(`/api/ussd${query}`, json(DIAL, headers));
    const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
    const shown = encodeURIComponent(SECRET);
    const right = await Promise.all([
      ask(`?token=${shown}`),
      ask(`/africastalking?x=1&token=${shown}`),
      ask(`?password=${shown}`),
      ask('', { authorization: `Bearer ${SECRET}` }),
      ask('', basic(`anybody:${SECRET}`)),
    ]);
    for (const { text } of right) assert.match(text, /^CON /);
    const wrong = await Promise.all([
      ask(''),
      ask('?token='),
      ask(`?token=${shown}x`),
      ask('?token=another-secret-of-hubtel'),
      ask(`?token=x&token=${shown}`),
      ask('', { authorization: `Bearer ${SECRET.slice(1)}` }),
      ask('', basic(SECRET)),
      ask('', { authorization: 'Basic' }),
      ask(`/nalo?token=${shown}`),
    ]);
    assert.equal(
      wrong.map(({ status }) => status),
      wrong.map((_, at) => (at === 6 ? 200 : 403)),
      'without a user name the whole of Basic is the password',
    );
    const log = JSON.stringify(server.logged);
    assert.not.ok(
      log.includes(SECRET) || log.includes(shown) || log.includes('another-secret'),
      'in no line of the log',
    );
  }));

test('a signed request is let in when method, address, body and time fit', () =>
  withServer({ env: { USSD_GATEWAYS: `africastalking:${SECRET},comviva:${SECRET}` } }, async (server) => {
    const now = Math.floor(Date.now() / 1_000);
    const body = JSON.stringify({ ...DIAL, sessionId: 'sïgned' });
    const send = (signature: string, asked: AskOptions = {}, url = '/api/ussd') =>
      server.ask(url, { method: 'POST', body, ...asked, headers: { 'x-twinline-signature': signature } });
    const sign = (changes: object = {}, secret = SECRET) =>
      gatewaySignature(secret, { at: now, method: 'POST', url: '/api/ussd', body, ...changes });
    assert.match((await send(sign())).text, /^CON /);
    const reasons = await Promise.all([
      send(sign(), { body: body.replace('sïgned', 'other') }),
      send(sign({ method: 'PUT' })),
      send(sign({ url: '/api/ussd?x' })),
      send(sign({}, `${SECRET}x`)),
      send(sign({ at: now - SERVER_LIMITS.ussdSignatureSeconds - 60 })),
      send(sign({ at: now + SERVER_LIMITS.ussdSignatureSeconds + 60 })),
      send(sign().replace(String(now), String(now - 1))),
      send('v1=00'),
      send(sign(), { body: 'x'.repeat(USSD_LIMITS.ussdBodyBytes + 1) }),
    ]);
    assert.equal(
      reasons.map(({ status }) => status),
      reasons.map(() => 403),
    );
    const url = '/api/ussd/comviva?MSISDN=919810000001&input=121';
    const signed = gatewaySignature(SECRET, { at: now, method: 'GET', url, body: '' });
    assert.match((await send(signed, { method: 'GET', body: '' }, url)).text, /^Welcome/);
    assert.is((await send(signed, { method: 'GET', body: '' }, `${url}0`)).status, 403, 'the query is signed too');
    const { text } = await server.ask('/metrics');
    for (const [reason, count] of Object.entries({ signature: 7, timestamp: 2 })) {
      const series = `twinline_ussd_refused_total{dialect="africastalking",reason="${reason}"}`;
      assert.is(metric(text, series), `${series} ${count}`);
    }
  }));

test('production needs the setting; * is everybody, with a warning at the start', async () => {
  const { problems } = readConfig({ ...PRODUCTION, DATA_DIR: ':memory:' });
  assert.is(problems.length, 1);
  assert.match(problems[0]!, /^USSD_GATEWAYS: is not set: .*USSD_GATEWAYS=203\.0\.113\.0\/24/);
  await withServer({ env: { ...PRODUCTION, USSD_GATEWAYS: '*' } }, async (server) => {
    assert.match(await server.ussd(DIAL), /^CON /);
    const warned = server.logged.filter(({ msg }) => /^USSD_GATEWAYS=\*/.test(String(msg)));
    assert.equal(
      warned.map(({ level }) => level),
      [40],
    );
  });
  await withServer({}, async (server) => {
    assert.match(await server.ussd(DIAL), /^CON /, 'in development everybody may');
    assert.not.match(JSON.stringify(server.logged), /USSD_GATEWAYS/);
  });
});

test('a wrong list is told at the start, without its secrets', () => {
  const problemsOf = (text: string) => readConfig({ DATA_DIR: ':memory:', USSD_GATEWAYS: text }).problems.join('\n');
  assert.match(problemsOf('*,10.0.0.0/8'), /\* stands alone/);
  for (const [text, shown] of [
    ['hubtel:tooshort', 'hubtel:****'],
    ['10.0.0.0/8,Hub tel:mistyped-secret-value', '10.0.0.0/8,****'],
    ['mistyped-secret-value', '****'],
    ['10.0.0.0/99', '10.0.0.0/99'],
  ] as const) {
    const problems = problemsOf(text);
    assert.ok(problems.includes(`USSD_GATEWAYS=${JSON.stringify(shown)}`), problems);
    assert.not.match(problems, /tooshort|mistyped/);
  }
  assert.is(maskSetting('USSD_GATEWAYS', `10.0.0.0/8, hubtel:${SECRET},::1`), '"10.0.0.0/8,hubtel:****,::1"');
  assert.throws(() => ussdGateways([`hubtell:${SECRET}`], { dialects: ['hubtel'] }), /no dialect "hubtell".*hubtel/);
});

test('the log names an address once a minute, and only so many of them', () => {
  const lines: unknown[] = [];
  let now = 0;
  let counted = 0;
  const note = forbiddenGateways({
    metrics: { forbidden: () => counted++ },
    log: { warn: (line: unknown) => lines.push(line) } as never,
    now: () => now,
  });
  const ask = (address: string) => note({ dialect: 'nalo', address, reason: 'address' });
  for (let at = 0; at < 1_000; at++) for (const address of ['a', 'b']) ask(address);
  assert.is(lines.length, 2);
  for (let at = 0; at < 5_000; at++) ask(`c${at}`);
  assert.is(lines.length, SERVER_LIMITS.ussdRefusalsLogged);
  now += 60_000;
  ask('a');
  assert.is(lines.length, SERVER_LIMITS.ussdRefusalsLogged + 1);
  assert.is(counted, 7_001);
});

test('operators dial in production from the page of phones, whatever the list; others cannot', () =>
  withServer(
    { env: { ...PRODUCTION, USSD_GATEWAYS: '203.0.113.9', OPERATOR_TOKEN: 'a-token-of-operators-0001' } },
    async (server) => {
      const authorization = 'Bearer a-token-of-operators-0001';
      const phone = { ...DIAL, sessionId: 'sim-1' };
      const dial = (headers: Record<string, string>, fields: object = phone) =>
        server.ask('/simulator/dial', json(fields, headers));
      const own = { origin: server.url, authorization };
      const first = await dial(own);
      assert.equal([first.status, first.headers['content-type']], [200, 'text/plain; charset=utf-8']);
      assert.match(first.text, /^CON Welcome/);
      assert.match((await dial(own, { ...phone, text: '1' })).text, /^CON Know more/);
      assert.is((await dial(own, { ...phone, phoneNumber: 'x' })).text, 'END Invalid input. Please try again.');
      assert.is((await dial({ origin: server.url })).status, 401);
      assert.is((await dial({ ...own, origin: 'https://evil.example' })).status, 400);
      assert.is((await asGateway(server)).status, 403);
    },
  ));

const asGateway = (server: Served) => server.ask('/api/ussd', json(DIAL));

test.run();
