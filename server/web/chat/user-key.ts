// Who a browser is to the agent: a key of its own, derived from a random cookie and never sent to it.

import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { type OracleKey, oracleKeyOf } from '../../../lib/delegation/issuer/oracle-key.ts';
import { hmacSha256, type Keyring } from '../../../lib/keyring.ts';
import { PAGE_LIMITS } from '../limits.ts';

const COOKIE = 'twinline-chat';
const USER = /^([\w-]{43})\.([\w.-]{1,32})$/;

/** The key of the browser that asks; one that has none, or one of a key that is gone, becomes a new user. */
export function userKey(ctx: Context, keyring: Keyring): OracleKey {
  const [, known, kid] = USER.exec(ctx.cookies.get(COOKIE) ?? '') ?? [];
  const isKept = known !== undefined && keyring.ids.includes(kid!);
  const id = isKept ? known : randomBytes(32).toString('base64url');
  const from = isKept ? kid! : keyring.active;
  ctx.cookies.set(COOKIE, `${id}.${from}`, {
    path: '/chat',
    maxAge: PAGE_LIMITS.chatUserSeconds * 1_000,
    sameSite: 'strict',
  });
  return oracleKeyOf(Buffer.from(hmacSha256(keyring.subkey('chat-user/v1', from)!, id), 'base64url'));
}
