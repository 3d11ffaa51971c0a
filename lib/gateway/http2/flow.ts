// Flow control of what comes in: how much the node may send, and when it is told that it may send more.

/** The window of a stream or a connection. */
export class ReceiveWindow {
  readonly #size: number;
  #left: number;
  #taken = 0;

  constructor(size: number) {
    this.#size = size;
    this.#left = size;
  }

  /** Counts bytes that came; whether the node was allowed to send them. */
  come(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  /** Counts bytes that were used up; how many the node is to be told of now: half a window at least, or none. */
  take(bytes: number): number {
    this.#taken += bytes;
    if (this.#taken * 2 < this.#size) return 0;
    const due = this.#taken;
    this.#taken = 0;
    this.#left += due;
    return due;
  }
}
