// Bounds concurrent deliveries, in total and per tenant, so that one tenant's slow receivers leave room for those of
// others.

import { DOMAIN_LIMITS } from '../limits.ts';

interface QueueOptions {
  /** Delivers to a webhook; never rejects. */
  readonly deliver: (id: string) => Promise<void>;
  readonly findTenant: (id: string) => string;
}

interface RunningDelivery {
  readonly tenant: string;
  readonly ended: Promise<void>;
}

/** The deliveries of this process. */
export class DeliveryQueue {
  readonly #options: QueueOptions;
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, RunningDelivery>();
  /** Running webhooks that must run again. */
  readonly #again = new Set<string>();
  #isClosed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Whether a webhook is waiting. */
  get hasWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Starts a delivery as soon as there is room; restarts one that is running when it ends. */
  add(id: string): void {
    if (this.#isClosed) return;
    if (this.#running.has(id)) this.#again.add(id);
    else if (this.#hasPlace(id)) this.#start(id);
    else this.#waiting.add(id);
  }

  /** Resolves when nothing is being delivered. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await this.#runs();
  }

  /** Starts no more deliveries; resolves when the running ones have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    this.#again.clear();
    await this.#runs();
  }

  #runs(): Promise<unknown> {
    return Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  #hasPlace(id: string): boolean {
    if (this.#running.size >= DOMAIN_LIMITS.webhooksAtOnce) return false;
    const tenant = this.#options.findTenant(id);
    let places = 0;
    for (const delivery of this.#running.values()) if (delivery.tenant === tenant) places++;
    return places < DOMAIN_LIMITS.webhooksAtOncePerTenant;
  }

  #start(id: string): void {
    this.#again.delete(id);
    const ended = this.#options.deliver(id).finally(() => {
      this.#running.delete(id);
      if (this.#again.has(id)) this.#waiting.add(id);
      this.#startNext();
    });
    this.#running.set(id, { tenant: this.#options.findTenant(id), ended });
  }

  #startNext(): void {
    for (const id of this.#waiting) {
      if (!this.#hasPlace(id)) continue;
      this.#waiting.delete(id);
      this.add(id);
      return;
    }
  }
}
