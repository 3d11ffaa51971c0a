// A switch that ends a call. Each request has two of them, and an AbortController of Node costs as much as matching a path.

/** What a call listens to; an AbortSignal is one. */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface Stop extends StopSignal {
  /** Tells all who listen, once. */
  abort(): void;
}

export function createStop(): Stop {
  return new Switch();
}

class Switch implements Stop {
  aborted = false;
  #listeners: (() => void)[] = [];

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
