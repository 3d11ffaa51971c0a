// The page of the studio, filled by its script: the editor on the left, a tool on the right; on a phone one at a time.

import { html } from '../../../lib/markup.ts';
import type { FlowCode } from '../../../lib/ussd/codes.ts';
import type { PageContent } from '../kit/frame.ts';
import { DIALOGS } from './manage/dialogs.ts';

const PARTS = [
  ['text', 'Text'],
  ['drawing', 'Build'],
  ['phone', 'Phone'],
  ['tests', 'Tests'],
  ['words', 'Languages'],
  ['history', 'History'],
] as const;

export interface StudioPageOptions {
  /** The flow that the page opens first. */
  readonly flow: string;
  /** Whether dialled drafts call services. */
  readonly callsServices: boolean;
  /** Flows of single service codes. */
  readonly codes: readonly FlowCode[];
  /** Whether a save keeps a draft. */
  readonly savesDrafts: boolean;
}

const NO_CALLS = html`<p class="quiet">On this server drafts call no services; each call leads to its <code>fail</code> screen.</p>`;

export function studioPage({ flow, codes, callsServices, savesDrafts }: StudioPageOptions): PageContent {
  return {
    title: 'Studio · Twinline',
    layout: 'full',
    style: 'studio.css',
    script: 'studio.js',
    body: html`<header class="studio-head row small"><h1>Studio</h1>
<label class="row quiet">Flow <select id="flows"></select></label>
<code id="file" class="quiet" title="The file that Save writes"></code>
<button id="begin" type="button">New flow …</button><button id="manage" type="button">Flows …</button><button id="download" type="button">Download</button>
<span class="row acts"><span id="state" class="quiet" role="status">Loading …</span>
<button id="undo" type="button" title="Ctrl+Z" disabled>Undo</button><button id="redo" type="button" title="Ctrl+Y" disabled>Redo</button>
<button id="save-draft" type="button" title="Callers go on with the published text" disabled>Save as draft</button>
<button id="save" class="primary" type="button" title="Ctrl+S" disabled>Save</button>
<button id="publish" class="primary" type="button" hidden>Publish …</button></span></header>
<p id="notice" class="quiet" role="status"></p>
<section id="conflict" class="card" hidden aria-labelledby="conflict-title"><h2 id="conflict-title">The file was changed on disk</h2>
<p>Red is only on disk, green only in the editor. Nothing was overwritten.</p><div id="conflict-diff" class="diff"></div>
<p class="row small"><button id="take-disk" type="button">Use the file on disk</button>
<button id="keep-mine" type="button">Keep mine; the next save replaces the file</button></p></section>
<nav class="tabs row small" aria-label="Parts of this page">${PARTS.map(
      ([id, name]) => html`<button type="button" data-part="${id}" id="tab-${id}">${name}</button>\n`,
    )}</nav>
<div class="studio" id="studio" data-flow="${flow}" data-part="drawing" data-codes="${JSON.stringify(codes)}" data-saves="${savesDrafts ? 'draft' : 'publish'}">
<section id="text" class="card" aria-label="Text">
<div class="row small"><button type="button" id="show-flow" aria-pressed="true">Flow</button>
<button type="button" id="show-tests" aria-pressed="false">Tests</button>
<span class="quiet keys"><kbd>Ctrl</kbd>+<kbd>Space</kbd> completes · <kbd>Esc</kbd> <kbd>Tab</kbd> leaves the editor</span></div>
<div id="editor" class="editor"></div>
<ol id="problems" class="problems stack small" aria-label="Problems" tabindex="0"></ol>
</section>
<section id="drawing" class="card" aria-label="Drawing and form">
<div class="row small"><h2>Drawing</h2><span id="drawn" class="quiet grow" role="status">Drawing …</span>
<button id="smaller" type="button" aria-label="Smaller">−</button><button id="larger" type="button" aria-label="Larger">+</button></div>
<div class="row small callers"><label class="row quiet">Callers <select id="callers-days"><option value="">not shown</option><option value="1">24 hours</option>
<option value="7">7 days</option><option value="30">30 days</option></select></label>
<select id="callers-version" aria-label="Version" hidden></select><select id="callers-language" aria-label="Language" hidden></select>
<span id="callers-words" class="quiet" role="status"></span>
<span id="callers-links" class="row quiet" hidden><a data-format="csv" href="#">CSV</a><a data-format="json" href="#">JSON</a></span></div>
<details id="callers-table" hidden></details>
<div id="picture" tabindex="0" role="region" aria-label="Drawing of the flow: arrow keys move between screens, Enter opens the form of one; a mouse drags an arrow to another screen"></div>
<section id="form" aria-label="Form">
<div class="row small"><label class="row quiet grow">Screen <select id="form-screen" class="grow"></select></label>
<button id="form-add" type="button">Add a screen …</button>
<button id="form-rename" class="of-screen" type="button">Rename …</button><button id="form-duplicate" class="of-screen" type="button">Duplicate</button>
<button id="form-delete" class="of-screen" type="button">Delete …</button><button id="form-text" type="button">Show the text</button></div>
<div id="form-fields" class="fields"></div>
</section>
</section>
<section id="phone" class="card" aria-label="Phone">
<div class="row small"><h2>Phone</h2><span class="grow"></span><button id="preview-link" type="button">Link to a preview</button>
<label class="row quiet">for <select id="preview-hours"><option value="1">an hour</option><option value="24" selected>a day</option>
<option value="168">a week</option></select></label><button id="dial" class="primary" type="button">Dial the draft</button></div>
<p id="preview-made" class="quiet link" role="status"></p>
${callsServices ? '' : NO_CALLS}
<div id="device" class="device"></div>
<div id="reasons" class="reasons" role="region" aria-label="Why it shows this" hidden></div>
<form id="record" class="row small"><label class="row quiet grow">Name of a test <input id="test-name" class="grow" maxlength="80" placeholder="What this dialogue shows"></label>
<button type="submit">Record as a test</button></form>
</section>
<section id="tests" class="card" aria-label="Tests">
<div class="row small"><h2 class="grow">Tests</h2><span id="tested" class="quiet" role="status"></span>
<button id="run" type="button">Run</button><button id="update" type="button">Update what they expect</button></div>
<ol id="results" class="results stack small"></ol>
</section>
<section id="words" class="card" aria-label="Languages">
<div class="row"><h2>Languages</h2><label class="row grow"><span class="hidden">Find</span><input id="find-words" class="grow" type="search" placeholder="Find a text"></label></div>
<p class="quiet">The number is the length of a text on a screen of 182 characters, before values and key lines. Red: too long, or a character that halves the room.</p>
<div id="wordings" class="wordings stack" tabindex="0"></div>
</section>
<section id="history" class="card" aria-label="History">
<div class="row apart small"><h2>History</h2><button id="restore" type="button" hidden>Put it into the editor</button></div>
<ol id="versions" class="versions stack small"></ol><div id="version-diff" class="diff"></div>
</section>
</div>
${DIALOGS}
<noscript><p class="card">The studio needs JavaScript. Flows are files; any editor will do.</p></noscript>`,
  };
}
