// The search for secrets that runs when a server of a test ends finds what it must, and nothing that stands there by chance.

import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { refuseLeaks } from '../support/canaries.ts';
import { withFolder } from '../support/process.ts';
import { findTold, noteTyped } from '../support/told-secrets.ts';

const test = suite('canaries');
const URL = 'http://127.0.0.1:1';

test('a PIN that was typed is found as a text and among other inputs, and no number of as many digits', () => {
  noteTyped(URL, 'CON Enter your PIN', '2580');
  noteTyped(URL, 'CON Enter a name', '3690');
  for (const text of [
    '{"a":"2580"}',
    String.raw`{\"a\":\"2580\"}`,
    '"1*2580*3"',
    'text=1%2A2580',
    'pin=2580&x',
    '1*2580',
  ])
    assert.is(findTold(URL, text).length, 1, text);
  for (const text of ['"ms":2580,', '12580*', 'a2580"', '*25801*', '"3690"'])
    assert.equal(findTold(URL, text), [], text);
  assert.equal(findTold('http://127.0.0.1:2', '"2580"'), [], 'of another server');
});

test('tokens of requests are found, also when they were cut, whoever has sent them', async () => {
  const [first, second] = ['token-of-a-request-that-is-long-0123456789', 'key-of-another-one-01'];
  const server = createServer((_req, res) => res.end());
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await fetch(url, { headers: { authorization: `Bearer ${first}` } });
  await new Promise((done) => request(url, { headers: { 'X-API-Key': second } }, done).end());
  server.closeAllConnections();
  server.close();
  assert.is(findTold(URL, `"${first.slice(0, -5)}…"`).length, 1);
  assert.is(findTold(URL, `"${second}"`).length, 1);
  assert.equal(findTold(URL, 'token-of-a-request'), []);
});

test('files of keys and secrets of services are looked for in what is printed and in the folder, but not where they belong', () =>
  withFolder(async (folder) => {
    const [file, key, token] = [join(folder, 'keys.json'), 'key-of-somebody-in-a-file', 'secret-of-a-service'];
    writeFileSync(file, JSON.stringify([{ key, principal: 'did:x:y' }]));
    const entries = [
      { name: 'DATA_DIR', text: folder },
      { name: 'API_KEYS_FILE', text: file },
    ] as const;
    const ended = { entries: entries as never, env: { BILLS_TOKEN: token }, url: URL };
    const fails = (printed: string) => {
      try {
        refuseLeaks(ended, printed);
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    assert.is(fails(`API key ${key} (this run only)`), '');
    assert.match(fails(`no ${key}`), /printed the API key 0/);
    assert.match(fails(Buffer.from(token).toString('hex')), /printed the BILLS_TOKEN \(hex\)/);
    writeFileSync(join(folder, 'store.db'), Buffer.from(`\0\x01${key}\0`));
    assert.match(fails(''), /store\.db: the API key 0/);
    // Larger than what is read at a time; the key lies across the end of the first piece.
    const large = openSync(join(folder, 'store.db'), 'w');
    writeSync(large, key, 64 * 1_048_576 - 5);
    closeSync(large);
    assert.match(fails(''), /store\.db: the API key 0/);
  }));

test.run();
