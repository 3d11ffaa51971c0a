// Calls of tools and actions that wait for a client, sent when one connects.

import type { Agent } from '../../lib/agent/agent.ts';
import type { Member } from './member.ts';
import { sendDirect } from './recovery.ts';
import { wordsOf } from './room-events.ts';

type Offering = { readonly offers: Pick<Agent['offers'], 'waiting' | 'take'> };

/** Sends a socket the calls of a session that were not offered to any client yet. */
export async function offerCalls({ offers }: Offering, { socket }: Member, session: string): Promise<void> {
  for (const { event, payload } of await offers.take(session))
    for (const [name, words] of wordsOf(event, payload)) sendDirect(socket, name, words);
}

const CALLS: ReadonlySet<unknown> = new Set(['browser_tool_call', 'action_call']);

/** The ids of the calls of these sessions that a reconnecting client may still get. */
export async function waitingCalls({ offers }: Offering, sessions: Iterable<string>): Promise<ReadonlySet<unknown>> {
  const found = await Promise.all([...sessions].map((session) => offers.waiting(session)));
  return new Set(found.flat());
}

/** Whether a missed event is still to be sent: a call that no longer waits must not be executed. */
export function isStillOf(waiting: ReadonlySet<unknown>, [event, payload]: readonly [string, ...unknown[]]): boolean {
  return !CALLS.has(event) || waiting.has((payload as { readonly toolCallId?: unknown } | null)?.toolCallId);
}
