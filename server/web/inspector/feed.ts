// What one viewer is sent in Stately's format: the open sessions, what was kept, and then what happens. Also as a
// WebSocket, which Stately's own tools read: createWebSocketReceiver({ server: 'ws://…/inspector/stately' }).

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { PAGE_LIMITS } from '../limits.ts';
import type { Hub } from './hub.ts';
import type { Machines } from './machines.ts';
import { eventMessages, newActorMessage, type StatelyMessage, sessionMessage } from './stately.ts';
import type { OpenSession, TraceEvent } from './trace.ts';

export interface FeedSource {
  readonly hub: Hub;
  readonly machines: Pick<Machines, 'definition'>;
  /** Sessions as they are stored now. */
  readonly openSessions: (signal: AbortSignal) => AsyncIterable<OpenSession>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface InspectorFeedOptions {
  readonly signal: AbortSignal;
  /** Stately's own viewer draws every actor by itself. @default 'once' for each version of a machine */
  readonly definitions?: 'once' | 'always';
}

/**
 * Batches of messages as JSON texts, until the signal aborts or PAGE_LIMITS.inspectorQueue events wait: then the viewer is too
 * slow, and it ends.
 */
export async function* feed(
  { hub, machines, openSessions, now }: FeedSource,
  { signal, definitions = 'once' }: InspectorFeedOptions,
): AsyncGenerator<readonly string[]> {
  let waiting: TraceEvent[] = [...hub.events()];
  let wake = () => {};
  let isSlow = false;
  const detach = hub.attach((events) => {
    waiting.push(...events);
    isSlow ||= waiting.length > PAGE_LIMITS.inspectorQueue;
    wake();
  });
  signal.addEventListener('abort', () => wake(), { once: true });
  const actors = new Set<string>();
  const defined = new Set<string>();
  const definition = (machine: string, version: number): string | undefined => {
    const name = `${machine} ${version}`;
    if (definitions === 'once' && defined.has(name)) return undefined;
    defined.add(name);
    return machines.definition(machine);
  };
  const formatEvent = (event: TraceEvent): string[] => {
    const { actor, machine, version } = event;
    if (actors.has(actor)) return eventTexts(event);
    actors.add(actor);
    return [JSON.stringify(newActorMessage(event, definition(machine, version))), ...eventTexts(event)];
  };
  try {
    for await (const session of openSessions(signal)) {
      actors.add(session.actor);
      const message: StatelyMessage = sessionMessage(session, definition(session.machine, session.version), now());
      yield [JSON.stringify(message)];
    }
    while (!signal.aborted && !isSlow) {
      const batch = waiting;
      waiting = [];
      if (batch.length) yield batch.flatMap(formatEvent);
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    detach();
  }
}

// Ten viewers are sent the same texts.
const texts = new WeakMap<TraceEvent, string[]>();

function eventTexts(event: TraceEvent): string[] {
  const known = texts.get(event) ?? eventMessages(event).map((message) => JSON.stringify(message));
  texts.set(event, known);
  return known;
}

export interface StatelySocket {
  /** Takes a request over; the caller has made sure of who asks. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

export interface StatelySocketOptions {
  /** Batches of messages as JSON texts, until the signal aborts. */
  readonly messages: (signal: AbortSignal) => AsyncIterable<readonly string[]>;
  readonly onProblem: (error: unknown) => void;
}

const TOO_SLOW = 4008;
const TRY_AGAIN = 1013;
/** What a viewer says is not listened to, so there is nothing to say. */
const VIEWER_BYTES = 1_024;

/** Serves the messages to everybody who comes; the slow are cut off. */
export function statelySocket({ messages, onProblem }: StatelySocketOptions): StatelySocket {
  const server = new WebSocketServer({ noServer: true, maxPayload: VIEWER_BYTES, perMessageDeflate: false });

  async function serve(socket: WebSocket): Promise<void> {
    const ended = new AbortController();
    socket.once('close', () => ended.abort());
    socket.on('error', () => socket.terminate());
    const beat = setInterval(() => socket.ping(), SERVER_LIMITS.eventHeartbeatMs);
    try {
      for await (const batch of messages(ended.signal)) {
        for (const text of batch) socket.send(text);
        if (socket.bufferedAmount > PAGE_LIMITS.inspectorSocketBytes) return socket.close(TOO_SLOW, 'too slow');
      }
      socket.close(TRY_AGAIN);
    } finally {
      clearInterval(beat);
    }
  }

  return {
    upgrade(req, socket, head) {
      if (server.clients.size >= PAGE_LIMITS.inspectorViewers) return refuse(socket);
      server.handleUpgrade(req, socket, head, (opened) => void serve(opened).catch(onProblem));
    },
    close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

function refuse(socket: Duplex): void {
  socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
}
