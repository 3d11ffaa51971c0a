// Errors for those who asked for a page: what happened in words, where to go on, and what to tell an operator.

import type { Context } from 'koa';
import { html, type Part } from '../../../lib/markup.ts';
import type { ErrorAnswer, RefusalKind } from '../../http/errors.ts';
import { messagePage, prefersHtml, sendPage } from './frame.ts';

const TITLES: { readonly [kind in RefusalKind]?: string } = {
  'not-found': 'There is no such page',
  'too-many-requests': 'Too many requests',
  internal: 'Something went wrong here',
  'bad-gateway': 'Something that is needed did not answer',
  unavailable: 'This server cannot answer now',
};

const WORDS: { readonly [kind in RefusalKind]?: string } = {
  'not-found': 'The address may be mistyped, or the page may be for operators only.',
  internal: 'It is not your fault. It was logged, and operators can find it by the id below.',
  unavailable: 'It has too much to do, or a store is away. Try again in a moment.',
};

/** Answers with a page when a browser asks for one; programs send `Authorization`. Resolves to whether it did. */
export async function sendErrorPage(ctx: Context, { status, body }: ErrorAnswer): Promise<boolean> {
  ctx.vary('Accept');
  if (!prefersHtml(ctx) || ctx.get('authorization') !== '') return false;
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  const title = TITLES[body.code] ?? body.error;
  await sendPage(ctx, { ...messagePage(title, errorWords(body)), title: `${title} · Twinline` });
  return true;
}

function errorWords({ code, error, requestId }: ErrorAnswer['body']): Part {
  const words = WORDS[code] ?? (TITLES[code] === undefined ? '' : `${error}.`);
  return html`${words !== '' && html`<p>${words}</p>`}
<p>Go to the <a href="/">home</a> of this server or its <a href="/docs/guides">guides</a>, or read <a href="/docs/errors/${code}">what ${code} means</a>.</p>
<p class="at">Request <code>${requestId}</code></p>`;
}
