// uvu's queue, set before uvu itself is loaded: `.run()` puts a suite's loop here instead of starting it.

/** Runs the tests of one suite. */
export type Loop = () => Promise<unknown>;

const uvu = Object.assign(globalThis, { UVU_DEFER: 1, UVU_INDEX: 0, UVU_QUEUE: [[]] as Loop[][] });

/** The loop that the last `.run()` queued. */
export function takeLoop(): Loop | undefined {
  return uvu.UVU_QUEUE[0]!.pop();
}
