// Calls of tools that run at the client: each is offered to the connected clients, or to the first one that connects.
//
// Clients act on every event of a call that they get, so a call is offered once: to the room when a client is in it, and
// otherwise to the next client, on any instance. A compare-and-set in the store decides which instance offers it.

import type { RunCall } from '../../../machines/agent-stream.ts';
import type { Channel, Unsubscribe } from '../../store/channel.ts';
import type { JsonObject } from '../../store/store.ts';
import type { Room } from '../room.ts';
import type { Run, Runs } from './run.ts';

/** How calls are offered to clients. */
export interface CallEvent {
  readonly event: 'browser_tool_call' | 'action_call';
  readonly payload: JsonObject;
}

export interface Offers {
  /** Ids of calls of the live run that were offered and have no result. */
  waiting(session: string): Promise<string[]>;
  /** Takes the waiting calls that were not offered yet; the caller must offer them now. */
  take(session: string): Promise<CallEvent[]>;
  /** Asks every process to take the waiting calls of a session and tell them to the clients it has. Never rejects. */
  announce(session: string): Promise<void>;
  close: Unsubscribe;
}

export interface OfferOptions {
  readonly runs: Pick<Runs, 'open' | 'handOut'>;
  readonly channel: Channel;
  readonly room: Pick<Room, 'tell' | 'isHeard'>;
  readonly onProblem: (error: unknown) => void;
}

const TOPIC = 'agent/calls';

/** Begins to listen for calls that other processes announce. */
export async function openOffers({ runs, channel, room, onProblem }: OfferOptions): Promise<Offers> {
  async function take(session: string): Promise<CallEvent[]> {
    const taken: CallEvent[] = [];
    for (const run of await runs.open(session))
      for (const call of run.context.calls.filter(isUntold))
        if (await runs.handOut(run.id, call.id)) taken.push(callEvent(run, call));
    return taken;
  }

  async function tellRoom(session: string): Promise<void> {
    if (!room.isHeard(session)) return;
    for (const { event, payload } of await take(session)) await room.tell(session, event, payload);
  }

  const close = await channel.subscribe(TOPIC, {
    onMessage: (session) => void tellRoom(session).catch(onProblem),
  });
  return {
    take,
    async waiting(session) {
      const calls = (await runs.open(session)).flatMap(({ context }) => context.calls);
      return calls.filter((call) => isOpen(call) && call.args === undefined).map(({ id }) => id);
    },
    // Somebody may have come here while the call was being stored.
    announce: async (session) => {
      await Promise.all([tellRoom(session), channel.publish(TOPIC, session)]).catch(onProblem);
    },
    close,
  };
}

const isOpen = ({ result }: RunCall) => result === undefined;
const isUntold = (call: RunCall) => isOpen(call) && call.args !== undefined;

/** The event by which a call of this run is offered. */
export function callEvent(
  { body }: Pick<Run, 'body'>,
  call: Pick<RunCall, 'id' | 'kind' | 'name' | 'args'>,
): CallEvent {
  const { session: sessionId, requestId } = body;
  const { id: toolCallId, name: toolName, args = {} } = call;
  const told = { sessionId, requestId, toolCallId, toolName, args: args as JsonObject };
  return call.kind === 'browser'
    ? { event: 'browser_tool_call', payload: told }
    : { event: 'action_call', payload: { ...told, status: 'isRunning' } };
}
