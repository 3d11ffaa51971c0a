// Idempotency keys: a repeated request gets the first answer, across instances and crashes.

import { createHash } from 'node:crypto';
import { type Clock, settledTime } from '../clock.ts';
import { requireGiven } from '../given.ts';
import type { JsonObject } from '../json/json.ts';
import type { DocumentStore, StoredDocument } from '../store/store.ts';
import { randomToken } from './did/did.ts';
import { IDEMPOTENCY } from './kinds.ts';
import { DOMAIN_LIMITS } from './limits.ts';
import { isRefusal, refuse } from './problems.ts';

/** A request that a client may repeat. */
export interface Repeatable {
  /** The scope of the key: tenant, principal, method and path. */
  readonly scope: readonly string[];
  /** The Idempotency-Key header, 1 to DOMAIN_LIMITS.idempotencyKeyChars characters. */
  readonly key: string;
  /** The request's content; reusing a key with other content is an error. */
  readonly content: string;
}

type Memory = {
  readonly content: string;
  /** Reserved before the work starts, so that a retry creates the same thing. Absent in documents of earlier versions. */
  readonly token?: string;
  /** In documents of earlier versions: a DID that ends with the token. */
  readonly did?: string;
  readonly expiresAt: number;
} & ({ readonly state: 'running'; readonly since: number } | { readonly state: 'done'; readonly answer: JsonObject });

/** Runs work once per request. */
export interface Idempotency {
  /**
   * Runs `work` with a random token of 32 hex digits that stays the same for the request, for the id of what it makes; or
   * gives the answer of the first time. A refusal or a failure is not remembered: the next try works anew. Throws `idempotency-mismatch` when the key stood for another content,
   * `in-progress` when the first is not done within DOMAIN_LIMITS.idempotencyWaitMs.
   */
  runOnce<A extends JsonObject>(request: Repeatable, work: (token: string) => Promise<A>): Promise<A>;
  /** Deletes expired answers; returns how many. */
  sweep(now: number, limit: number): Promise<number>;
}

const POLL_MS = 20;

/**
 * Opens the store of answers to requests with an idempotency key.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DOMAIN_KINDS);
 * const once = idempotency({ documents, clock: systemClock });
 * const request = { scope: ['default', 'ann'], key: 'request-1', content: '{"name":"tea"}' };
 * let times = 0;
 * const work = async () => ({ times: ++times });
 * await once.runOnce(request, work); // → { times: 1 }
 * await once.runOnce(request, work); // → { times: 1 }
 */
export function idempotency(options: { documents: DocumentStore; clock: Clock }): Idempotency {
  requireGiven('remember requests', options, { documents: 'documents', clock: 'clock' });
  const { documents, clock } = options;
  settledTime(clock);
  function begin(content: string, token: string): Memory {
    const since = clock.now();
    return { content, token, state: 'running', since, expiresAt: since + DOMAIN_LIMITS.idempotencyMs };
  }

  async function reserve(id: string, content: string): Promise<StoredDocument<Memory> | undefined> {
    const inserted = await documents.insert(IDEMPOTENCY, id, begin(content, randomToken()));
    return inserted.kind === 'inserted' ? inserted : undefined;
  }

  // Takes over a request whose worker died, or whose answer has expired.
  async function takeOver(old: StoredDocument<Memory>, content: string): Promise<StoredDocument<Memory> | undefined> {
    const body = begin(content, old.body.expiresAt <= settledTime(clock) ? randomToken() : readToken(old.body));
    const result = await documents.replace(IDEMPOTENCY, old.id, old.revision, body);
    return result.kind === 'replaced' ? { id: old.id, revision: result.revision, body } : undefined;
  }

  async function finish<A extends JsonObject>(mine: StoredDocument<Memory>, work: (token: string) => Promise<A>) {
    try {
      const token = readToken(mine.body);
      const answer = await work(token);
      const { content, expiresAt } = mine.body;
      const done: Memory = { content, token, expiresAt, state: 'done', answer };
      await documents.replace(IDEMPOTENCY, mine.id, mine.revision, done);
      return answer;
    } catch (error) {
      if (isRefusal(error)) await documents.remove(IDEMPOTENCY, mine.id, mine.revision);
      // The store may have committed the work before it failed: the next try continues at once, with the same token.
      else await documents.replace(IDEMPOTENCY, mine.id, mine.revision, { ...mine.body, since: 0 }).catch(() => {});
      throw error;
    }
  }

  return {
    async runOnce<A extends JsonObject>({ scope, key, content }: Repeatable, work: (token: string) => Promise<A>) {
      checkKey(key);
      const id = digest([...scope, key]);
      const print = digest([content]);
      for (const until = clock.monotonic() + DOMAIN_LIMITS.idempotencyWaitMs; ; await clock.wait(POLL_MS)) {
        const memory = await documents.get<Memory>(IDEMPOTENCY, id);
        const now = clock.now();
        if (memory && memory.body.expiresAt > settledTime(clock)) {
          if (memory.body.content !== print) throw mismatch(key);
          if (memory.body.state === 'done') return memory.body.answer as A;
        }
        const mine = memory ? isStale(memory.body, now) && (await takeOver(memory, print)) : await reserve(id, print);
        if (mine) return finish(mine, work);
        if (clock.monotonic() >= until)
          throw refuse(
            'in-progress',
            `The request with the Idempotency-Key ${JSON.stringify(key)} is being worked on. Try again in a moment.`,
          );
      }
    },
    async sweep(now, limit) {
      const { items } = await documents.find(IDEMPOTENCY, {
        index: 'expiry',
        where: { expiresAt: { lte: now } },
        limit,
      });
      const removed = await Promise.all(items.map(({ id, revision }) => documents.remove(IDEMPOTENCY, id, revision)));
      return removed.filter(Boolean).length;
    },
  };
}

function isStale(memory: Memory, now: number): boolean {
  return (
    memory.expiresAt <= now || (memory.state === 'running' && memory.since + DOMAIN_LIMITS.idempotencyLeaseMs <= now)
  );
}

function readToken({ token, did }: Memory): string {
  return token ?? did!.split(':').at(-1)!;
}

function checkKey(key: string): void {
  if (key.length >= 1 && key.length <= DOMAIN_LIMITS.idempotencyKeyChars) return;
  throw refuse(
    'bad-request',
    `An Idempotency-Key has 1 to ${DOMAIN_LIMITS.idempotencyKeyChars} characters; this one has ${key.length}.`,
  );
}

function mismatch(key: string) {
  return refuse(
    'idempotency-mismatch',
    `The Idempotency-Key ${JSON.stringify(key)} was used for another content. Use a new key for a new request.`,
  );
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
