// Every promise of a telecom adapter, against the recorded dialogue; and a caller who dials a whole server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireConfig, startServer } from 'twinline/server';
import { adapterChecks, telecomGateway } from 'twinline/testing';
import adapter from '../index.js';
import { dialect, dialogue } from './gateway.js';

for (const { name, run, skip } of adapterChecks(adapter, { dialogue, client: dialect.read })) test(name, { skip }, run);

test('a caller finds the menu, and goes', async () => {
  const config = requireConfig({ PORT: '0', DATA_DIR: ':memory:', LOG_LEVEL: 'silent' });
  const server = await startServer(config, { adapters: [adapter] });
  try {
    const caller = telecomGateway(dialect, { url: server.url }).caller({ phoneNumber: '+260971230001' });
    assert.match((await caller.dial()).text, /^Welcome to Twinline/);
    assert.match((await caller.type('1')).text, /^Know more/);
    await caller.hangUp();
  } finally {
    await server.close({ drainDelayMs: 0 });
  }
});
