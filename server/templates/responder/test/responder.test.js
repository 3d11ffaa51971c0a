// A chat that the responder answers, on a whole server.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { requireConfig, startServer } from 'twinline/server';
import { counter } from '../index.js';

test('a chat is answered, and what was said before is known', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'responder-'));
  const env = { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent' };
  const server = await startServer(requireConfig(env), { responder: counter });
  try {
    const token = execFileSync('npx', ['--no', 'twinline', 'token'], { env: { ...process.env, ...env } });
    const authorization = `Bearer ${String(token).trim()}`;
    const headers = { authorization, 'x-auth-type': 'ucan', 'content-type': 'application/json' };
    /** @type {(path: string, body: object) => Promise<any>} */
    const post = async (path, body) =>
      (await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    const { sessionId } = await post('/sessions', {});
    const first = await post(`/messages/${sessionId}`, { message: 'Hello' });
    assert.equal(first.message.content, 'You said: Hello\nMessages before: 0');
    const second = await post(`/messages/${sessionId}`, { message: 'Again' });
    assert.equal(second.message.content, 'You said: Again\nMessages before: 2');
  } finally {
    await server.close({ drainDelayMs: 0 });
    rmSync(folder, { recursive: true, force: true });
  }
});
