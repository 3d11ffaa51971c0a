// Socket admission: a handshake must name one session and present a valid token, and the user must own the session.

import type { Socket } from 'socket.io';
import type { Agent } from '../../lib/agent/agent.ts';
import { type AgentUser, type AuthOptions, authenticateUser, type PresentedTokens } from '../user/authenticate.ts';
import { AgentError } from '../user/errors.ts';
import type { KeptState } from './leaving.ts';
import { findWaitingCalls } from './room-events.ts';

export type AdmissionVerdict =
  | {
      readonly kind: 'welcome';
      readonly user: AgentUser;
      readonly session: string;
      readonly sessions: Set<string>;
      /** After a reconnection: ids of the calls still waiting for an answer. */
      readonly waiting: ReadonlySet<unknown>;
    }
  /** Retrying will not help. */
  | { readonly kind: 'refused' }
  /** A dependency failed; retrying may help. */
  | { readonly kind: 'unknown'; readonly error: unknown };

export interface AdmissionOptions extends AuthOptions {
  readonly agent: Pick<Agent, 'offers'> & { readonly sessions: Pick<Agent['sessions'], 'owns'> };
  /** Rejects if a plugin refuses the user. @default admits everyone */
  readonly gate?: ((user: { readonly did: string; readonly sessionId: string }) => Promise<void>) | undefined;
}

const NONE: ReadonlySet<unknown> = new Set();
const REFUSED: AdmissionVerdict = { kind: 'refused' };

/** Checks a handshake. Never rejects. */
export async function admit(options: AdmissionOptions, socket: Socket): Promise<AdmissionVerdict> {
  try {
    const session = readSession(socket);
    const presented = readPresented(socket.handshake.auth);
    if (session === undefined || !presented) return REFUSED;
    const user = await authenticateUser(options, presented);
    const owns = (id: string) => options.agent.sessions.owns(user.did, id);
    const before = readKept(socket);
    if ((before && before.did !== user.did) || !(await owns(session))) return REFUSED;
    await options.gate?.({ did: user.did, sessionId: session });
    const sessions = new Set([session]);
    for (const id of before?.sessions ?? []) if (sessions.has(id) || (await owns(id))) sessions.add(id);
    const waiting = before ? await findWaitingCalls(options.agent, sessions) : NONE;
    return { kind: 'welcome', user, session, sessions, waiting };
  } catch (error) {
    return error instanceof AgentError && error.body.statusCode < 500 ? REFUSED : { kind: 'unknown', error };
  }
}

// Exactly one session id: two servers could read duplicates differently.
function readSession({ handshake }: Socket): string | undefined {
  const named = new URL(handshake.url, 'http://socket').searchParams.getAll('sessionId');
  return named.length === 1 && named[0] !== '' && named[0]!.length <= SESSION_CHARS ? named[0] : undefined;
}

const SESSION_CHARS = 128;

function readPresented(auth: unknown): PresentedTokens | undefined {
  const { invocation, ucanDelegation } = (auth ?? {}) as { invocation?: unknown; ucanDelegation?: unknown };
  const tokens = [invocation, ucanDelegation].map((token) => (token === null || token === '' ? undefined : token));
  if (tokens.some((token) => token !== undefined && typeof token !== 'string')) return undefined;
  const [first, second] = tokens as (string | undefined)[];
  return { invocation: first, delegation: second };
}

// The state of a socket before its connection broke, after a reconnection.
function readKept({ recovered, data }: Socket): KeptState | undefined {
  return recovered ? (data as KeptState) : undefined;
}
