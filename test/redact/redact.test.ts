// Secrets in the words of others: found in every form in which they may stand there, and nothing else is touched.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  findRedactor,
  holdsSecret,
  listCredentials,
  listRequestSecrets,
  listTexts,
  listUrlSecrets,
  MASK,
  mayQuote,
  redactor,
} from '../../lib/redact.ts';

const test = suite('redactor');

const KEY = 'sk-Grüße/+"7?x';
const redact = redactor([KEY]);
const masks = (text: string, ...secrets: string[]) => redactor(secrets).text(text);

test('the mask says nothing of what it hides', () => assert.is(MASK, '****'));

test('a long secret is masked wherever it stands, also within a word and more than once', () => {
  assert.is(redact.text(KEY), MASK);
  assert.is(redact.text(`a${KEY}b ${KEY}`), `a${MASK}b ${MASK}`);
  assert.is(masks('x12345678y', '12345678'), `x${MASK}y`, 'eight characters are long');
});

test('a secret is masked as it stands in JSON, in JSON within JSON, and in a URL', () => {
  const once = JSON.stringify(KEY).slice(1, -1);
  const twice = JSON.stringify(once).slice(1, -1);
  assert.is(redact.text(`{"key":"${once}"}`), `{"key":"${MASK}"}`);
  assert.is(redact.text(`{"line":"${twice}"}`), `{"line":"${MASK}"}`);
  assert.is(redact.text(`?key=${encodeURIComponent(KEY)}&a=1`), `?key=${MASK}&a=1`);
});

test('a secret is masked in base64 and base64url, wherever it begins in what is encoded, and in hex', () => {
  const odd = 'a?>b?>c?>d';
  for (const secret of [KEY, odd])
    for (const before of ['', 'u', 'us', 'use'])
      for (const after of ['', '.', '..']) {
        const said = Buffer.from(`${before}${secret}${after}`);
        for (const encoding of ['base64', 'base64url'] as const) {
          const masked = masks(`<${said.toString(encoding)}>`, secret);
          assert.ok(masked.includes(MASK), `${encoding} of ${said}: ${masked}`);
          // What is left are the characters that its neighbours have a part in.
          assert.ok(masked.length <= 2 + MASK.length + 8, `${encoding} of ${said}: ${masked}`);
        }
      }
  const hex = Buffer.from(KEY).toString('hex');
  assert.is(redact.text(`<${hex}> <${hex.toUpperCase()}>`), `<${MASK}> <${MASK}>`);
});

test('what is encoded is masked in full when it is the secret alone', () => {
  assert.is(masks(Buffer.from('ninechars').toString('base64'), 'ninechars'), MASK);
  assert.is(masks(`a ${Buffer.from('4829').toString('hex')}`, '4829'), `a ${MASK}`);
});

test('a short secret is masked where it stands by itself, and not within words, amounts and times', () => {
  const pin = redactor(['4829']);
  for (const said of ['4829', 'PIN 4829.', '(4829)', 'pin=4829', '"4829"', '4829, please', '4829. Then'])
    assert.is(pin.text(said), said.replace('4829', MASK));
  for (const said of ['14829', '48290', '4829.5', '4829,50', '0.4829', '1,4829', 'a4829', '4829_', 'KES4829'])
    assert.is(pin.text(said), said);
  assert.is(masks('pin 1234567.', '1234567'), `pin ${MASK}.`, 'seven characters are short');
  assert.is(masks('x1234567', '1234567'), 'x1234567');
});

test('a short secret with signs is masked as it stands in JSON too', () => {
  assert.is(masks('he said "a\\"bc" twice', 'a"bc'), `he said "${MASK}" twice`);
  assert.is(masks('either a|bc or d.ef, not dxef', 'a|bc', 'd.ef'), `either ${MASK} or ${MASK}, not dxef`);
});

test('a secret of fewer than four characters is masked only where it is the whole text', () => {
  assert.is(masks('1', '1'), MASK);
  assert.is(masks('123', '123'), MASK);
  assert.is(masks('1 of 123', '1', '123'), '1 of 123');
  assert.is(masks('MTIz 313233', '123'), 'MTIz 313233');
});

test('of two secrets where one begins the other, the longer is masked as a whole', () => {
  assert.is(masks('<token-1234-5678>', 'token-1234', 'token-1234-5678'), `<${MASK}>`);
  assert.is(masks('<token-1234-5678>', 'token-1234-5678', 'token-1234'), `<${MASK}>`);
});

test('signs that mean something in a pattern are taken as they are', () => {
  for (const sign of '\\^$.*+?()[]{}|') {
    const secret = `abcd${sign}efgh`;
    assert.is(masks(`(${secret})`, secret), `(${MASK})`);
    assert.is(masks('abcdefgh abcdxefgh abcddefgh', secret), 'abcdefgh abcdxefgh abcddefgh');
  }
});

test('without secrets nothing is changed, and absent or empty ones are none', () => {
  const none = redactor([undefined, '']);
  assert.is(none.text('undefined, and nothing'), 'undefined, and nothing');
  assert.is(none.text(''), '');
  const value = { a: [1, 'x'] };
  assert.is(none.json(value), value, 'the value itself');
});

test('names, texts and numbers of a value are masked, at any depth', () => {
  const value = { 4829: 'at 4829', list: ['4829', 4829, 48290, { pin: 4829 }], n: null, yes: true, no: 1.5 };
  assert.equal(redactor(['4829']).json(value), {
    [MASK]: `at ${MASK}`,
    list: [MASK, MASK, 48290, { pin: MASK }],
    n: null,
    yes: true,
    no: 1.5,
  });
  assert.is(redactor(['04829']).json(4829), MASK, 'a zero before it is lost in a number');
});

test('texts and numbers of a value are listed, at any depth and in their order; what else JSON has is none', () =>
  assert.equal(listTexts({ a: 'one', b: [2, null, true, { c: 'three' }], d: '' }), ['one', '2', 'three', '']));

test('numbers are masked for secrets of digits that are long enough', () => {
  assert.is(redactor(['123']).json(123), 123);
  assert.is(redactor(['1e10']).json(1e10), 1e10);
  assert.is(redactor(['0x1F']).json(31), 31);
  assert.is(redactor(['0031x']).json(31), 31);
  assert.is(redactor(['    ']).json(0), 0);
  assert.is(redactor(['12345']).json(12345), MASK);
  assert.is(redactor(['secret-1', '12345']).json(12345), MASK, 'one of several');
});

test('a value that JSON cannot hold stays as it is', () => {
  const nothing = undefined as never;
  assert.is(redactor(['secret-1']).json(nothing), undefined);
  const act = (() => 'secret-1') as never;
  assert.is(redactor(['secret-1']).json(act), act);
});

test('an error is remembered with what it may quote, by itself and by nothing else', () => {
  const error = new Error('no');
  const own = redactor(['secret-1']);
  assert.is(mayQuote(error, own), error);
  assert.is(findRedactor(error), own);
  assert.is(findRedactor(new Error('no')), undefined);
  for (const thrown of ['text', undefined, null, 7]) {
    assert.is(mayQuote(thrown, own), thrown);
    assert.is(findRedactor(thrown), undefined);
  }
});

test('a text holds a secret in any form, also a short one within words', () => {
  const bytes = Buffer.from('4829');
  for (const text of ['4829', 'x48290', bytes.toString('base64').slice(0, 5), bytes.toString('hex'), '[4829]'])
    assert.ok(holdsSecret(text, ['other-one', '4829']), text);
  assert.ok(holdsSecret(encodeURIComponent('a b&c'), ['a b&c']));
  assert.not(holdsSecret('482 9', ['4829']));
  assert.not(holdsSecret('anything', []));
  assert.ok(holdsSecret('<3132>', ['12']));
  assert.not(holdsSecret('anything', ['1']), 'what is left of one character in base64 is no form of it');
});

test('credentials are found by the names of fields, whatever their case', () => {
  const names = [
    ...['Cookie', 'authorization', 'Proxy-Authorization', 'api-key', 'X-API-Key', 'apikey', 'api_key', 'key'],
    ...['token', 'access_token', 'client-secret', 'db-password', 'x-auth', 'Signature', 'x-ucan-delegation'],
    ...['ucan-invocation', 'X-Auth-Token', 'secret', 'auth'],
  ];
  for (const name of names) assert.equal(listCredentials({ [name]: 'abcdefgh' }), ['abcdefgh'], name);
  for (const name of [
    'monkey',
    'keys',
    'tokens',
    'cookies',
    'set-cookie',
    'x-authorization',
    'author',
    'key-id',
    'xapikey',
  ])
    assert.equal(listCredentials({ [name]: 'abcdefgh' }), [], name);
});

test('of credentials only texts of eight characters or more count, without the scheme before them', () => {
  assert.equal(listCredentials({ key: 'maize', token: 12345678, auth: null }), []);
  assert.equal(listCredentials({ authorization: 'Bearer abcdefgh' }), ['abcdefgh']);
  assert.equal(listCredentials({ authorization: 'Bearer   abcdefgh ijk' }), ['abcdefgh ijk']);
  assert.equal(listCredentials({ authorization: 'Bearer abc' }), [], 'the scheme does not count');
  assert.equal(listCredentials({ authorization: 'MAC id="1", x' }), ['id="1", x']);
  assert.equal(listCredentials({ authorization: 'a-b abcdefgh' }), ['a-b abcdefgh'], 'no scheme');
  assert.equal(listCredentials({ token: 'a bcdefgh\nijk' }), ['a bcdefgh\nijk'], 'a scheme stands in one line');
  assert.equal(listCredentials({ key: '1234567', token: '12345678' }), ['12345678']);
  for (const fields of [undefined, null, 'key=abcdefgh', 7, ['abcdefgh']]) assert.equal(listCredentials(fields), []);
});

test('of Basic the login, and its password by itself, are secrets too', () => {
  const basic = (login: string) => Buffer.from(login).toString('base64');
  const login = basic('joseph:hunter2-hunter2');
  assert.equal(listCredentials({ authorization: `Basic ${login}` }), [
    login,
    'joseph:hunter2-hunter2',
    'hunter2-hunter2',
  ]);
  assert.equal(listCredentials({ authorization: `bASIC ${login}` }).length, 3);
  assert.equal(listCredentials({ authorization: `Bearer ${login}` }), [login]);
  const alone = basic('only-a-secret');
  assert.equal(listCredentials({ authorization: `Basic ${alone}` }), [alone, 'only-a-secret', 'only-a-secret']);
  const short = basic('joe:pw');
  assert.equal(listCredentials({ authorization: `Basic ${short}` }), [short]);
});

test('the secrets of a URL are its login, its password and the parameters that are credentials', () => {
  assert.equal(listUrlSecrets('redis://joe:pass%2Fword@host:6379/0'), [
    ...['joe:pass%2Fword', 'joe:pass/word'],
    ...['pass%2Fword', 'pass/word'],
  ]);
  assert.equal(listUrlSecrets('redis://secret-only@host'), Array(4).fill('secret-only'));
  assert.equal(listUrlSecrets('https://host/a?key=abc%2Fdefgh&page=12345678#token=ijklmnop'), ['abc/defgh']);
  assert.equal(listUrlSecrets('https://host/?x=1#?key=abcdefgh'), []);
  assert.equal(listUrlSecrets('https://joe:%zz@host?token=abcdefgh'), ['joe:%zz', 'joe:%zz', '%zz', '%zz', 'abcdefgh']);
  for (const url of [
    'https://host/a@b',
    'https://host?mail=a@b',
    'https://host/#a@b',
    'https://host',
    'a@b',
    undefined,
    7,
    ['https://host?token=abcdefgh'],
  ])
    assert.equal(listUrlSecrets(url), [], String(url));
});

test('the secrets of a request are those of its URL, its parameters and its headers', () => {
  const request = {
    url: 'https://host/?key=in-the-url',
    query: { token: 'in-the-query', page: 'page-of-many' },
    headers: { authorization: 'Bearer in-the-headers', accept: 'application/json' },
    body: { token: 'in-the-body' },
  };
  assert.equal(listRequestSecrets(request), ['in-the-url', 'in-the-query', 'in-the-headers']);
  assert.equal(listRequestSecrets({}), []);
});

test.run();
