// The credential of requests: kept while it is good, and made anew by a function of the caller.

import { TwinlineError } from '../errors.ts';

/** An API key or an invocation; `expiresAt`, in milliseconds since 1970: when another one is needed, if not before. */
export type ClientCredential = string | { readonly value: string; readonly expiresAt?: number };

/** Makes a credential: called for the first request, when the last one has expired, and once for a request that gets a 401. */
export type MakeCredential = () => ClientCredential | Promise<ClientCredential>;

const SENDABLE = /^[\x20-\x7e\x80-\xff]*$/;

/** Resolves to the credential to send, which requests at the same time wait for together; `refused` is not used again. */
export function keepCredential(make: MakeCredential, now: () => number): (refused?: string) => Promise<string> {
  let kept: Promise<{ readonly value: string; readonly expiresAt: number }> | undefined;

  async function renew() {
    const made = await make();
    const next = { expiresAt: Number.POSITIVE_INFINITY, ...(typeof made === 'string' ? { value: made } : made) };
    // The error of `fetch` would quote it.
    if (!SENDABLE.test(next.value))
      throw new TwinlineError('ERR_INPUT', 'The credential has a character that a header cannot have.');
    return next;
  }

  return async (refused) => {
    for (;;) {
      const asked = kept;
      const { value, expiresAt } = (await asked?.catch(() => undefined)) ?? { value: '', expiresAt: 0 };
      if (now() < expiresAt && value !== refused) return value;
      // Another request may have begun to make one.
      if (kept !== asked) continue;
      kept = renew();
      return (await kept).value;
    }
  };
}
