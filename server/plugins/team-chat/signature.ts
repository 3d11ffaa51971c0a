// Signatures of a team chat: `v0=` and the HMAC-SHA256 of `v0:<timestamp>:<body>`, as Slack and those like it sign.

import { createHmac, timingSafeEqual } from 'node:crypto';

/** Seconds that a timestamp may be from our time; what is older may be a replay. */
const WINDOW_SECONDS = 300;

export interface Signed {
  /** Seconds since 1970, as the header has it. */
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
}

/** Whether who sent this knows the secret, within five minutes of `now`, in milliseconds since 1970. */
export function isSigned(secret: string, { timestamp, signature, body }: Signed, now: number): boolean {
  if (!/^\d{1,12}$/.test(timestamp) || !/^v0=[0-9a-f]{64}$/.test(signature)) return false;
  if (Math.abs(now / 1_000 - Number(timestamp)) > WINDOW_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest();
  return timingSafeEqual(Buffer.from(signature.slice(3), 'hex'), expected);
}
