// A whole server with the real services, dialled as a telecom does it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, startServer } from 'twinline/server';

const ENV = { PORT: '0', DATA_DIR: ':memory:', LOG_LEVEL: 'silent', SERVICES: './services/bills.js' };

test('a caller finds a bill', async () => {
  const { config, problems } = readConfig(ENV, { makeKeys: true });
  assert.deepEqual(problems, []);
  assert.ok(config);
  const server = await startServer(config);
  const dial = async (/** @type {string} */ text) => {
    const fields = { sessionId: 's1', serviceCode: '*100#', phoneNumber: '+254712345678', text };
    return (await fetch(`${server.url}/api/ussd`, { method: 'POST', body: new URLSearchParams(fields) })).text();
  };
  try {
    assert.match(await dial(''), /^CON Green Valley Water/);
    assert.match(await dial('1'), /^CON Enter the number/);
    assert.match(await dial('1*100200'), /^CON Wanjiku Otieno\nTo pay: KES 1,250\.00/);
  } finally {
    await server.close({ drainDelayMs: 0 });
  }
});
