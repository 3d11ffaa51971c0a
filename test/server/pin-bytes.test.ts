// A PIN that was typed is found in no file, no log and no answer: the bytes are searched.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caller, hangUpAll } from '../support/phone.ts';
import { startProcess, withFolder } from '../support/process.ts';

const test = suite('PIN bytes');

const PIN = '83519';
const WRONG = '47026';

// The same five digits within a longer number, such as a time, are not the PIN.
function holds(text: string, pin: string): boolean {
  const bytes = Buffer.from(pin);
  const plain = new RegExp(`(?<![\\d.])${pin}(?!\\d)`);
  return (
    plain.test(text) || text.includes(bytes.toString('hex')) || text.includes(bytes.toString('base64').slice(0, 6))
  );
}

test('PINs of a whole dialogue are in no file, log, screen, debug answer or metric, in no encoding', () =>
  withFolder(async (folder) => {
    const server = await startProcess({ DATA_DIR: folder, LOG_LEVEL: 'trace' });
    const seen: string[] = [];
    const look = async (path: string) => {
      const answer = await fetch(server.url + path);
      assert.is(answer.status, 200, path);
      seen.push(await answer.text());
    };
    try {
      const line = caller('pin-search', '+260971230001');
      for (const typed of [undefined, '2', '2', 'Tariro Moyo', PIN, WRONG, PIN, '1', WRONG, '1', PIN]) {
        seen.push(await line.send(server.url, typed));
        await look('/api/ussd/debug/pin-search');
      }
      assert.match(seen.at(-2)!, /^CON Tariro Moyo\n/, 'the dialogue was about PINs and succeeded');
      await look('/api/ussd/sessions');
      await look('/metrics');
      await look('/health');
      // What breaks a rule while it carries a PIN must not be quoted either.
      const broken = { sessionId: 'pin-search', serviceCode: '2233', phoneNumber: '+260971230001', text: line.text };
      await fetch(`${server.url}/api/ussd`, { method: 'POST', body: JSON.stringify(broken) });
      await fetch(`${server.url}/api/ussd`, { method: 'POST', body: `{"text":"${line.text}"` });
      await fetch(`${server.url}/api/ussd?text=${line.text}`, { method: 'GET' });
    } finally {
      hangUpAll();
      await server.signal('SIGTERM');
    }
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    assert.ok(files.length >= 3, 'keys, sessions and documents are there');
    for (const pin of [PIN, WRONG]) {
      for (const text of seen) assert.not.ok(holds(text, pin), `an answer holds the PIN: ${text}`);
      assert.not.ok(holds(server.printed(), pin), 'the log holds the PIN');
      for (const { name, parentPath } of files)
        assert.not.ok(holds(readFileSync(join(parentPath, name), 'latin1'), pin), `the file ${name} holds the PIN`);
    }
  }));

test.run();
