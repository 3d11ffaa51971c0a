// Cookies of our own pages: no script reads them, and no other site makes a browser send them.

import type { Context } from 'koa';

export interface Cookie {
  readonly value: string;
  /** Sent with requests below this path only. */
  readonly path: string;
  readonly seconds: number;
}

/** Adds the cookie to the answer; over TLS it stays on TLS. */
export function setCookie(ctx: Context, name: string, { value, path, seconds }: Cookie): void {
  const parts = [`${name}=${value}`, `Path=${path}`, `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Strict'];
  ctx.append('Set-Cookie', [...parts, ...(ctx.secure ? ['Secure'] : [])].join('; '));
}
