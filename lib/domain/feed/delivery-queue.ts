// Which webhooks are being delivered to and which wait for a place: so many at once, and fewer of one tenant, so that slow
// receivers of one tenant leave places for those of others.

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
  /** Those that run and are to run once more. */
  readonly #again = new Set<string>();
  #isClosed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Whether a webhook waits for a place. */
  get hasWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Starts a delivery as soon as there is a place; one that runs is started once more when it ends. */
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

  /** Starts nothing more; resolves when what runs now has ended. */
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
    let taken = 0;
    for (const delivery of this.#running.values()) if (delivery.tenant === tenant) taken++;
    return taken < DOMAIN_LIMITS.webhooksAtOncePerTenant;
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
