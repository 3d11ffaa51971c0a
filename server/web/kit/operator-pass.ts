// Operators in a browser: who has shown the OPERATOR_TOKEN once stays signed in for a while, by a signed cookie.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import type { Clock } from '../../../lib/clock.ts';
import { hmacSha256, type Keyring } from '../../../lib/keyring.ts';
import { PAGE_LIMITS } from '../limits.ts';

const COOKIE = 'twinline-operator';
const PASS = /^([1-9]\d{0,11})\.([\w-]{43})$/;

export interface OperatorPasses {
  /** Whether the browser may come in. */
  holds(ctx: Context): boolean;
  /** Signs the browser in if the token is the right one. */
  signIn(ctx: Context, token: string): boolean;
}

/** Passes for holders of this token: another token or another key, and nobody is signed in any more. */
export function operatorPasses(options: {
  readonly token: string;
  readonly keyring: Keyring;
  readonly clock: Pick<Clock, 'now'>;
}): OperatorPasses {
  const { token, keyring, clock } = options;
  const key = keyring.subkey('operator-pass/v1')!;
  const mac = (until: number) => hmacSha256(key, JSON.stringify([until, digest(token).toString('hex')]));
  return {
    holds(ctx) {
      const [, until, given] = PASS.exec(ctx.cookies.get(COOKIE) ?? '') ?? [];
      if (until === undefined || clock.now() >= Number(until) * 1_000) return false;
      return timingSafeEqual(Buffer.from(mac(Number(until))), Buffer.from(given!));
    },
    signIn(ctx, given) {
      if (!timingSafeEqual(digest(given), digest(token))) return false;
      const until = Math.ceil(clock.now() / 1_000) + PAGE_LIMITS.operatorPassSeconds;
      ctx.cookies.set(COOKIE, `${until}.${mac(until)}`, {
        maxAge: PAGE_LIMITS.operatorPassSeconds * 1_000,
        sameSite: 'strict',
      });
      return true;
    },
  };
}

// Equal lengths for the comparison, whatever was sent.
const digest = (text: string) => createHash('sha256').update(text).digest();
