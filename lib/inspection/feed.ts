// What one viewer is sent in Stately's format: the open sessions, what was kept, and then what happens.

import type { Hub } from './hub.ts';
import { INSPECTION_LIMITS } from './limits.ts';
import { eventMessages, newActorMessage, type StatelyMessage, sessionMessage } from './stately.ts';
import type { OpenSession, TraceEvent } from './trace.ts';

export interface FeedSource {
  readonly hub: Hub;
  /** The config of a machine as JSON, as Stately's tools read it; undefined for one that is not known. */
  readonly definition: (machine: string) => string | undefined;
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
 * Batches of messages as JSON texts, until the signal aborts or INSPECTION_LIMITS.inspectorQueue events wait: then the viewer is too
 * slow, and it ends.
 */
export async function* feed(
  { hub, definition, openSessions, now }: FeedSource,
  { signal, definitions = 'once' }: InspectorFeedOptions,
): AsyncGenerator<readonly string[]> {
  let waiting: TraceEvent[] = [...hub.events()];
  let wake = () => {};
  let isSlow = false;
  const detach = hub.attach((events) => {
    waiting.push(...events);
    isSlow ||= waiting.length > INSPECTION_LIMITS.inspectorQueue;
    wake();
  });
  signal.addEventListener('abort', () => wake(), { once: true });
  const actors = new Set<string>();
  const defined = new Set<string>();
  const define = (machine: string, version: number): string | undefined => {
    const name = `${machine} ${version}`;
    if (definitions === 'once' && defined.has(name)) return undefined;
    defined.add(name);
    return definition(machine);
  };
  const formatEvent = (event: TraceEvent): string[] => {
    const { actor, machine, version } = event;
    if (actors.has(actor)) return eventTexts(event);
    actors.add(actor);
    return [JSON.stringify(newActorMessage(event, define(machine, version))), ...eventTexts(event)];
  };
  try {
    for await (const session of openSessions(signal)) {
      actors.add(session.actor);
      const message: StatelyMessage = sessionMessage(session, define(session.machine, session.version), now());
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
  const json = texts.get(event) ?? eventMessages(event).map((message) => JSON.stringify(message));
  texts.set(event, json);
  return json;
}
