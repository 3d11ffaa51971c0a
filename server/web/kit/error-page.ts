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

/**
 * Answers 429 with a page when a browser asks for one; resolves to whether it did. The page asks again by itself when the time has
 * come.
 */
export async function sendWaitPage(ctx: Context, seconds: number): Promise<boolean> {
  if (!prefersHtml(ctx)) return false;
  const now = Date.now();
  const until = new Date(now + seconds * 1_000).toISOString();
  const left = `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  const words = html`<p>This address has asked for more than this server answers in so short a time.</p>
<p>Try again in <time data-until="${until}" data-now="${new Date(now).toISOString()}">${left}</time>.</p>`;
  ctx.status = 429;
  ctx.set('Cache-Control', 'no-store');
  await sendPage(ctx, { ...messagePage('Too many requests', words), script: 'header.js' });
  return true;
}
