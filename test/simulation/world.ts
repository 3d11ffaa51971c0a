// Virtual time and the one queue in which everything that happens waits for its turn; a hash of all that happened.

import type { Random } from './random.ts';

/** Whose continuation an event is: of a process that has crashed none ever runs again, of one that stands still later. */
export interface Owner {
  isAlive: boolean;
  /** Virtual milliseconds. */
  pausedUntil: number;
}

interface Happening {
  at: number;
  /** Among happenings of the same millisecond the seed decides. */
  tie: number;
  readonly run: () => void;
  readonly owner: Owner | undefined;
  isCancelled: boolean;
}

export interface World {
  readonly random: Random;
  /** Milliseconds since 1970, as a clock that is right would show them. */
  now(): number;
  /** Runs `run` after `ms`; the function that is returned takes it back. */
  after(ms: number, run: () => void, owner?: Owner): () => void;
  /** Lets the next thing happen; false when nothing is left. */
  step(): boolean;
  readonly steps: number;
  /** Adds to the trace: what happened, and to which session ('' for none). */
  note(session: string, text: string): void;
  /** Two numbers that stand for all that was noted, in order. */
  hash(): string;
  /** The notes as lines, if they are kept. */
  readonly trace: readonly TraceLine[];
}

export interface TraceLine {
  readonly session: string;
  readonly text: string;
}

const START = 1_700_000_000_000;

export function createWorld(random: Random, { keepsTrace }: { keepsTrace: boolean }): World {
  // The earliest stands last.
  const queue: Happening[] = [];
  const trace: TraceLine[] = [];
  let now = START;
  let steps = 0;
  let high = 0x811c9dc5;
  let low = 0x1b873593;

  const mix = (text: string) => {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      high = Math.imul(high ^ code, 0x01000193);
      low = Math.imul((low << 5) | (low >>> 27), 0x9e3779b1) ^ code;
    }
  };

  const put = (event: Happening) => {
    let at = queue.length;
    while (
      at > 0 &&
      (queue[at - 1]!.at < event.at || (queue[at - 1]!.at === event.at && queue[at - 1]!.tie < event.tie))
    )
      at--;
    queue.splice(at, 0, event);
  };

  return {
    random,
    now: () => now,
    after: (ms, run, owner) => {
      const event = { at: now + Math.ceil(ms), tie: random.next(), run, owner, isCancelled: false };
      put(event);
      return () => {
        event.isCancelled = true;
      };
    },
    step: () => {
      for (let event = queue.pop(); event; event = queue.pop()) {
        if (event.isCancelled || event.owner?.isAlive === false) continue;
        now = event.at;
        if (event.owner && event.owner.pausedUntil > now) {
          event.at = event.owner.pausedUntil;
          event.tie = random.next();
          put(event);
          continue;
        }
        steps++;
        event.run();
        return true;
      }
      return false;
    },
    get steps() {
      return steps;
    },
    note: (session, text) => {
      mix(session);
      mix(text);
      high = Math.imul(high ^ (now - START), 0x01000193);
      if (keepsTrace) trace.push({ session, text: `${String(now - START).padStart(7)} ms  ${text}` });
    },
    hash: () => (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0'),
    trace,
  };
}
