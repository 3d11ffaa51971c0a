// A responder of your own: what answers the chats of the agent service, in the place of a model or a flow.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireConfig, startServer } from 'twinline/server';

/** @type {import('twinline/agent').Responder} */
const echo = {
  name: 'echo',
  // A run that was cut off may be answered from its beginning.
  isResumable: true,
  async *respond({ request }) {
    yield { type: 'text', text: 'You said: ' };
    yield { type: 'text', text: request.message };
  },
};

const folder = mkdtempSync(join(tmpdir(), 'responder-'));
const env = { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent' };
const server = await startServer(requireConfig(env), { responder: echo });
// Users sign their requests with keys of their own; this command makes such a token for development.
const token = execFileSync('node_modules/.bin/twinline', ['token'], {
  env: { ...process.env, ...env },
  encoding: 'utf8',
});
const headers = { authorization: `Bearer ${token.trim()}`, 'x-auth-type': 'ucan', 'content-type': 'application/json' };
const post = async (path, body) =>
  (await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();

const { sessionId } = await post('/sessions', {});
const { message } = await post(`/messages/${sessionId}`, { message: 'hello there' });
console.log(message.content);
await server.close({ drainDelayMs: 0 });
rmSync(folder, { recursive: true });

// Prints:
//   You said: hello there
