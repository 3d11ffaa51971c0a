// What the page of the inspector knows: the sessions, and the last moments of all of them in the order they came.

import type { Message, Snapshot, Told, ToldMoment } from './inspector-wire.ts';

export interface Moment extends ToldMoment {
  readonly context: Snapshot['context'];
}

export interface Session extends Told {
  readonly context: Snapshot['context'];
  readonly ended: boolean;
  /** Of its last moment; 0 when none was seen. */
  readonly at: number;
  /** Moments that were seen. */
  readonly seen: number;
}

export interface Store {
  take(message: Message): void;
  sessions(): readonly Session[];
  session(actor: string): Session | undefined;
  /** Of a session, or of all of a machine. */
  moments(of: { readonly actor?: string | undefined; readonly machine?: string | undefined }): readonly Moment[];
  /** A stream that begins anew tells everything again. */
  restart(): void;
}

const KEPT = 500;

export function createStore(): Store {
  const sessions = new Map<string, Session>();
  let moments: Moment[] = [];
  let known = new Set<string>();
  return {
    take(message) {
      if (message.type === '@xstate.event' || !message.twinline) return;
      const { context } = message.snapshot;
      if (message.type === '@xstate.actor') {
        const { actor } = message.twinline;
        if (!sessions.has(actor)) sessions.set(actor, { ...message.twinline, context, ended: false, at: 0, seen: 0 });
        return;
      }
      const moment: Moment = { ...message.twinline, context };
      if (known.has(moment.id)) return;
      known.add(moment.id);
      moments.push(moment);
      if (moments.length > KEPT) known.delete(moments.shift()!.id);
      const before = sessions.get(moment.actor);
      sessions.delete(moment.actor);
      sessions.set(moment.actor, { ...before, ...moment, seen: (before?.seen ?? 0) + 1 });
    },
    // Whoever did something last stands first.
    sessions: () => [...sessions.values()].reverse(),
    session: (actor) => sessions.get(actor),
    moments: ({ actor, machine }) =>
      moments.filter((one) => (actor === undefined ? one.machine === machine : one.actor === actor)),
    restart() {
      sessions.clear();
      moments = [];
      known = new Set();
    },
  };
}
