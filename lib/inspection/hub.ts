// The hub: takes what engines of this process store, and hands it to viewers here and on other instances. While nobody watches,
// it records nothing.
//
// A turn only puts what it stored on a list; masking and sending come later, off the turn's way. A viewer is handed each
// event and keeps its own bounded queue, so that a slow one delays no other.

import { randomBytes } from 'node:crypto';
import type { InspectionEvent, Inspector } from '../engine/conversation.ts';
import { INSPECTION_LIMITS } from './limits.ts';
import { maskEvent, type TraceEvent } from './trace.ts';

/** Is given events in the order in which they are stored. It must not throw. */
export type Viewer = (events: readonly TraceEvent[]) => void;

export interface Hub extends Inspector {
  /** The last events, the oldest first. */
  events(): readonly TraceEvent[];
  /** Hands on what happens from now on, of all instances; the function ends that. */
  attach(viewer: Viewer): () => void;
  readonly viewers: number;
  /** Events of other instances. */
  receive(events: readonly TraceEvent[]): void;
  /** Somebody watches on another instance, for so many milliseconds from now. */
  noteWatchedElsewhere(ms: number): void;
  close(): void;
}

export interface HubOptions {
  /** Makes the names of sessions. */
  readonly secret: Buffer;
  /** The first viewer has come, or the last one has left. */
  readonly onPresence?: (isWatched: boolean) => void;
  /** Own events while there are viewers on another instance. */
  readonly onForOthers?: (events: readonly TraceEvent[]) => void;
  readonly onProblem?: (error: unknown) => void;
}

/** A hub without viewers. */
export function createHub(options: HubOptions): Hub {
  const { secret, onPresence = () => {}, onForOthers = () => {}, onProblem = () => {} } = options;
  const instance = randomBytes(6).toString('base64url');
  const viewers = new Set<Viewer>();
  const ring: TraceEvent[] = [];
  let pending: InspectionEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  let leaving: NodeJS.Timeout | undefined;
  let elsewhereUntil = 0;
  let number = 0;
  /** Viewers are here, or have just left: one that reads its page anew finds what it saw. */
  let isHere = false;
  let watched = false;

  const isElsewhere = () => performance.now() < elsewhereUntil;

  function keep(events: readonly TraceEvent[]): void {
    ring.push(...events);
    ring.splice(0, ring.length - INSPECTION_LIMITS.inspectorMoments);
    for (const viewer of viewers) viewer(events);
  }

  function flush(): void {
    timer = undefined;
    const events = pending;
    pending = [];
    const copy = events.flatMap((event) => {
      try {
        return [maskEvent(event, { id: `${instance}.${++number}`, secret })];
      } catch (error) {
        onProblem(error);
        return [];
      }
    });
    if (isHere) keep(copy);
    if (isElsewhere()) onForOthers(copy);
    watched = isHere || isElsewhere();
  }

  function forget(): void {
    isHere = false;
    watched = isElsewhere();
    ring.length = 0;
  }

  return {
    isWatched: () => watched,
    emit(event) {
      // More than can be shown: the oldest are dropped.
      if (pending.length >= INSPECTION_LIMITS.inspectorQueue) pending.shift();
      pending.push(event);
      timer ??= setTimeout(flush, INSPECTION_LIMITS.inspectorBatchMs);
    },
    events: () => ring,
    attach(viewer) {
      clearTimeout(leaving);
      viewers.add(viewer);
      isHere = true;
      watched = true;
      if (viewers.size === 1) onPresence(true);
      return () => {
        if (!viewers.delete(viewer) || viewers.size > 0) return;
        onPresence(false);
        leaving = setTimeout(forget, INSPECTION_LIMITS.inspectorLingerMs).unref();
      };
    },
    get viewers() {
      return viewers.size;
    },
    receive: (events) => {
      if (isHere) keep(events);
    },
    noteWatchedElsewhere(ms) {
      elsewhereUntil = performance.now() + ms;
      watched = true;
      // Watchers may be gone without a word, and then nothing may happen here for long.
      setTimeout(() => {
        watched = isHere || isElsewhere();
      }, ms + 1).unref();
    },
    close() {
      clearTimeout(timer);
      clearTimeout(leaving);
      viewers.clear();
      forget();
      watched = false;
    },
  };
}
