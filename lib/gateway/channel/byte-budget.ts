// Bytes that may be held at the same time by all who share a budget.

/** Counts what is held; whoever takes gives the same amount back. */
export class ByteBudget {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#held;
  }

  /** Takes `bytes`; false, and nothing is taken, when there is no room for them. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#most) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}
