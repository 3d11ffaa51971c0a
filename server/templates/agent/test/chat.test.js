// A chat with the agent over HTTP, by one who has made a key and signed a token with it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig, startServer } from 'twinline/server';

test('a question is answered', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-'));
  const env = { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent', AGENT_FLOW: 'assistant', USSD_FLOW: 'assistant' };
  const { config, problems } = readConfig(env, { makeKeys: true });
  assert.deepEqual(problems, []);
  assert.ok(config);
  const server = await startServer(config);
  try {
    const token = execFileSync('npx', ['--no', 'twinline', 'token'], { env: { ...process.env, ...env } });
    const headers = { authorization: `Bearer ${String(token).trim()}`, 'x-auth-type': 'ucan' };
    /** @type {(path: string, message?: string) => Promise<any>} */
    const ask = async (path, message) => {
      const body = message && { body: JSON.stringify({ message }) };
      const type = message && { 'content-type': 'application/json' };
      const answer = await fetch(server.url + path, { method: 'POST', headers: { ...headers, ...type }, ...body });
      assert.ok(answer.ok, await answer.clone().text());
      return answer.json();
    };
    const { sessionId } = await ask('/sessions');
    await ask(`/messages/${sessionId}`, 'hello');
    const { message } = await ask(`/messages/${sessionId}`, 'When are you open?');
    assert.match(JSON.stringify(message), /open from 8 to 17/);
  } finally {
    await server.close({ drainDelayMs: 0 });
    rmSync(folder, { recursive: true, force: true });
  }
});
