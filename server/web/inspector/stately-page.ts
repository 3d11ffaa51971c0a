// GET /inspector/stately: hands what happens to the inspector of stately.ai, after it was said plainly and asked for.

import type { Context } from 'koa';
import { html } from '../../../lib/markup.ts';
import { sendPage, toolHeader } from '../kit/frame.ts';

/** Answers with the page; nothing leaves this server before its button is pressed. */
export async function sendStatelyPage(ctx: Context): Promise<void> {
  await sendPage(ctx, {
    title: 'Open in Stately · Twinline',
    layout: 'wide',
    // The only page that may show one of another site.
    frames: ['https://stately.ai'],
    style: 'inspector.css',
    script: 'stately.js',
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
}
