// The page of the inspector, filled by its script, and the page that forwards the stream to stately.ai.

import type { Context } from 'koa';
import { html } from '../../../lib/markup.ts';
import { type PageContent, sendPage } from '../kit/frame.ts';

const TABS = [
  ['side', 'Sessions'],
  ['stage', 'Diagram'],
  ['detail', 'Events'],
] as const;

/** The page, which shows this flow first. */
export function inspectorPage(flow: string): PageContent {
  return {
    title: 'Inspector · Twinline',
    layout: 'full',
    style: 'inspector.css',
    script: 'inspector.js',
    body: html`<header class="row"><h1>Inspector</h1>
<p id="state" class="row quiet grow" role="status">Connecting …</p>
<a href="/inspector/stately">Open in Stately …</a></header>
<nav class="tabs row small" aria-label="Parts of this page">${TABS.map(
      ([id, name]) => html`<button type="button" data-part="${id}">${name}</button>\n`,
    )}</nav>
<div class="inspector" id="inspector" data-part="stage" data-flow="${flow}">
<aside id="side" class="card small" aria-label="Machines and sessions">
<label><span class="hidden">Search</span><input id="search" type="search" aria-keyshortcuts="/" placeholder="Words, or a number  /"></label>
<p id="searched" class="quiet" role="status"></p>
<h2 class="caps">Machines</h2><ul id="machines" class="lines stack"></ul>
<h2 class="caps">Sessions <small id="count"></small></h2>
<div class="filters"><label><span class="hidden">Flow</span><select id="filter-machine"></select></label>
<label><span class="hidden">Screen</span><select id="filter-state"></select></label>
<label><span class="hidden">Which</span><select id="filter-standing"></select></label></div>
<ul id="sessions" class="lines stack"></ul>
<p id="quiet" class="quiet"></p>
<h2 class="caps">Trouble</h2>
<p class="quiet">Sessions in which something failed, with their last turns: of this process, the last 100.</p>
<ul id="trouble" class="lines stack"></ul>
</aside>
<section id="stage" class="card" aria-label="Diagram">
<div class="row small"><h2 id="machine">…</h2><span id="part-shown" class="quiet"></span>
<button id="heat" type="button" aria-pressed="false" title="How often each way was taken (h)">Heat</button>
<button id="smaller" type="button" aria-label="Smaller">−</button><button id="fit" type="button" title="As large as fits (f)">Fit</button>
<button id="larger" type="button" aria-label="Larger">+</button></div>
<div id="drawing" tabindex="0" role="region" aria-label="The machine"></div>
<div class="row small"><button id="pause" type="button" class="primary" title="Space">Pause</button>
<button id="earlier" type="button" aria-label="Earlier">‹</button>
<input id="time" type="range" min="0" max="0" value="0" aria-label="Time">
<button id="later" type="button" aria-label="Later">›</button><output id="moment" for="time"></output></div>
</section>
<aside id="detail" class="card small" aria-label="Session">
<div class="row small"><h2 id="who">No session chosen</h2>
<button id="copy" type="button" hidden>Copy as flow test</button>
<button id="end" type="button" hidden title="The audit log says that you ended it">End session</button></div>
<p id="notice" class="quiet" role="status"></p>
<h3>Screen</h3><pre id="screen" tabindex="0">–</pre>
<h3>Events</h3><ol id="events" class="events" tabindex="0"></ol>
<h3>Variables <button id="reveal" type="button" hidden title="The audit log says that you were shown them">Show private values</button></h3>
<dl id="context" class="context"></dl>
</aside>
</div>
<p class="keys quiet"><kbd>j</kbd> <kbd>k</kbd> session · <kbd>←</kbd> <kbd>→</kbd> time · <kbd>space</kbd> pause · <kbd>h</kbd> heat · <kbd>f</kbd> fit · <kbd>/</kbd> search · in the diagram: <kbd>↑</kbd> <kbd>↓</kbd> <kbd>←</kbd> <kbd>→</kbd> state · <kbd>Enter</kbd> its sessions</p>
<noscript><p class="card">The inspector needs JavaScript.</p></noscript>`,
  };
}

/** Answers with the page. Nothing leaves this server before its button is pressed. */
export async function sendStatelyPage(ctx: Context): Promise<void> {
  await sendPage(ctx, {
    title: 'Open in Stately · Twinline',
    layout: 'wide',
    // The only page that frames another site.
    frames: ['https://stately.ai'],
    style: 'inspector.css',
    script: 'stately.js',
    body: html`<section id="hand-off" class="card"><h1>Open in Stately’s inspector</h1>
<p><strong>What you see there is shown by a page of stately.ai.</strong> Your browser loads it from the internet and hands it
what this server tells the inspector: the flows with their texts, states, events, and the variables of sessions. Secrets are
left out and phone numbers are masked here, before. Twinline itself sends nothing, and what that page does with what it
is handed is up to Stately.</p>
<p><button id="send" class="primary" type="button">Show it at stately.ai</button>
<a href="/inspector">Back to the inspector of this server</a></p></section>
<p id="notice" role="status"></p>
<div id="frame"></div>
<noscript><p>This page needs JavaScript.</p></noscript>`,
  });
}
