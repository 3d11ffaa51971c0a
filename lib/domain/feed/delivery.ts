// Webhook delivery: in order, at least once, by one process per webhook at a time; a slow receiver does not delay others.
//
// One document per webhook, replaced by compare-and-set, holds its durable state: the cursor, the lease and the time of the next
// try. A process that dies leaves an expired lease, by which the sweep of any other process finds the webhook.

import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { findDue } from '../../store/due.ts';
import { findPages } from '../../store/pages.ts';
import type { DocumentStore, StoredDocument } from '../../store/store.ts';
import { update } from '../../store/update.ts';
import { DELIVERY, WEBHOOK } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { eventView, type Feed, type FeedEvent } from './feed.ts';
import { wantsType } from './journal.ts';
import {
  type AttemptDeps,
  attempt,
  type DeliveryOutcome,
  type DeliveryProgress,
  deadLetterId,
  GONE,
  pauseAfter,
  type StoredDeadLetter,
  type StoredProgress,
  type StoredWebhook,
  type Webhook,
} from './webhook.ts';

export interface DeliveryOptions extends AttemptDeps {
  /** With DOMAIN_KINDS declared. */
  readonly documents: DocumentStore;
  readonly feed: Feed;
  readonly onProblem?: (error: unknown) => void;
  /** Called after each attempt; `dead` when it was the last one and the event has become a dead letter. */
  readonly onTry?: (result: TryResult) => void;
}

export type TryResult = 'delivered' | 'failed' | 'dead';

/** Store the cursor after skipping so many events. */
const NOTED_AFTER = 100_000;
const RETRY_MS = 1_000;

/** Delivers to the webhooks of all tenants until it is closed. */
export class Deliveries {
  readonly #options: DeliveryOptions;
  /** Names this process in leases. */
  readonly #self = randomBytes(9).toString('base64url');
  readonly #ending = new AbortController();
  readonly #queue: DeliveryQueue;
  /** All webhooks as last read. */
  readonly #webhooks = new Map<string, Webhook>();
  /** Webhooks that another process delivers to. */
  readonly #foreign = new Set<string>();
  /** Webhook → the event number up to which nothing matches. */
  readonly #scanned = new Map<string, number>();
  #following: Promise<void> | undefined;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    setMaxListeners(0, this.#ending.signal);
    this.#queue = new DeliveryQueue({
      findTenant: (id) => this.#webhooks.get(id)?.body.tenant ?? '',
      deliver: (id) =>
        this.#deliver(id).catch((error: unknown) => {
          this.#report(error);
          this.#foreign.add(id);
        }),
    });
  }

  /** Rereads the webhooks. Call it after one was created or changed, so that its delivery starts at once. */
  async look(): Promise<void> {
    const webhooks: Webhook[] = [];
    const limit = COMMON_LIMITS.pageSizeMax;
    const { documents, feed } = this.#options;
    for await (const items of findPages<StoredWebhook>(documents, WEBHOOK, { limit })) webhooks.push(...items);
    const changed = webhooks.filter(({ id, revision }) => this.#webhooks.get(id)?.revision !== revision);
    this.#webhooks.clear();
    for (const webhook of webhooks) this.#webhooks.set(webhook.id, webhook);
    for (const id of this.#scanned.keys()) if (!this.#webhooks.has(id)) this.#scanned.delete(id);
    // Follow first, so that no event falls between the two reads.
    if (webhooks.length > 0 && !this.#following) {
      const end = await feed.end();
      this.#following ??= this.#follow(end);
    }
    for (const { id } of changed) this.#queue.add(id);
  }

  /** Rereads webhooks, resumes due deliveries and deletes expired dead letters; returns how many of those. */
  async sweep(limit: number): Promise<number> {
    await this.look();
    const foreign = [...this.#foreign];
    this.#foreign.clear();
    for (const id of foreign) this.#queue.add(id);
    const isLetter = ({ body }: StoredDocument<StoredProgress | StoredDeadLetter>) => 'webhook' in body;
    const due = await findDue(this.#options, DELIVERY, { index: 'due', field: 'dueAt', limit, isOver: isLetter });
    const letters = due.filter(isLetter);
    for (const one of due) if (!isLetter(one)) this.#queue.add(one.id);
    await Promise.all(letters.map(({ id, revision }) => this.#options.documents.remove(DELIVERY, id, revision)));
    return letters.length;
  }

  /** Resolves when nothing is being delivered. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** Abandons deliveries in progress for other processes to continue; resolves once that is stored. */
  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all([this.#following, this.#queue.close()]);
  }

  #report(error: unknown): void {
    this.#options.onProblem?.(error);
  }

  /** Wakes the webhooks that an event is for, as it happens. */
  async #follow(from: number): Promise<void> {
    const { clock, feed } = this.#options;
    const { signal } = this.#ending;
    for (let after = from; !signal.aborted; ) {
      try {
        for await (const { events, upTo } of feed.pages({ after, signal })) {
          for (const event of events)
            for (const { id, body } of this.#webhooks.values()) if (isFor(body, event)) this.#queue.add(id);
          after = upTo;
        }
        return;
      } catch (error) {
        this.#report(error);
        await clock.wait(RETRY_MS, signal);
      }
    }
  }

  /** Delivers pending events unless another process holds the lease of this webhook. */
  async #deliver(id: string): Promise<void> {
    const { documents, clock } = this.#options;
    while (!this.#ending.signal.aborted) {
      const webhook = await documents.get<StoredWebhook>(WEBHOOK, id);
      const progress = await documents.get<StoredProgress>(DELIVERY, id);
      if (!progress) return;
      if (webhook?.body.status !== 'active') return this.#rest(progress, webhook);
      const { dueAt, holder, cursor } = progress.body;
      if (dueAt !== null && dueAt > clock.now()) {
        if (holder !== null) this.#foreign.add(id);
        return;
      }
      const event = await this.#nextFor(webhook, cursor);
      const free = { ...progress.body, holder: null, dueAt: null };
      if (!event) {
        const upTo = this.#scanned.get(id) ?? cursor;
        const isFar = upTo - cursor > NOTED_AFTER;
        // Saves rereading these events after a restart.
        const next = { ...free, cursor: isFar ? upTo : cursor };
        if ((dueAt === null && !isFar) || (await this.#store(progress, next))) return;
        continue;
      }
      const claim = await this.#store(progress, { ...free, ...this.#lease() });
      if (claim && (await this.#deliverFrom(webhook, claim, event)) === 'rest') return;
    }
  }

  #lease() {
    return { holder: this.#self, dueAt: this.#options.clock.now() + DOMAIN_LIMITS.webhookLeaseMs };
  }

  // Paused and removed webhooks must not stay due: the sweep reads only the first due ones.
  async #rest(progress: DeliveryProgress, webhook: Webhook | undefined): Promise<void> {
    if (!webhook) await this.#options.documents.remove(DELIVERY, progress.id, progress.revision);
    else if (progress.body.dueAt !== null) await this.#store(progress, { ...progress.body, holder: null, dueAt: null });
  }

  // Delivers event after event under the lease, until another webhook waits. `look`: the webhook changed meanwhile.
  async #deliverFrom(first: Webhook, claim: DeliveryProgress, event: FeedEvent): Promise<'rest' | 'look'> {
    const { id } = first;
    const ending = this.#ending.signal;
    let webhook: Webhook | undefined = first;
    let mine: DeliveryProgress | undefined = claim;
    for (let next: FeedEvent | undefined = event; next && webhook && mine; ) {
      const outcome = await attempt(this.#options, webhook, { event: eventView(next), ending });
      const after = await this.#afterwards(mine, next, { outcome, webhook });
      webhook = await this.#options.documents.get<StoredWebhook>(WEBHOOK, id);
      const goesOn: boolean = after.cursor === next.seq && webhook?.body.status === 'active' && !ending.aborted;
      const givesWay: boolean = goesOn && this.#queue.hasWaiting;
      if (givesWay) this.#queue.add(id);
      next = goesOn && webhook && !givesWay ? await this.#nextFor(webhook, after.cursor) : undefined;
      mine = await this.#store(mine, next ? { ...after, ...this.#lease() } : after);
    }
    return mine && webhook ? 'rest' : 'look';
  }

  // The stored progress after an attempt.
  async #afterwards(
    { id, body }: DeliveryProgress,
    { seq, ...event }: FeedEvent,
    { outcome, webhook }: { readonly outcome: DeliveryOutcome; readonly webhook: Webhook },
  ): Promise<StoredProgress> {
    const { clock, onTry = () => {} } = this.#options;
    const free = { ...body, holder: null, dueAt: null };
    if (outcome.kind === 'given-up') return { ...free, dueAt: clock.now() };
    if (outcome.kind === 'delivered') {
      onTry('delivered');
      return { ...free, cursor: seq, attempts: 0, delivered: body.delivered + 1, deliveredAt: clock.now() };
    }
    const { failure, retryAt = 0 } = outcome;
    const attempts = body.attempts + 1;
    const isGone = failure.status === GONE;
    const isLast = !isGone && attempts >= DOMAIN_LIMITS.webhookTries;
    onTry(isLast ? 'dead' : 'failed');
    if (isGone) {
      await this.#pause(webhook);
      return { ...free, attempts, failure };
    }
    if (!isLast) return { ...free, attempts, failure, dueAt: Math.max(retryAt, clock.now() + pauseAfter(attempts)) };
    await this.#storeDeadLetter(id, { seq, event: eventView({ ...event, seq }), attempts, failure });
    return { ...free, cursor: seq, attempts: 0, dead: body.dead + 1, failure };
  }

  // Reactivating the webhook retries the same event at once.
  async #pause({ id, body: { url } }: Webhook): Promise<void> {
    const { documents, clock } = this.#options;
    await update<StoredWebhook>(documents, WEBHOOK, id, (body) =>
      body?.url === url ? { ...body, status: 'paused', updated: clock.now() } : undefined,
    );
  }

  async #storeDeadLetter(
    webhook: string,
    deadLetter: Pick<StoredDeadLetter, 'seq' | 'event' | 'attempts' | 'failure'>,
  ): Promise<void> {
    const created = this.#options.clock.now();
    const dueAt = created + DOMAIN_LIMITS.webhookLetterMs;
    const body: StoredDeadLetter = { ...deadLetter, webhook, status: 'dead', created, dueAt };
    // `exists`: a process that died before writing the progress has stored it.
    await this.#options.documents.insert(DELIVERY, deadLetterId(webhook, deadLetter.seq), body);
  }

  async #store({ id, revision }: DeliveryProgress, body: StoredProgress): Promise<DeliveryProgress | undefined> {
    const result = await this.#options.documents.replace(DELIVERY, id, revision, body);
    return result.kind === 'replaced' ? { id, revision: result.revision, body } : undefined;
  }

  async #nextFor({ id, body }: Webhook, cursor: number): Promise<FeedEvent | undefined> {
    for (let at = Math.max(cursor, this.#scanned.get(id) ?? 0); ; ) {
      const page = await this.#options.feed.read(at);
      const event = page.events.find((one) => isFor(body, one));
      this.#scanned.set(id, event ? event.seq - 1 : page.upTo);
      if (event || page.atEnd) return event;
      at = page.upTo;
    }
  }
}

function isFor({ tenant, events }: StoredWebhook, event: FeedEvent): boolean {
  return tenant === event.tenant && wantsType(events, event.type);
}
