// GET /inspector/stately: hands what happens to the inspector of stately.ai, after it was said plainly and asked for.

import type { Context } from 'koa';
import helmet from 'koa-helmet';
import { sendPage } from '../kit/frame.ts';
import { html } from '../kit/html.ts';
import { toolHeader } from '../kit/tool-header.ts';

// The only page that may show one of another site.
const policy = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'"],
    'frame-src': ['https://stately.ai'],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  },
});

/** Answers with the page; nothing leaves this server before its button is pressed. */
export async function sendStatelyPage(ctx: Context): Promise<void> {
  await sendPage(ctx, {
    title: 'Open in Stately · Twinline',
    layout: 'wide',
    sheets: ['inspector.css'],
    modules: ['inspector-stately.js'],
    body: html`${toolHeader('/inspector/stately')}
<section id="notice" class="card hand-off"><h1>Open in Stately’s inspector</h1>
<p><strong>What you see there is shown by a page of stately.ai.</strong> Your browser loads it from the internet and hands it
what this server tells the inspector: the flows with their texts, states, events, and the variables of sessions. Secrets are
left out and phone numbers are shortened here, before. Twinline itself sends nothing, and what that page does with what it
is handed is up to Stately.</p>
<p><button id="send" class="primary" type="button">Show it at stately.ai</button>
<a href="/inspector">Back to the inspector of this server</a></p></section>
<p id="told" role="status"></p>
<div id="frame" class="stately"></div>
<noscript><p>This page needs JavaScript.</p></noscript>`,
  });
  await policy(ctx, async () => {});
}
