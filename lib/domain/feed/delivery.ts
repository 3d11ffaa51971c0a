// Delivering events to webhooks: each in order, at least once, by one process at a time; a slow one does not delay others.
//
// Everything that must outlive a process is in one document per webhook, replaced by compare-and-set: how far it has
// come, who delivers now and until when, when the next try is due. A process that dies leaves a due time behind, by
// which the sweep of any other finds the webhook.

import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { findDue } from '../../store/due.ts';
import type { DocumentStore, StoredDocument } from '../../store/store.ts';
import { update } from '../../store/update.ts';
import { findPages } from '../find.ts';
import { DELIVERY, WEBHOOK } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
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
  /** Called after each try: `dead` when it was the last one of an event, which is a dead letter from now on. */
  readonly onTry?: (result: TryResult) => void;
}

export type TryResult = 'delivered' | 'failed' | 'dead';

/** Events that are not for a webhook after which its cursor is stored all the same. */
const NOTED_AFTER = 100_000;
const RETRY_MS = 1_000;

export type Deliveries = ReturnType<typeof deliveries>;

/** Delivers to the webhooks of all tenants until it is closed. */
export function deliveries(options: DeliveryOptions) {
  const { documents, clock, feed, onProblem = () => {}, onTry = () => {} } = options;
  const self = randomBytes(9).toString('base64url');
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const known = new Map<string, Webhook>();
  // Webhooks that wait for a free place, that run, that are to run again, that another process holds.
  const waiting = new Set<string>();
  const running = new Map<string, { readonly tenant: string; readonly ended: Promise<void> }>();
  const again = new Set<string>();
  const held = new Set<string>();
  // There is nothing for a webhook up to this number.
  const scanned = new Map<string, number>();
  let following: Promise<void> | undefined;

  function kick(id: string): void {
    if (ending.signal.aborted) return;
    if (running.has(id)) again.add(id);
    else if (hasPlace(id)) start(id);
    else waiting.add(id);
  }

  // Slow receivers of one tenant leave places for those of others.
  function hasPlace(id: string): boolean {
    if (running.size >= DOMAIN_LIMITS.webhooksAtOnce) return false;
    const tenant = findTenant(id);
    let taken = 0;
    for (const run of running.values()) if (run.tenant === tenant) taken++;
    return taken < DOMAIN_LIMITS.webhooksAtOncePerTenant;
  }

  const findTenant = (id: string) => known.get(id)?.body.tenant ?? '';

  function start(id: string): void {
    again.delete(id);
    const ended = deliver(id)
      .catch((error: unknown) => {
        onProblem(error);
        held.add(id);
      })
      .finally(() => {
        running.delete(id);
        if (again.has(id)) waiting.add(id);
        startNext();
      });
    running.set(id, { tenant: findTenant(id), ended });
  }

  function startNext(): void {
    for (const id of waiting) {
      if (!hasPlace(id)) continue;
      waiting.delete(id);
      kick(id);
      return;
    }
  }

  /** Delivers pending events unless another process holds the lease of this webhook. */
  async function deliver(id: string): Promise<void> {
    while (!ending.signal.aborted) {
      const webhook = await documents.get<StoredWebhook>(WEBHOOK, id);
      const progress = await documents.get<StoredProgress>(DELIVERY, id);
      if (!progress) return;
      if (webhook?.body.status !== 'active') return rest(progress, webhook);
      const { dueAt, holder, cursor } = progress.body;
      if (dueAt !== null && dueAt > clock.now()) {
        if (holder !== null) held.add(id);
        return;
      }
      const event = await nextFor(webhook, cursor);
      const free = { ...progress.body, holder: null, dueAt: null };
      if (!event) {
        const upTo = scanned.get(id) ?? cursor;
        const isFar = upTo - cursor > NOTED_AFTER;
        // Saves another look, and a restart from reading these events again.
        if ((dueAt === null && !isFar) || (await note(progress, { ...free, cursor: isFar ? upTo : cursor }))) return;
        continue;
      }
      const claim = await note(progress, { ...free, holder: self, dueAt: clock.now() + DOMAIN_LIMITS.webhookLeaseMs });
      if (claim && (await deliverFrom(webhook, claim, event)) === 'rest') return;
    }
  }

  // One that is paused, or was removed, is not due: the sweep looks at the first due ones only.
  async function rest(progress: DeliveryProgress, webhook: Webhook | undefined): Promise<void> {
    if (!webhook) await documents.remove(DELIVERY, progress.id, progress.revision);
    else if (progress.body.dueAt !== null) await note(progress, { ...progress.body, holder: null, dueAt: null });
  }

  // While this process holds the lease: event after event, until another webhook waits for the place. `look`: the webhook was changed meanwhile.
  async function deliverFrom(first: Webhook, claim: DeliveryProgress, event: FeedEvent): Promise<'rest' | 'look'> {
    const { id } = first;
    let webhook: Webhook | undefined = first;
    let mine: DeliveryProgress | undefined = claim;
    for (let next: FeedEvent | undefined = event; next && webhook && mine; ) {
      const outcome = await attempt(options, webhook, { event: eventView(next), ending: ending.signal });
      const after = await afterwards(mine, next, { outcome, webhook });
      webhook = await documents.get<StoredWebhook>(WEBHOOK, id);
      const goesOn: boolean = after.cursor === next.seq && webhook?.body.status === 'active' && !ending.signal.aborted;
      const givesWay: boolean = goesOn && waiting.size > 0;
      if (givesWay) again.add(id);
      next = goesOn && webhook && !givesWay ? await nextFor(webhook, after.cursor) : undefined;
      const lease = next ? { holder: self, dueAt: clock.now() + DOMAIN_LIMITS.webhookLeaseMs } : {};
      mine = await note(mine, { ...after, ...lease });
    }
    return mine && webhook ? 'rest' : 'look';
  }

  // What the document says after a try.
  async function afterwards(
    { id, body }: DeliveryProgress,
    { seq, ...event }: FeedEvent,
    { outcome, webhook }: { readonly outcome: DeliveryOutcome; readonly webhook: Webhook },
  ): Promise<StoredProgress> {
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
      await pause(webhook);
      return { ...free, attempts, failure };
    }
    if (!isLast) return { ...free, attempts, failure, dueAt: Math.max(retryAt, clock.now() + pauseAfter(attempts)) };
    await storeDeadLetter(id, { seq, event: eventView({ ...event, seq }), attempts, failure });
    return { ...free, cursor: seq, attempts: 0, dead: body.dead + 1, failure };
  }

  // Until its owner makes it active again, which tries the same event at once.
  async function pause({ id, body: { url } }: Webhook): Promise<void> {
    await update<StoredWebhook>(documents, WEBHOOK, id, (body) =>
      body?.url === url ? { ...body, status: 'paused', updated: clock.now() } : undefined,
    );
  }

  async function storeDeadLetter(
    webhook: string,
    deadLetter: Pick<StoredDeadLetter, 'seq' | 'event' | 'attempts' | 'failure'>,
  ): Promise<void> {
    const created = clock.now();
    const dueAt = created + DOMAIN_LIMITS.webhookLetterMs;
    const body: StoredDeadLetter = { ...deadLetter, webhook, status: 'dead', created, dueAt };
    // `exists`: stored already, by a process that died before it wrote the progress.
    await documents.insert(DELIVERY, deadLetterId(webhook, deadLetter.seq), body);
  }

  async function note({ id, revision }: DeliveryProgress, body: StoredProgress): Promise<DeliveryProgress | undefined> {
    const result = await documents.replace(DELIVERY, id, revision, body);
    return result.kind === 'replaced' ? { id, revision: result.revision, body } : undefined;
  }

  async function nextFor({ id, body }: Webhook, cursor: number): Promise<FeedEvent | undefined> {
    for (let at = Math.max(cursor, scanned.get(id) ?? 0); ; ) {
      const page = await feed.read(at);
      const found = page.events.find(({ tenant, type }) => tenant === body.tenant && wantsType(body.events, type));
      scanned.set(id, found ? found.seq - 1 : page.upTo);
      if (found || page.atEnd) return found;
      at = page.upTo;
    }
  }

  /** Wakes the webhooks that an event is for, as it happens. */
  async function follow(from: number): Promise<void> {
    for (let after = from; !ending.signal.aborted; ) {
      try {
        for await (const { events, upTo } of feed.pages({ after, signal: ending.signal })) {
          for (const event of events)
            for (const { id, body } of known.values())
              if (body.tenant === event.tenant && wantsType(body.events, event.type)) kick(id);
          after = upTo;
        }
        return;
      } catch (error) {
        onProblem(error);
        await clock.wait(RETRY_MS, ending.signal);
      }
    }
  }

  const runs = () => [...running.values()].map(({ ended }) => ended);

  async function look(): Promise<void> {
    const found: Webhook[] = [];
    const limit = COMMON_LIMITS.pageSizeMax;
    for await (const items of findPages<StoredWebhook>(documents, WEBHOOK, { limit })) found.push(...items);
    const changed = found.filter(({ id, revision }) => known.get(id)?.revision !== revision);
    known.clear();
    for (const webhook of found) known.set(webhook.id, webhook);
    for (const id of scanned.keys()) if (!known.has(id)) scanned.delete(id);
    // First follow, then look at what has happened before.
    if (known.size > 0 && !following) {
      const end = await feed.end();
      following ??= follow(end);
    }
    for (const { id } of changed) kick(id);
  }

  return {
    /** Call it after a webhook was created or changed, so that its delivery starts at once. */
    look,
    /** Reads what others have changed, goes on with what is due, removes expired dead letters; how many of these. */
    async sweep(limit: number): Promise<number> {
      await look();
      const waitedFor = [...held];
      held.clear();
      for (const id of waitedFor) kick(id);
      const isLetter = ({ body }: StoredDocument<StoredProgress | StoredDeadLetter>) => 'webhook' in body;
      const due = await findDue(options, DELIVERY, { index: 'due', field: 'dueAt', limit, isOver: isLetter });
      const letters = due.filter(isLetter);
      for (const one of due) if (!isLetter(one)) kick(one.id);
      await Promise.all(letters.map(({ id, revision }) => documents.remove(DELIVERY, id, revision)));
      return letters.length;
    },
    /** Resolves when nothing is being delivered. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(runs());
    },
    /** Gives up what is being delivered, so that another process can go on, and resolves when that is stored. */
    async close(): Promise<void> {
      ending.abort();
      waiting.clear();
      again.clear();
      await Promise.all([following, ...runs()]);
    },
  };
}
