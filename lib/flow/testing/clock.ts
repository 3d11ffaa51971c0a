// Time in flow tests: it stands still until nothing else can go on, then it moves to whatever is waited for.

import { type Clock, SimulatedClock } from '../../clock.ts';

export interface DrivenClock extends Clock {
  /** The outcome of `work`, with as much time passing as it waits for. Throws when it waits for something else. */
  drive<T>(work: Promise<T>): Promise<T>;
}

const IDLE_ROUNDS = 1_000;

/** A simulated clock that is moved by what waits on it. */
export function drivenClock(): DrivenClock {
  const clock = new SimulatedClock();
  const waits = new Set<{ readonly at: number }>();
  return {
    now: clock.now,
    wait: async (ms, signal) => {
      const entry = { at: clock.now() + ms };
      waits.add(entry);
      await clock.wait(ms, signal);
      waits.delete(entry);
    },
    drive: async (work) => {
      let isDone = false;
      const done = () => {
        isDone = true;
      };
      work.then(done, done);
      for (let idle = 0; idle < IDLE_ROUNDS; idle++) {
        // Everything that needs no time has run once this comes.
        await new Promise(setImmediate);
        if (isDone) return work;
        if (waits.size) idle = 0;
        if (waits.size) await clock.advance(Math.max(0, Math.min(...[...waits].map(({ at }) => at)) - clock.now()));
      }
      throw new Error('A turn of a flow test waits for something outside of the test.');
    },
  };
}
