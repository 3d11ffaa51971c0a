// The pass of a signed-in browser: a signed cookie, valid for eight hours or until sign-out.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import type { Clock } from '../../../lib/clock.ts';
import { hmacSha256, type Keyring } from '../../../lib/keyring.ts';
import type { DocumentStore, Kind } from '../../../lib/store/store.ts';
import type { OperatorTokens } from '../../http/middleware/operator.ts';
import { isAskedLocally } from '../../http/middleware/operator.ts';
import { PAGE_LIMITS } from '../limits.ts';

/** An HttpOnly, SameSite=Strict cookie. */
export interface SiteCookie {
  read(headers: IncomingHttpHeaders): string | undefined;
  write(ctx: Context, value: string, seconds: number): void;
  clear(ctx: Context): void;
}

export interface SiteCookieOptions {
  readonly publicUrl: string | undefined;
  /** Path of the cookie; ignored for `__Host-` cookies. @default '/' */
  readonly path?: string;
}

/**
 * Where `publicUrl` is https, the cookie travels over TLS only, and no other host of the domain can set one of its name; it is then
 * bound to no path. Whoever asks this machine by its own name, as through a tunnel, has no TLS, and gets another one.
 */
export function siteCookie(name: string, { publicUrl, path = '/' }: SiteCookieOptions): SiteCookie {
  const isTls = publicUrl?.startsWith('https:') ?? false;
  const nameFor = (headers: IncomingHttpHeaders) => (isTls && !isAskedLocally(headers) ? `__Host-${name}` : name);
  const set = (ctx: Context, value: string | null, maxAge?: number) => {
    const own = nameFor(ctx.req.headers);
    const secure = own !== name;
    // Koa cannot see the TLS of a proxy.
    ctx.cookies.secure = secure;
    const where = { path: secure ? '/' : path, secure, sameSite: 'strict' } as const;
    ctx.cookies.set(own, value, { ...where, ...(maxAge !== undefined && { maxAge }) });
  };
  return {
    read: (headers) => {
      const start = `${nameFor(headers)}=`;
      const cookies = (headers.cookie ?? '').split(';').map((one) => one.trim());
      return cookies.find((one) => one.startsWith(start))?.slice(start.length);
    },
    write: (ctx, value, seconds) => set(ctx, value, seconds * 1_000),
    clear: (ctx) => set(ctx, null),
  };
}

/** Ids of passes that were signed out. */
export const SIGN_OUT: Kind = { name: 'operator-sign-out', indexes: { until: { fields: ['until'] } } };

type SignOut = { readonly until: number };

// Longer than a pass lives: a clock that ran ahead must not revive it.
const KEPT_SECONDS = 7 * 86_400;
const FORGOTTEN_AT_ONCE = 100;

const PASS = /^([1-9]\d{0,11})\.([\w-]{22})\.([\w-]{43})$/;

export interface OperatorPasses {
  /** The name of the token that the browser signed in with; undefined without a valid pass. Rejects with ERR_STORE. */
  identify(headers: IncomingHttpHeaders): Promise<string | undefined>;
  /** The same without checking for sign-out: good for naming the sender of a request, not for access. */
  recognize(headers: IncomingHttpHeaders): string | undefined;
  /** Signs the browser in. Throws like {@link OperatorTokens.identify} for a wrong token. */
  signIn(ctx: Context, token: string): boolean;
  /** Ends the pass on all instances. Rejects with ERR_STORE if only the cookie was removed. */
  signOut(ctx: Context): Promise<void>;
}

export interface OperatorPassesOptions {
  readonly tokens: OperatorTokens;
  readonly keyring: Keyring;
  readonly clock: Pick<Clock, 'now'>;
  /** Declares the kind {@link SIGN_OUT}. */
  readonly documents: DocumentStore;
  readonly publicUrl: string | undefined;
}

/** Passes for these tokens. Removing a token or the key signs out everybody who used it. */
export function operatorPasses(options: OperatorPassesOptions): OperatorPasses {
  const { tokens, keyring, clock, documents, publicUrl } = options;
  const cookie = siteCookie('twinline-operator', { publicUrl });
  const key = keyring.subkey('operator-pass/v1')!;
  const mac = (until: number, id: string, name: string) => hmacSha256(key, JSON.stringify([until, id, name]));
  const seconds = () => clock.now() / 1_000;

  const read = (headers: IncomingHttpHeaders) => {
    const [, until, id, signature] = PASS.exec(cookie.read(headers) ?? '') ?? [];
    if (until === undefined || seconds() >= Number(until)) return undefined;
    const pass = Buffer.from(signature!);
    const name = tokens.names.find((one) => timingSafeEqual(Buffer.from(mac(Number(until), id!, one)), pass));
    return name === undefined ? undefined : { name, id: id!, until: Number(until) };
  };

  async function forgetOld(): Promise<void> {
    const where = { until: { lt: seconds() - KEPT_SECONDS } };
    const { items } = await documents.find<SignOut>(SIGN_OUT, { index: 'until', where, limit: FORGOTTEN_AT_ONCE });
    for (const { id, revision } of items) await documents.remove(SIGN_OUT, id, revision);
  }

  return {
    recognize: (headers) => read(headers)?.name,
    async identify(headers) {
      const pass = read(headers);
      return pass && (await documents.get(SIGN_OUT, pass.id)) === undefined ? pass.name : undefined;
    },
    signIn(ctx, token) {
      const name = tokens.identify(ctx, token);
      if (name === undefined) return false;
      const until = Math.ceil(seconds()) + PAGE_LIMITS.operatorPassSeconds;
      const id = randomBytes(16).toString('base64url');
      cookie.write(ctx, `${until}.${id}.${mac(until, id, name)}`, PAGE_LIMITS.operatorPassSeconds);
      return true;
    },
    async signOut(ctx) {
      const pass = read(ctx.req.headers);
      cookie.clear(ctx);
      if (!pass) return;
      await documents.insert<SignOut>(SIGN_OUT, pass.id, { until: pass.until });
      await forgetOld();
    },
  };
}
