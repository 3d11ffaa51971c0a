// Managing a tenant's webhooks and their dead letters.

import { randomBytes } from 'node:crypto';
import type { Detail } from '../../errors.ts';
import { findResolvedProblem, type Resolve } from '../../http/hosts.ts';
import { keyedMutex } from '../../queue.ts';
import type { DocumentStore } from '../../store/store.ts';
import { insertNew } from '../../store/update.ts';
import { type Caller, type LazyRequest, requireRole } from '../caller.ts';
import { findPage, mayBeId } from '../find.ts';
import { DELIVERY, WEBHOOK } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { invalid, refuse } from '../problems.ts';
import { CHANGED_WEBHOOK, NEW_WEBHOOK } from '../schema/bodies.ts';
import { checkShape } from '../schema/check.ts';
import type { Deliveries } from './delivery.ts';
import type { Feed } from './feed.ts';
import { typeProblems } from './journal.ts';
import {
  type AttemptDeps,
  attempt,
  type DeadLetter,
  type DeliveryProgress,
  deadLetterId,
  makeSecret,
  newProgress,
  type StoredDeadLetter,
  type StoredProgress,
  type StoredWebhook,
  sealSecret,
  type Webhook,
} from './webhook.ts';

export interface WebhookOptions extends AttemptDeps {
  /** With DOMAIN_KINDS declared. */
  readonly documents: DocumentStore;
  readonly feed: Pick<Feed, 'end'>;
  readonly deliveries: Pick<Deliveries, 'look'>;
  /** @default DNS alone */
  readonly resolve?: Resolve;
}

/** A webhook with its progress, and the secret that is shown once. */
export interface WebhookState {
  readonly webhook: Webhook;
  readonly progress: DeliveryProgress | undefined;
  /** The secret, when this call has set it. */
  readonly secret?: string;
}

interface Changes {
  readonly url?: string;
  readonly events?: readonly string[];
  /** Null generates a new one. */
  readonly secret?: string | null;
  readonly status?: StoredWebhook['status'];
}

/** The most requests of one tenant that may queue to create webhooks. */
const CREATING_MAX = 200;

export interface WebhookChange {
  readonly body: unknown;
  /** The revision that the caller has seen. */
  readonly expected?: number | undefined;
}

interface PageOf {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The webhooks of tenants. Every method requires the role to manage webhooks and throws refusals of problems.ts. */
export class Webhooks {
  readonly #options: WebhookOptions;
  readonly #creating = keyedMutex(CREATING_MAX, 'requests for new webhooks of one tenant');

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  async create(caller: Caller, content: unknown): Promise<WebhookState> {
    requireRole(caller, 'manage webhooks');
    const { clock, keyring, deliveries } = this.#options;
    const body = await checkShape<Changes & { url: string }>(NEW_WEBHOOK, content, 'The webhook');
    await this.#check(body);
    const id = `wh_${randomBytes(16).toString('hex')}`;
    const { tenant, principal: by } = caller;
    const secret = body.secret ?? makeSecret();
    const now = clock.now();
    const webhook: StoredWebhook = {
      tenant,
      url: body.url,
      events: body.events ?? [],
      secret: sealSecret(keyring, { tenant, id }, secret),
      status: 'active',
      by,
      created: now,
      updated: now,
    };
    const state = await this.#creating.run(tenant, () => this.#insertWithin(id, webhook));
    await deliveries.look();
    return { ...state, secret };
  }

  async get(caller: Caller, id: string): Promise<WebhookState> {
    return this.#withProgress(await this.#require(caller, id));
  }

  /** The oldest first. */
  async list(caller: Caller, { limit, cursor }: PageOf): Promise<{ items: WebhookState[]; next?: string }> {
    requireRole(caller, 'manage webhooks');
    const { tenant } = caller;
    const query = { index: 'created', where: { tenant }, limit, cursor };
    const { items, size: _, ...next } = await findPage<StoredWebhook>(this.#options.documents, WEBHOOK, query);
    return { items: await Promise.all(items.map((webhook) => this.#withProgress(webhook))), ...next };
  }

  async change(
    caller: Caller,
    id: string,
    change: WebhookChange | LazyRequest<Webhook, WebhookChange>,
  ): Promise<WebhookState> {
    const { documents, clock, keyring, deliveries } = this.#options;
    const old = await this.#require(caller, id);
    const { body: content, expected } = 'read' in change ? await change.read(old) : change;
    if (expected !== undefined && expected !== old.revision)
      throw refuse('revision-changed', `The webhook is at revision ${old.revision}, not ${expected}. Read it again.`);
    const { secret: choice, ...changes } = await checkShape<Changes>(CHANGED_WEBHOOK, content, 'The change');
    await this.#check(changes);
    const secret = choice === null ? makeSecret() : choice;
    const sealed = secret === undefined ? {} : { secret: sealSecret(keyring, { tenant: caller.tenant, id }, secret) };
    const body: StoredWebhook = { ...old.body, ...changes, ...sealed, updated: clock.now() };
    const result = await documents.replace(WEBHOOK, id, old.revision, body);
    if (result.kind !== 'replaced')
      throw refuse('revision-changed', 'The webhook was changed by somebody else just now. Read it again.');
    await tryNow(documents, id);
    await deliveries.look();
    return this.#withProgress({ id, revision: result.revision, body }, secret);
  }

  async remove(caller: Caller, id: string): Promise<WebhookState> {
    const { documents, deliveries } = this.#options;
    const old = await this.#withProgress(await this.#require(caller, id));
    await documents.remove(WEBHOOK, id);
    await documents.remove(DELIVERY, id);
    for (let more = true; more; ) {
      const { items, next } = await documents.find(DELIVERY, { index: 'webhook', where: { webhook: id } });
      await Promise.all(items.map((deadLetter) => documents.remove(DELIVERY, deadLetter.id)));
      more = next !== undefined;
    }
    await deliveries.look();
    return old;
  }

  /** Dead letters, newest first. */
  async letters(caller: Caller, { id, limit, cursor }: PageOf & { readonly id: string }) {
    await this.#require(caller, id);
    const query = { index: 'webhook', where: { webhook: id }, descending: true, limit, cursor };
    const { items, size: _, ...next } = await findPage<StoredDeadLetter>(this.#options.documents, DELIVERY, query);
    // Expired letters are hidden before the sweep deletes them, so a page may be short and still have a next one.
    return { items: items.filter((letter) => this.#isAlive(letter)), ...next };
  }

  /** Retries a dead letter now. */
  async retry(caller: Caller, { id, seq }: { id: string; seq: string }): Promise<DeadLetter> {
    const { documents } = this.#options;
    const webhook = await this.#require(caller, id);
    const isNumber = /^[1-9]\d{0,15}$/.test(seq);
    const deadLetter = isNumber
      ? await documents.get<StoredDeadLetter>(DELIVERY, deadLetterId(id, Number(seq)))
      : undefined;
    if (!deadLetter || !this.#isAlive(deadLetter))
      throw refuse('not-found', `The webhook ${id} has no event ${JSON.stringify(seq)} that was put aside.`);
    const { event, attempts } = deadLetter.body;
    const outcome = await attempt(this.#options, webhook, { event, ending: new AbortController().signal });
    const next = { ...deadLetter.body, attempts: attempts + 1 };
    const body: StoredDeadLetter =
      outcome.kind === 'failed' ? { ...next, failure: outcome.failure } : { ...next, status: 'delivered' };
    const result = await documents.replace(DELIVERY, deadLetter.id, deadLetter.revision, body);
    // Dead letters have no unique values, so the result has a revision.
    return { id: deadLetter.id, revision: result.kind === 'exists' ? deadLetter.revision : result.revision, body };
  }

  async #require(caller: Caller, id: string): Promise<Webhook> {
    requireRole(caller, 'manage webhooks');
    const webhook = mayBeId(id) ? await this.#options.documents.get<StoredWebhook>(WEBHOOK, id) : undefined;
    if (webhook?.body.tenant === caller.tenant) return webhook;
    throw refuse('not-found', `There is no webhook ${JSON.stringify(id)}.`);
  }

  #isAlive({ body }: DeadLetter): boolean {
    return body.dueAt > this.#options.clock.now();
  }

  async #withProgress(webhook: Webhook, secret?: string): Promise<WebhookState> {
    const progress = await this.#options.documents.get<StoredProgress>(DELIVERY, webhook.id);
    return { webhook, progress, ...(secret !== undefined && { secret }) };
  }

  async #check({ url, events = [] }: Changes): Promise<void> {
    const why = url === undefined ? undefined : await findResolvedProblem(url, this.#options.resolve);
    const details: Detail[] = [
      ...(why === undefined ? [] : [{ field: '/url', error: why }]),
      ...typeProblems(events, '/events'),
    ];
    if (details.length) throw invalid('The webhook cannot be taken, see the details.', details);
  }

  async #isFull(tenant: string, limit: number): Promise<boolean> {
    return (await this.#options.documents.count(WEBHOOK, { index: 'created', where: { tenant } })) > limit;
  }

  // Counted before, serialised per tenant, and again after, because other processes create webhooks too.
  async #insertWithin(id: string, body: StoredWebhook): Promise<WebhookState> {
    const { documents, feed } = this.#options;
    if (await this.#isFull(body.tenant, DOMAIN_LIMITS.webhooksPerTenant - 1)) throw tooMany();
    // Write the progress first: without it nothing is delivered.
    const progress = await insertNew(documents, DELIVERY, { id, body: newProgress(await feed.end()) });
    const webhook = await insertNew(documents, WEBHOOK, { id, body });
    if (!(await this.#isFull(body.tenant, DOMAIN_LIMITS.webhooksPerTenant))) return { webhook, progress };
    await documents.remove(WEBHOOK, id);
    await documents.remove(DELIVERY, id);
    throw tooMany();
  }
}

function tooMany(): Error {
  const limit = DOMAIN_LIMITS.webhooksPerTenant;
  return invalid(`There are ${limit} webhooks already. Remove one first.`, [
    { field: '/', error: `at most ${limit} webhooks are kept` },
  ]);
}

// A changed webhook is retried at once.
async function tryNow(documents: DocumentStore, id: string): Promise<void> {
  const progress = await documents.get<StoredProgress>(DELIVERY, id);
  if (!progress || progress.body.holder !== null || progress.body.dueAt === null) return;
  await documents.replace(DELIVERY, id, progress.revision, { ...progress.body, attempts: 0, dueAt: null });
}
