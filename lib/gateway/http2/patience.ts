// How much of what is no answer a connection bears: a node could keep this side busy with it.

import { LIMITS } from '../../limits.ts';

export class Patience {
  #idle = 0;
  #since = 0;

  /** A part of an answer came. */
  answered(): void {
    this.#idle = 0;
  }

  /** Counts a frame that brings no part of an answer; whether it is to be borne. */
  bears(): boolean {
    if (++this.#idle <= LIMITS.grpcIdleFrames) return true;
    const now = performance.now();
    const isSlow = now - this.#since > LIMITS.grpcIdleMs;
    this.#since = now;
    this.#idle = 0;
    return isSlow;
  }
}
