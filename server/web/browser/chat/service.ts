// The chats of this browser: the client of the agent service with tokens of this site, kept in memory only.

import type { RunView } from '../../../../lib/agent/run/run.ts';
import type { Message, MessagePage } from '../../../../lib/agent/session/message.ts';
import type { ChatSession } from '../../../../lib/agent/session/session.ts';
import { agentClient } from '../../../../lib/client/agent.ts';
import { readProblem } from '../../../../lib/client/errors.ts';

const { ask, follow, sendMessage } = agentClient({ credential: mint });

export { follow, sendMessage };

let did: string | undefined;

/** The user of this browser. */
export async function user(): Promise<string> {
  if (did === undefined) await sessionPage(1, 0);
  return did!;
}

async function mint() {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch('/chat/token', { method: 'POST', headers, body: '{}' });
  if (!answer.ok) throw await readProblem('POST /chat/token', answer);
  const made = (await answer.json()) as { token: string; did: string; expiresIn: number };
  did = made.did;
  // Renewed after nine tenths of its lifetime.
  return { value: made.token, expiresAt: Date.now() + made.expiresIn * 900 };
}

export const newSession = (): Promise<ChatSession> => ask('POST /sessions');
export const sessionPage = (limit: number, offset: number): Promise<{ sessions: ChatSession[]; total: number }> =>
  ask('GET /sessions', { query: { limit, offset } });
export const deleteSession = (sessionId: string) => ask('DELETE /sessions/{sessionId}', { path: { sessionId } });
export const openRun = async (sessionId: string): Promise<RunView | null> =>
  (await ask('GET /sessions/{sessionId}/run', { path: { sessionId } })).run;
/** The newest messages, or those before a cursor. */
export const messagePage = (sessionId: string, before?: string): Promise<MessagePage> =>
  ask('GET /sessions/{sessionId}/messages', { path: { sessionId }, query: { limit: 30, before } });
export const abortRun = (sessionId: string, runId: string) =>
  ask('POST /messages/abort', { body: { sessionId, runId } });

/** Id of a run's message in the transcript; undefined without `crypto.subtle`, over plain HTTP. */
export async function makeMessageId(runId: string, type: Message['type']): Promise<string | undefined> {
  const bytes = await globalThis.crypto.subtle?.digest('SHA-256', new TextEncoder().encode(`${runId}/${type}`));
  return bytes && [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
