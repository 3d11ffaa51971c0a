// The page with the phones; its script draws them.

import { html } from '../../../lib/markup.ts';
import { SHARED_LIMITS } from '../../../lib/shared-limits.ts';
import type { TextMode } from '../../../lib/ussd/request.ts';
import { type Page, toolHeader } from '../kit/frame.ts';

const MODES = {
  cumulative: html`<code>text</code> holds all answers, joined by <code>*</code>`,
  latest: html`<code>text</code> holds the last answer only, so a request that is repeated later counts as a new answer`,
} as const satisfies { readonly [mode in TextMode]: object };

export function simulatorPage({ mode, flow }: { readonly mode: TextMode; readonly flow: string }): Page {
  return {
    title: 'Phones · Twinline',
    layout: 'wide',
    style: 'simulator.css',
    script: 'simulator.js',
    body: html`${toolHeader('/simulator')}
<header class="tool">
<div><h1>Phones</h1>
<p class="lead">They dial the flow <code>${flow}</code> as telecoms do with <code>POST /api/ussd</code>: ${MODES[mode]}.
Type no PIN of yours: this tab keeps what was typed until you close it.</p>
<p id="told" role="status"></p></div>
<button id="add" class="primary" type="button">Add a phone</button>
</header>
<div id="phones" class="phones" data-mode="${mode}" data-code="*2233#" data-text-chars="${SHARED_LIMITS.ussdTextChars}"></div>
<p id="none" class="none" hidden>There is no phone. Add one.</p>
<noscript><p class="card">Phones need JavaScript. Without it there is <code>npx twinline chat</code>.</p></noscript>`,
  };
}
