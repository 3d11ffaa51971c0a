// What one viewer is sent: the sessions that live, what was kept, and then what happens, in Stately's format.

import { PAGE_LIMITS } from '../limits.ts';
import type { Hub } from './hub.ts';
import type { Machines } from './machines.ts';
import type { Moment } from './moment.ts';
import type { Standing } from './sessions.ts';
import { momentMessages, newcomer, type StatelyMessage, standingMessage } from './stately.ts';

export interface FeedSource {
  readonly hub: Hub;
  readonly machines: Pick<Machines, 'definition'>;
  /** Sessions as they are stored now. */
  readonly living: (signal: AbortSignal) => AsyncIterable<Standing>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface FeedOptions {
  readonly signal: AbortSignal;
  /** Stately's own viewer draws every actor by itself. @default 'once' for each version of a machine */
  readonly definitions?: 'once' | 'always';
}

/**
 * Batches of messages as JSON texts, until the signal aborts or PAGE_LIMITS.inspectorQueue moments wait: then the viewer is too
 * slow, and it ends.
 */
export async function* feed(
  { hub, machines, living, now }: FeedSource,
  { signal, definitions = 'once' }: FeedOptions,
): AsyncGenerator<readonly string[]> {
  let waiting: Moment[] = [...hub.moments()];
  let wake = () => {};
  let isSlow = false;
  const detach = hub.attach((moments) => {
    waiting.push(...moments);
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
  const textsOf = (moment: Moment): string[] => {
    const { actor, machine, version } = moment;
    if (actors.has(actor)) return momentTexts(moment);
    actors.add(actor);
    return [JSON.stringify(newcomer(moment, definition(machine, version))), ...momentTexts(moment)];
  };
  try {
    for await (const standing of living(signal)) {
      actors.add(standing.actor);
      const told: StatelyMessage = standingMessage(standing, definition(standing.machine, standing.version), now());
      yield [JSON.stringify(told)];
    }
    while (!signal.aborted && !isSlow) {
      const batch = waiting;
      waiting = [];
      if (batch.length) yield batch.flatMap(textsOf);
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
const texts = new WeakMap<Moment, string[]>();

function momentTexts(moment: Moment): string[] {
  const known = texts.get(moment) ?? momentMessages(moment).map((message) => JSON.stringify(message));
  texts.set(moment, known);
  return known;
}
