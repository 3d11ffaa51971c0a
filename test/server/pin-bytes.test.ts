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
    for (const pin of [PIN, WRONG])
      for (const needle of [pin, Buffer.from(pin).toString('base64').slice(0, 6), Buffer.from(pin).toString('hex')]) {
        for (const text of seen) assert.not.ok(text.includes(needle), `an answer holds ${needle}: ${text}`);
        assert.not.ok(server.printed().includes(needle), `the log holds ${needle}`);
        const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
        assert.ok(files.length >= 3, 'keys, sessions and documents are there');
        for (const { name, parentPath } of files)
          assert.not.ok(readFileSync(join(parentPath, name)).includes(needle), `the file ${name} holds ${needle}`);
      }
  }));

test.run();
