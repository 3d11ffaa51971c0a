// Who may use the pages of operators, and how they sign in where there is an OPERATOR_TOKEN.

import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { systemClock } from '../../../lib/clock.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import { html } from '../../../lib/markup.ts';
import { Refusal } from '../../http/errors.ts';
import { type OperatorRule, operatorsOnly } from '../../http/middleware/operator.ts';
import { ownPagesOnly } from '../../http/middleware/own-origin.ts';
import { prefersHtml } from '../proposal/routes.ts';
import { sendPage } from './frame.ts';
import { operatorPasses } from './operator-pass.ts';

/**
 * Lets operators through as {@link operatorsOnly} does, and browsers that have signed in; others that want a page get one
 * to sign in on. Adds the route for that where there is a token.
 */
export function browserOperators(router: Router, rule: OperatorRule & { readonly keyring: Keyring }): Middleware {
  const { token, keyring } = rule;
  const operators = operatorsOnly(rule);
  const passes = token === undefined ? undefined : operatorPasses({ token, keyring, clock: systemClock });
  const ownPages = ownPagesOnly();
  router.post('/operator/sign-in', async (ctx) => {
    if (!passes) throw new Refusal('not-found');
    await ownPages(ctx, async () => {});
    const given = (ctx.request.body as { token?: unknown } | undefined)?.token;
    ctx.set('Cache-Control', 'no-store');
    if (typeof given !== 'string' || !passes.signIn(ctx, given))
      throw new Refusal('bad-request', 'This is another token');
    ctx.status = 204;
  });
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
  script: 'sign-in.js' as const,
  body: html`<section class="card message"><h1>For operators</h1>
<p>This page opens for whoever has the OPERATOR_TOKEN of this server. You stay signed in for eight hours.</p>
<form id="sign-in" class="sign-in"><label>Token <input id="token" type="password" autocomplete="off" required></label>
<button class="primary" type="submit">Sign in</button></form>
<p id="told" role="alert"></p>
<noscript><p>Signing in needs JavaScript.</p></noscript></section>`,
};
