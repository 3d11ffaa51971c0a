// The page of the studio, filled by its script: the editor on the left, a tool on the right; on a phone one at a time.

import { KINDS } from '../../../lib/flow/screens/kinds.ts';
import { html } from '../../../lib/markup.ts';
import type { FlowCode } from '../../../lib/ussd/codes.ts';
import type { PageContent } from '../kit/frame.ts';

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
}

const NO_CALLS = html`<p class="quiet">On this server drafts call no services; each call leads to its <code>fail</code> screen.</p>`;

const DIALOGS = html`<dialog id="new-flow"><form method="dialog"><h2>New flow</h2>
<label>Name <input id="new-name" pattern="[A-Za-z][A-Za-z0-9_\\-]{0,63}" maxlength="64" title="A letter, then letters, digits, - and _" required></label>
<fieldset id="starters"><legend>Start with</legend></fieldset>
<p id="new-notice" role="alert"></p>
<p class="row"><button type="button" class="cancel">Cancel</button><button id="create" class="primary" type="submit" value="create">Create</button></p></form></dialog>
<dialog id="add-screen" aria-labelledby="add-title"><form method="dialog"><h2 id="add-title">Add a screen</h2>
<label>Type <select id="add-type">${Object.entries(KINDS).map(
  ([type, { schema }]) => html`<option value="${type}">${type} · ${schema.about}</option>`,
)}</select></label>
<label>Name <input id="add-id" pattern="[A-Za-z][A-Za-z0-9_]{0,63}" title="A letter, then letters, digits and _" required></label>
<label data-types="menu input list end">Text <textarea id="add-text" rows="2"></textarea></label>
<label data-types="menu">Lines, one below the other <textarea id="add-lines" rows="3"></textarea></label>
<label data-types="input">Asks for <select id="add-answer"><option value="text">a text</option><option value="number">a number</option>
<option value="pin">a PIN, which is never stored</option><option value="phone">a phone number</option><option value="date">a date</option></select></label>
<label data-types="call">Service <input id="add-service" list="add-services" value="http.get"></label><datalist id="add-services"></datalist>
<label data-types="flow">Flow <input id="add-flow" list="add-flows"></label><datalist id="add-flows"></datalist>
<label>Reached by <select id="add-way"></select></label>
<label id="add-line-row">Text of the line <input id="add-line"></label>
<p role="alert"></p>
<p class="row"><button type="button" class="cancel">Cancel</button><button class="primary" type="submit" value="do">Add</button></p></form></dialog>
<dialog id="name-screen" aria-labelledby="name-title"><form method="dialog"><h2 id="name-title">Rename</h2>
<label>Name <input id="name-name" pattern="[A-Za-z][A-Za-z0-9_]{0,63}" title="A letter, then letters, digits and _" required></label>
<p role="alert"></p>
<p class="row"><button type="button" class="cancel">Cancel</button><button class="primary" type="submit" value="do">OK</button></p></form></dialog>
<dialog id="delete-screen" aria-labelledby="delete-title"><form method="dialog"><h2 id="delete-title">Delete</h2>
<p id="delete-uses"></p><label>They <select id="delete-lead"></select></label>
<p role="alert"></p>
<p class="row"><button type="button" class="cancel">Cancel</button><button class="primary" type="submit" value="do">Delete</button></p></form></dialog>`;

export function studioPage({ flow, codes, callsServices }: StudioPageOptions): PageContent {
  return {
    title: 'Studio · Twinline',
    layout: 'full',
    style: 'studio.css',
    script: 'studio.js',
    body: html`<header class="studio-head row"><h1>Studio</h1>
<label class="row quiet">Flow <select id="flows"></select></label>
<code id="file" class="quiet" title="The file that Save writes"></code>
<button id="begin" type="button">New flow …</button><button id="download" type="button">Download</button>
<span id="state" class="quiet" role="status">Loading …</span>
<button id="undo" type="button" title="Ctrl+Z" disabled>Undo</button><button id="redo" type="button" title="Ctrl+Y" disabled>Redo</button>
<button id="save" class="primary" type="button" title="Ctrl+S" disabled>Save</button></header>
<p id="notice" class="quiet" role="status"></p>
<section id="conflict" class="card" hidden aria-labelledby="conflict-title"><h2 id="conflict-title">The file was changed on disk</h2>
<p>Red is only on disk, green only in the editor. Nothing was overwritten.</p><div id="conflict-diff" class="diff"></div>
<p class="row small"><button id="take-disk" type="button">Use the file on disk</button>
<button id="keep-mine" type="button">Keep mine; the next save replaces the file</button></p></section>
<nav class="tabs row small" aria-label="Parts of this page">${PARTS.map(
      ([id, name]) => html`<button type="button" data-part="${id}" id="tab-${id}">${name}</button>\n`,
    )}</nav>
<div class="studio" id="studio" data-flow="${flow}" data-part="drawing" data-codes="${JSON.stringify(codes)}">
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
<div id="picture" tabindex="0" role="region" aria-label="Drawing of the flow: arrow keys move between screens, Enter opens the form of one"></div>
<section id="form" aria-label="Form">
<div class="row small"><label class="row quiet grow">Screen <select id="form-screen" class="grow"></select></label>
<button id="form-add" type="button">Add a screen …</button>
<button id="form-rename" class="of-screen" type="button">Rename …</button><button id="form-duplicate" class="of-screen" type="button">Duplicate</button>
<button id="form-delete" class="of-screen" type="button">Delete …</button><button id="form-text" type="button">Show the text</button></div>
<div id="form-fields" class="fields"></div>
</section>
</section>
<section id="phone" class="card" aria-label="Phone">
<div class="row apart small"><h2>Phone</h2><button id="dial" class="primary" type="button">Dial the draft</button></div>
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
