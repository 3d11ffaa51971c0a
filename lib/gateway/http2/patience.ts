// How much of what is no answer a connection bears: a node could keep this side busy with it.

import { LIMITS } from '../../limits.ts';

/** However many calls are given up at once. */
const EXCUSED_MAX = LIMITS.grpcExcusedFrames * LIMITS.grpcStreamsAtOnce;

export class Patience {
  #idle = 0;
  #since = 0;

  /** A part of an answer came, to a call that runs. */
  answered(): void {
    if (this.#idle > 0) this.#idle = 0;
  }

  /** This side gave a call up: what the node had under way for it is no attack. */
  excuse(): void {
    this.#idle = Math.max(this.#idle - LIMITS.grpcExcusedFrames, -EXCUSED_MAX);
  }

  /**
   * Counts a frame, as `cost` of them; whether it is to be borne. While a request waits for room (`isBlocked`), the node has
   * to say more.
   */
  bears(cost: number, isBlocked: boolean): boolean {
    this.#idle += cost;
    if (this.#idle <= (isBlocked ? LIMITS.grpcIdleFramesBlocked : LIMITS.grpcIdleFrames)) return true;
    const now = performance.now();
    const isSlow = now - this.#since > LIMITS.grpcIdleMs;
    this.#since = now;
    this.#idle = 0;
    return isSlow;
  }
}
