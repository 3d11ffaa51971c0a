// State of the inspector page, read from the stream: sessions and recent events.

import type { SessionMessage, StatelyMessage, TraceMessage } from '../../../../lib/inspection/stately.ts';
import type { Edge } from '../../../../lib/inspection/trace.ts';
import { element, findElement } from '../element.ts';

export type { Edge };

interface WithContext {
  readonly context: { readonly [name: string]: unknown };
}

export type TraceEvent = TraceMessage & WithContext;

export interface ListedSession extends SessionMessage, WithContext {
  readonly ended: boolean;
  /** Time of the last event; 0 without events. */
  readonly at: number;
  /** Number of events. */
  readonly seen: number;
  /** Whether a call or the machine has failed. */
  readonly hasFailed: boolean;
}

/** A machine in the list of the server. */
export interface ListedMachine {
  readonly id: string;
  readonly kind: 'flow' | 'machine' | 'lifecycle';
  readonly version: number;
  readonly title: string;
}

const EVENTS_KEPT = 500;

export function createStore() {
  const sessions = new Map<string, ListedSession>();
  let events: TraceEvent[] = [];
  let ids = new Set<string>();
  return {
    add(message: StatelyMessage): void {
      if (message.type === '@xstate.event' || !message.twinline) return;
      const { context } = message.snapshot;
      if (message.type === '@xstate.actor') {
        const { actor } = message.twinline;
        if (!sessions.has(actor))
          sessions.set(actor, { ...message.twinline, context, ended: false, at: 0, seen: 0, hasFailed: false });
        return;
      }
      const event: TraceEvent = { ...message.twinline, context };
      if (ids.has(event.id)) return;
      ids.add(event.id);
      events.push(event);
      if (events.length > EVENTS_KEPT) ids.delete(events.shift()!.id);
      const before = sessions.get(event.actor);
      sessions.delete(event.actor);
      const hasFailed = before?.hasFailed || event.edges.some(({ event }) => event.startsWith('xstate.error'));
      sessions.set(event.actor, { ...before, ...event, seen: (before?.seen ?? 0) + 1, hasFailed });
    },
    /** Most recent event first. */
    sessions: (): readonly ListedSession[] => [...sessions.values()].reverse(),
    session: (actor: string): ListedSession | undefined => sessions.get(actor),
    /** The events of a session, or of all sessions of a machine. */
    events: ({ actor, machine }: { actor?: string | undefined; machine?: string | undefined }): readonly TraceEvent[] =>
      events.filter((one) => (actor === undefined ? one.machine === machine : one.actor === actor)),
    /** Clears the store for a new stream, which sends everything again. */
    clear(): void {
      sessions.clear();
      events = [];
      ids = new Set();
    },
  };
}

export interface StreamListeners {
  /** The stream starts with a snapshot of the server. */
  readonly onStart: () => void;
  readonly onMessage: (message: StatelyMessage) => void;
}

const RETRY_MS = 2_000;

/** Reads the stream while the page is open; reconnects after failures. */
export function openStream({ onStart, onMessage }: StreamListeners): void {
  const source = new EventSource('/inspector/stream');
  source.onopen = () => {
    showState('live', 'Live');
    onStart();
  };
  source.onmessage = ({ data }: MessageEvent<string>) => onMessage(JSON.parse(data) as StatelyMessage);
  source.onerror = () => {
    showState('gone', 'Not connected; trying again …');
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => openStream({ onStart, onMessage }), RETRY_MS);
  };
  addEventListener('pagehide', () => source.close(), { once: true });
}

function showState(state: 'live' | 'gone', words: string): void {
  findElement('state').replaceChildren(element('span', { class: `dot ${state}` }), words);
}
