// Who may use the pages of operators, and how a browser signs in where there is an OPERATOR_TOKEN: once, by a signed cookie.

import { timingSafeEqual } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { Clock } from '../../../lib/clock.ts';
import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { hmacSha256, type Keyring } from '../../../lib/keyring.ts';
import { html } from '../../../lib/markup.ts';
import { readInput } from '../../http/check-input.ts';
import { JSON_BODY_ANSWERS, jsonTypes } from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import {
  type OperatorRule,
  type OperatorTokens,
  operatorsOnly,
  readLocalOperator,
} from '../../http/middleware/operator.ts';
import type { Route } from '../../http/route-table.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { prefersHtml, sendPage } from './frame.ts';
import type { PageReader } from './header.ts';

export interface SignInDeps {
  /** Undefined without OPERATOR_TOKEN. */
  readonly passes: OperatorPasses | undefined;
}

const TEXT: Schema = { type: 'string' };

export const SIGN_IN_ROUTE: Route<SignInDeps> = {
  method: 'POST',
  path: '/operator/sign-in',
  id: 'signIn',
  summary: 'Sign a browser in with the OPERATOR_TOKEN',
  body: {
    types: jsonTypes({ type: 'object', required: ['token'], properties: { token: TEXT } }),
    example: { token: 'the OPERATOR_TOKEN of the server' },
  },
  answers: {
    204: { description: 'Signed in', headers: { 'Set-Cookie': 'Who is signed in, until when' } },
    ...JSON_BODY_ANSWERS,
  },
  access: 'public',
  ownPages: true,
  handle: (ctx, { passes }) => {
    if (!passes) throw new Refusal('not-found');
    const { token } = readInput<{ body: { token: string } }>(ctx).body;
    ctx.set('Cache-Control', 'no-store');
    if (!passes.signIn(ctx, token))
      throw new Refusal('bad-request', 'This is not the OPERATOR_TOKEN of this server. Copy it again, without spaces');
    ctx.status = 204;
  },
};

export const SIGN_OUT_ROUTE: Route<SignInDeps> = {
  method: 'POST',
  path: '/operator/sign-out',
  id: 'signOut',
  summary: 'Sign a browser out',
  body: { types: jsonTypes({ type: 'object' }), example: {} },
  answers: {
    204: { description: 'Signed out', headers: { 'Set-Cookie': 'Ends what signed the browser in' } },
    ...JSON_BODY_ANSWERS,
  },
  access: 'public',
  ownPages: true,
  handle: (ctx, { passes }) => {
    if (!passes) throw new Refusal('not-found');
    passes.signOut(ctx);
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 204;
  },
};

/** Tells operators from visitors, of pages that all may read. */
export function readerIdentifier({ passes }: SignInDeps, rule: OperatorRule): (ctx: Context) => PageReader {
  return (ctx) => {
    const name = passes ? passes.identify(ctx) : readLocalOperator(ctx, rule);
    return name === undefined ? { kind: 'visitor' } : { kind: 'operator', isSignedIn: passes !== undefined };
  };
}

/**
 * Lets operators through as {@link operatorsOnly} does, and browsers that have signed in; others that want a page get one
 * to sign in on.
 */
export function browserOperators({ passes }: SignInDeps, rule: OperatorRule): Middleware {
  const operators = operatorsOnly(rule);
  return async (ctx, next) => {
    const name = passes?.identify(ctx);
    if (name !== undefined) {
      ctx.state.operator = name;
      ctx.set('Cache-Control', 'no-store');
      return next();
    }
    const wantsPage = ctx.method === 'GET' && ctx.get('authorization') === '' && prefersHtml(ctx);
    if (!passes || !wantsPage) return operators(ctx, next);
    ctx.status = 401;
    ctx.set({ 'WWW-Authenticate': 'Bearer realm="operator"', 'Cache-Control': 'no-store' });
    await sendPage(ctx, SIGN_IN);
  };
}

const SIGN_IN = {
  title: 'Sign in · Twinline',
  script: 'sign-in.js' as const,
  body: html`<section class="card message"><h1>For operators</h1>
<p>This page opens for holders of the OPERATOR_TOKEN of this server. You stay signed in for eight hours.</p>
<form id="sign-in" class="sign-in"><label>Token <input id="token" type="password" autocomplete="off" required></label>
<button class="primary" type="submit">Sign in</button></form>
<p id="notice" role="alert"></p>
<noscript><p>Signing in needs JavaScript.</p></noscript></section>`,
};

const COOKIE = 'twinline-operator';
const PASS = /^([1-9]\d{0,11})\.([\w-]{43})$/;

export interface OperatorPasses {
  /** The name of the token that the browser has signed in with, or undefined when it may not come in. */
  identify(ctx: Context): string | undefined;
  /** Signs the browser in if the token is a right one. Throws as {@link OperatorTokens.identify} does. */
  signIn(ctx: Context, token: string): boolean;
  signOut(ctx: Context): void;
}

/** Who asks, as the audit log names operators. */
export function nameOperator({ state }: Pick<Context, 'state'>): string {
  return typeof state.operator === 'string' ? state.operator : 'operator';
}

/** Passes for holders of these tokens: when a token is taken away, or the key, all who signed in with it are signed out. */
export function operatorPasses(options: {
  readonly tokens: OperatorTokens;
  readonly keyring: Keyring;
  readonly clock: Pick<Clock, 'now'>;
}): OperatorPasses {
  const { tokens, keyring, clock } = options;
  const key = keyring.subkey('operator-pass/v1')!;
  const mac = (until: number, name: string) => hmacSha256(key, JSON.stringify([until, name]));
  return {
    identify(ctx) {
      const [, until, given] = PASS.exec(ctx.cookies.get(COOKIE) ?? '') ?? [];
      if (until === undefined || clock.now() >= Number(until) * 1_000) return undefined;
      const pass = Buffer.from(given!);
      return tokens.names.find((name) => timingSafeEqual(Buffer.from(mac(Number(until), name)), pass));
    },
    signIn(ctx, given) {
      const name = tokens.identify(ctx, given);
      if (name === undefined) return false;
      const until = Math.ceil(clock.now() / 1_000) + PAGE_LIMITS.operatorPassSeconds;
      ctx.cookies.set(COOKIE, `${until}.${mac(until, name)}`, {
        maxAge: PAGE_LIMITS.operatorPassSeconds * 1_000,
        sameSite: 'strict',
      });
      return true;
    },
    signOut: (ctx) => void ctx.cookies.set(COOKIE, null, { sameSite: 'strict' }),
  };
}
