// A webhook as it is stored, how far it has come, what could not be delivered; and how they are shown.

import type { JsonObject, StoredDocument } from '../../store/store.ts';

/** Who wants to be told of which events. Times are milliseconds since 1970. */
export type StoredWebhook = {
  readonly tenant: string;
  readonly url: string;
  /** Types of events; empty: all. */
  readonly events: readonly string[];
  /** Sealed; see webhook-secret.ts. */
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
  /** When somebody must look again: the next try, or the end of the holder's time. */
  readonly dueAt: number | null;
  readonly delivered: number;
  readonly dead: number;
  readonly deliveredAt: number | null;
  readonly failure: Failure | null;
};

export type Progress = StoredDocument<StoredProgress>;

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
  return {
    cursor,
    attempts: 0,
    holder: null,
    dueAt: null,
    delivered: 0,
    dead: 0,
    deliveredAt: null,
    failure: null,
  };
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
