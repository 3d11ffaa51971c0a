// Ends of phone sessions without a turn: the caller hung up, the phone began too many, or an operator ended it.

import type { Engine } from '../engine/engine.ts';
import { endSession, removeSession, type SessionView } from '../engine/sessions.ts';
import type { UssdReply } from './adapter.ts';
import { CLOSED } from './dial.ts';
import { DIAL_AGAIN, NOTHING } from './reply.ts';
import type { UssdRequest } from './request.ts';

/** A telecom gateway says that the caller has hung up. */
export async function hangUp(engine: Engine, key: string, request: UssdRequest): Promise<UssdReply> {
  // One that its caller may go on with at the next dial stays until then.
  await removeSession(engine, key, (session) => mayEnd(session, request) && !session.isResumable);
  return NOTHING;
}

/**
 * Ends a phone's live session for an operator: the caller's next input gets {@link DIAL_AGAIN}, and they may dial again.
 * False when there is no live session.
 */
export function closeSession(engine: Engine, key: string): Promise<boolean> {
  return endSession(engine, key, { reply: DIAL_AGAIN.text, door: CLOSED });
}

// Dialects without a phone number must quote the last screen, or name the session in their path.
function mayEnd(
  { door, reply }: Pick<SessionView, 'door' | 'reply'>,
  { phoneNumber, serviceCode, lastReply }: UssdRequest,
): boolean {
  const isSame = (value: string, json: unknown) => value === '' || value === json;
  if (!isSame(phoneNumber, door.phoneNumber) || !isSame(serviceCode, door.serviceCode)) return false;
  return lastReply === undefined || normalizeScreen(lastReply) === normalizeScreen(reply);
}

// Telecoms quote it with or without CON/END, and form encoding may turn line ends into any whitespace.
const normalizeScreen = (screen: string) =>
  screen
    .replace(/^(CON|END)\s/, '')
    .replace(/\s+/g, ' ')
    .trim();
