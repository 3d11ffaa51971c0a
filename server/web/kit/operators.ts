// Who may use the pages of operators, and how they sign in where there is an OPERATOR_TOKEN.

import type { Middleware } from 'koa';
import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { JSON_BODY_ANSWERS, jsonTypes } from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import { type OperatorRule, operatorsOnly } from '../../http/middleware/operator.ts';
import type { Route } from '../../http/route-table.ts';
import { prefersHtml } from '../proposal/routes.ts';
import { sendPage } from './frame.ts';
import { html } from './html.ts';
import type { OperatorPasses } from './operator-pass.ts';

export interface SignInDeps {
  /** Undefined where there is no OPERATOR_TOKEN. */
  readonly passes: OperatorPasses | undefined;
}

const TEXT: Schema = { type: 'string' };

export const SIGN_IN_ROUTE: Route<SignInDeps> = {
  method: 'POST',
  path: '/operator/sign-in',
  id: 'signIn',
  summary: 'Sign a browser in with the OPERATOR_TOKEN',
  body: { types: jsonTypes({ type: 'object', required: ['token'], properties: { token: TEXT } }) },
  answers: {
    204: { description: 'Signed in', headers: { 'Set-Cookie': 'Who is signed in, until when' } },
    ...JSON_BODY_ANSWERS,
  },
  access: 'public',
  ownPages: true,
  handle: (ctx, { passes }) => {
    if (!passes) throw new Refusal('not-found');
    const given = (ctx.request.body as { token?: unknown } | undefined)?.token;
    ctx.set('Cache-Control', 'no-store');
    if (typeof given !== 'string' || !passes.signIn(ctx, given))
      throw new Refusal('bad-request', 'This is another token');
    ctx.status = 204;
  },
};

/**
 * Lets operators through as {@link operatorsOnly} does, and browsers that have signed in; others that want a page get one
 * to sign in on.
 */
export function browserOperators({ passes }: SignInDeps, rule: OperatorRule): Middleware {
  const operators = operatorsOnly(rule);
  return async (ctx, next) => {
    if (passes?.holds(ctx)) {
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
  modules: ['sign-in.js'] as const,
  body: html`<section class="card message"><h1>For operators</h1>
<p>This page opens for whoever has the OPERATOR_TOKEN of this server. You stay signed in for eight hours.</p>
<form id="sign-in" class="sign-in"><label>Token <input id="token" type="password" autocomplete="off" required></label>
<button class="primary" type="submit">Sign in</button></form>
<p id="told" role="alert"></p>
<noscript><p>Signing in needs JavaScript.</p></noscript></section>`,
};
