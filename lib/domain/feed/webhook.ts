// One webhook: what is stored of it and what clients read, its secret, and one signed try to deliver an event to it.

import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import type { Post } from '../../http/client.ts';
import type { JsonObject } from '../../json/json.ts';
import type { Keyring } from '../../keyring.ts';
import { readRetryAfter, retryDelay } from '../../retry.ts';
import { openText, readKeyId, type Seal, sealText } from '../../sealing.ts';
import type { StoredDocument } from '../../store/store.ts';
import { DOMAIN_LIMITS } from '../limits.ts';

/** An address and the events that are sent there. Times are milliseconds since 1970. */
export type StoredWebhook = {
  readonly tenant: string;
  readonly url: string;
  /** Types of events; empty: all. */
  readonly events: readonly string[];
  /** Sealed; see sealSecret. */
  readonly secret: string;
  readonly status: 'active' | 'paused';
  readonly by: string;
  readonly created: number;
  readonly updated: number;
};

export type Webhook = StoredDocument<StoredWebhook>;

/** Why the last try failed. */
export type Failure = {
  readonly at: number;
  /** Of the answer; null without one. */
  readonly status: number | null;
  readonly error: string;
};

/** How far a webhook has come: the document that processes take turns with. Its id is the webhook's. */
export type StoredProgress = {
  /** All events up to this number are delivered, put aside, or not meant. */
  readonly cursor: number;
  /** Failed tries of the event that is next. */
  readonly attempts: number;
  /** The process that delivers now. */
  readonly holder: string | null;
  /** When the next try is due, or the lease of the holder ends. */
  readonly dueAt: number | null;
  readonly delivered: number;
  readonly dead: number;
  readonly deliveredAt: number | null;
  readonly failure: Failure | null;
};

export type DeliveryProgress = StoredDocument<StoredProgress>;

/** An event that was put aside after all tries. Its id is `<webhook>.<seq>`. */
export type StoredDeadLetter = {
  readonly webhook: string;
  readonly created: number;
  readonly seq: number;
  readonly event: JsonObject;
  readonly status: 'dead' | 'delivered';
  readonly attempts: number;
  readonly failure: Failure | null;
  /** When it is thrown away. */
  readonly dueAt: number;
};

export type DeadLetter = StoredDocument<StoredDeadLetter>;

export function newProgress(cursor: number): StoredProgress {
  const none = { holder: null, dueAt: null, deliveredAt: null, failure: null };
  return { cursor, attempts: 0, delivered: 0, dead: 0, ...none };
}

export function deadLetterId(webhook: string, seq: number): string {
  return `${webhook}.${seq}`;
}

/** What clients read of a webhook: everything but its secret. */
export function webhookView({ id, revision, body }: Webhook, progress: StoredProgress | undefined): JsonObject {
  return {
    id,
    url: body.url,
    events: body.events,
    status: body.status,
    created: time(body.created),
    updated: time(body.updated),
    revision,
    delivery: progress ? progressView(progress) : null,
  };
}

function progressView({ cursor, attempts, holder, dueAt, delivered, dead, deliveredAt, failure }: StoredProgress) {
  return {
    upTo: cursor,
    delivered,
    dead,
    lastDeliveredAt: time(deliveredAt),
    failedAttempts: attempts,
    nextAttemptAt: holder === null ? time(dueAt) : null,
    lastFailure: failureView(failure),
  };
}

/** What clients read of an event that was put aside. */
export function deadLetterView({ body }: DeadLetter): JsonObject {
  const { webhook, seq, status, attempts, event, failure, created, dueAt } = body;
  return {
    id: String(seq),
    webhook,
    status,
    attempts,
    event,
    created: time(created),
    expires: time(dueAt),
    lastFailure: failureView(failure),
  };
}

function failureView(failure: Failure | null): JsonObject | null {
  return failure && { at: time(failure.at), status: failure.status, error: failure.error };
}

function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Whose secret it is: a sealed one opens for no other webhook. */
export interface Owner {
  readonly tenant: string;
  readonly id: string;
}

/** A new secret that the libraries of Standard Webhooks take, `whsec_` and base64 of 32 random bytes. */
export function makeSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The secret as text to store. */
export function sealSecret(keyring: Keyring, owner: Owner, secret: string): string {
  return sealText(keyring, secretSeal(owner), secret);
}

/** The secret; throws ERR_CONFIG when the key that sealed it is not configured, or it was sealed for another webhook. */
export function openSecret(keyring: Keyring, owner: Owner, sealed: string): string {
  const secret = openText(keyring, secretSeal(owner), sealed);
  if (secret !== undefined) return secret;
  throw new TwinlineError(
    'ERR_CONFIG',
    `The secret of webhook ${owner.id} needs the key ${JSON.stringify(readKeyId(sealed))}, which is not configured or another one. Give the webhook a new secret.`,
  );
}

/** The headers that sign a message. `id` is the same for every try to deliver it; `timestamp`: seconds since 1970. */
function signatureHeaders(
  secret: string,
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
): { readonly [name: string]: string } {
  const mac = createHmac('sha256', keyBytes(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${mac}` };
}

// A secret that is not in the form of the standard is a key as it stands; its libraries take it with `{ format: 'raw' }`.
function keyBytes(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret);
}

/** What seals the secret of a webhook. */
export function secretSeal({ tenant, id }: Owner): Seal {
  return { purpose: 'webhook-secret/v1', label: [tenant, id] };
}

export interface AttemptDeps {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly post: Post;
}

/** `given-up`: the server ends; it does not count as a try. */
export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'given-up' }
  /** `retryAt`: the receiver wants nothing before that, in milliseconds since 1970. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly retryAt?: number };

/** Sends an event, as `eventView` shows it. Never rejects. */
export async function attempt(
  { keyring, clock, post }: AttemptDeps,
  { id, body: webhook }: Webhook,
  { event, ending }: { event: JsonObject; ending: AbortSignal },
): Promise<DeliveryOutcome> {
  const makeFailure = (status: number | null, error: string, retryAfter?: string): DeliveryOutcome => ({
    kind: 'failed',
    failure: { at: clock.now(), status, error },
    ...(retryAfter !== undefined && { retryAt: readRetryAt(retryAfter, clock.now()) }),
  });
  if (ending.aborted) return { kind: 'given-up' };
  const time = new AbortController();
  const end = () => time.abort();
  ending.addEventListener('abort', end, { once: true });
  const timer = setTimeout(end, COMMON_LIMITS.webhookAnswerMs);
  try {
    const body = JSON.stringify(event);
    const secret = openSecret(keyring, { tenant: webhook.tenant, id }, webhook.secret);
    const timestamp = Math.floor(clock.now() / 1_000);
    const headers = signatureHeaders(secret, { id: `evt_${event.seq}`, timestamp, body });
    const { status, retryAfter } = await post({ url: webhook.url, headers, body }, time.signal);
    if (status >= 200 && status <= 299) return { kind: 'delivered' };
    const why =
      status === GONE
        ? ', so the webhook is paused'
        : status >= 300 && status <= 399
          ? '; redirects are not followed'
          : '';
    return makeFailure(status, `the receiver answered ${status}${why}`, retryAfter);
  } catch (error) {
    if (ending.aborted) return { kind: 'given-up' };
    return makeFailure(null, error instanceof TwinlineError ? error.message : 'the request could not be made');
  } finally {
    clearTimeout(timer);
    ending.removeEventListener('abort', end);
  }
}

/** By Standard Webhooks: the receiver wants nothing more. */
export const GONE = 410;

function readRetryAt(text: string, now: number): number {
  return now + Math.min(readRetryAfter(text, now) ?? 0, DOMAIN_LIMITS.webhookBackoffMaxMs);
}

const BACKOFF = { firstMs: DOMAIN_LIMITS.webhookBackoffMs, maxMs: DOMAIN_LIMITS.webhookBackoffMaxMs, jitter: 0.5 };

/** Milliseconds until the next try after so many failed ones: doubling, less up to a half so that tries spread out. */
export function pauseAfter(attempts: number): number {
  return Math.ceil(retryDelay(attempts, BACKOFF));
}
