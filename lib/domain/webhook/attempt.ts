// One try to deliver an event to a webhook, and what its outcome means for the next one.

import type { Clock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import type { Post } from '../../http/client.ts';
import type { Keyring } from '../../keyring.ts';
import { retryDelay } from '../../retry.ts';
import { SHARED_LIMITS } from '../../shared-limits.ts';
import type { JsonObject } from '../../store/store.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import type { Failure, Webhook } from './record.ts';
import { openSecret, signatureHeaders } from './secret.ts';

export interface AttemptDeps {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly post: Post;
}

/** `given-up`: the server ends; it does not count as a try. */
export type Outcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'given-up' }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Sends an event, as `eventView` shows it. Never rejects. */
export async function attempt(
  { keyring, clock, post }: AttemptDeps,
  { id, body: webhook }: Webhook,
  { event, ending }: { event: JsonObject; ending: AbortSignal },
): Promise<Outcome> {
  const failed = (status: number | null, error: string): Outcome => ({
    kind: 'failed',
    failure: { at: clock.now(), status, error },
  });
  if (ending.aborted) return { kind: 'given-up' };
  const time = new AbortController();
  const end = () => time.abort();
  ending.addEventListener('abort', end, { once: true });
  const timer = setTimeout(end, SHARED_LIMITS.webhookAnswerMs);
  try {
    const body = JSON.stringify(event);
    const secret = openSecret(keyring, { tenant: webhook.tenant, id }, webhook.secret);
    const timestamp = Math.floor(clock.now() / 1_000);
    const headers = signatureHeaders(secret, { id: `evt_${event.seq}`, timestamp, body });
    const status = await post({ url: webhook.url, headers, body }, time.signal);
    if (status >= 200 && status <= 299) return { kind: 'delivered' };
    const why = status >= 300 && status <= 399 ? '; redirects are not followed' : '';
    return failed(status, `the receiver answered ${status}${why}`);
  } catch (error) {
    if (ending.aborted) return { kind: 'given-up' };
    return failed(null, error instanceof TwinlineError ? error.message : 'the request could not be made');
  } finally {
    clearTimeout(timer);
    ending.removeEventListener('abort', end);
  }
}

const BACKOFF = { firstMs: DOMAIN_LIMITS.webhookBackoffMs, maxMs: DOMAIN_LIMITS.webhookBackoffMaxMs, jitter: 0.5 };

/** Milliseconds until the next try after so many failed ones: doubling, less up to a half so that tries spread out. */
export function pauseAfter(attempts: number): number {
  return Math.ceil(retryDelay(attempts, BACKOFF));
}
