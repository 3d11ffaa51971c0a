// The plugin on a whole server, asked by a user with a token.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { requireConfig, startServer } from 'twinline/server';
import plugin from '../index.js';

const folder = mkdtempSync(join(tmpdir(), 'plugin-'));
const env = { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent' };
/** @type {import('twinline/server').RunningServer} */
let server;
/** @type {Record<string, string>} */
let headers;

before(async () => {
  server = await startServer(requireConfig(env), { plugins: [plugin] });
  const token = execFileSync('npx', ['--no', 'twinline', 'token'], { env: { ...process.env, ...env } });
  const authorization = `Bearer ${String(token).trim()}`;
  headers = { authorization, 'x-auth-type': 'ucan', 'content-type': 'application/json' };
});
after(async () => {
  await server.close({ drainDelayMs: 0 });
  rmSync(folder, { recursive: true, force: true });
});

const post = (/** @type {object} */ note) =>
  fetch(`${server.url}/notes`, { method: 'POST', headers, body: JSON.stringify(note) });

test('a note is kept for its user', async () => {
  assert.equal((await post({ text: 'buy stoves' })).status, 201);
  assert.deepEqual(await (await fetch(`${server.url}/notes`, { headers })).json(), { notes: ['buy stoves'] });
});

test('a note without text is refused, and so is one who has no token', async () => {
  assert.equal((await post({ text: '' })).status, 400);
  assert.equal((await fetch(`${server.url}/notes`)).status, 401);
});
