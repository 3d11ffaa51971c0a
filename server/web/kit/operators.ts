// Who may use the pages for operators, and how a browser signs in with an OPERATOR_TOKEN: once, for a pass in a cookie.

import type { IncomingHttpHeaders } from 'node:http';
import type { Context, Middleware } from 'koa';
import type { Schema } from '../../../lib/json/schema.ts';
import { html } from '../../../lib/markup.ts';
import { readInput } from '../../http/check-input.ts';
import { JSON_BODY_ANSWERS, jsonTypes } from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import {
  isForeign,
  type OperatorRule,
  operatorsOnly,
  ownOriginOnly,
  readLocalOperator,
} from '../../http/middleware/operator.ts';
import type { Route } from '../../http/route-table.ts';
import { prefersHtml, sendPage } from './frame.ts';
import type { PageReader } from './header.ts';
import type { OperatorPasses } from './passes.ts';

export interface SignInDeps {
  /** @default there is no OPERATOR_TOKEN */
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
  handle: async (ctx, { passes }) => {
    if (!passes) throw new Refusal('not-found');
    ctx.set('Cache-Control', 'no-store');
    await passes.signOut(ctx);
    ctx.status = 204;
  },
};

/** Tells operators from visitors on public pages. Requests of other origins are visitors; so is everyone while the store is unavailable. */
export function readerIdentifier({ passes }: SignInDeps, rule: OperatorRule): (ctx: Context) => Promise<PageReader> {
  const identify = (ctx: Context) =>
    passes ? passes.identify(ctx.req.headers).catch(() => undefined) : readLocalOperator(ctx, rule);
  return async (ctx) => {
    const name = isForeign(ctx.req.headers, rule.publicUrl) ? undefined : await identify(ctx);
    return name === undefined ? { kind: 'visitor' } : { kind: 'operator', isSignedIn: passes !== undefined };
  };
}

/** Finds the name of the operator who sent a request, by token or by the pass of a browser. */
export function operatorFinder(
  { passes }: SignInDeps,
  { tokens }: OperatorRule,
): (headers: IncomingHttpHeaders) => string | undefined {
  return (headers) => passes?.recognize(headers) ?? tokens?.recognize(headers.authorization ?? '');
}

/**
 * Like {@link operatorsOnly}, and also lets signed-in browsers pass. Other browsers get a page to sign in.
 */
export function browserOperators({ passes }: SignInDeps, rule: OperatorRule): Middleware {
  const operators = operatorsOnly(rule);
  if (!passes) return operators;
  const ownOrigin = ownOriginOnly(rule.publicUrl);
  const enter: Middleware = async (ctx, next) => {
    const name = await passes.identify(ctx.req.headers);
    if (name !== undefined) {
      ctx.state.operator = name;
      ctx.set('Cache-Control', 'no-store');
      return next();
    }
    const wantsPage = ctx.method === 'GET' && ctx.get('authorization') === '' && prefersHtml(ctx);
    if (!wantsPage) return operators(ctx, next);
    ctx.status = 401;
    ctx.set({ 'WWW-Authenticate': 'Bearer realm="operator"', 'Cache-Control': 'no-store' });
    await sendPage(ctx, SIGN_IN);
  };
  return (ctx, next) => ownOrigin(ctx, async () => enter(ctx, next));
}

const SIGN_IN = {
  title: 'Sign in · Twinline',
  script: 'sign-in.js' as const,
  body: html`<section class="card"><h1>For operators</h1>
<p>This page opens for holders of the OPERATOR_TOKEN of this server. You stay signed in for eight hours.</p>
<form id="sign-in" class="row sign-in"><label class="stack grow">Token <input id="token" type="password" autocomplete="off" required></label>
<button class="primary" type="submit">Sign in</button></form>
<p id="notice" role="alert"></p>
<noscript><p>Signing in needs JavaScript.</p></noscript></section>`,
};

/** The operator's name for the audit log. */
export function nameOperator({ state }: Pick<Context, 'state'>): string {
  return typeof state.operator === 'string' ? state.operator : 'operator';
}
