// The dialogs of the studio: new flows, all flows, publishing; and for screens.

import { KINDS } from '../../../../lib/flow/screens/kinds.ts';
import { html } from '../../../../lib/markup.ts';

export const DIALOGS = html`<dialog id="new-flow"><form method="dialog"><h2>New flow</h2>
<label>Name <input id="new-name" pattern="[A-Za-z][A-Za-z0-9_\\-]{0,63}" maxlength="64" title="A letter, then letters, digits, - and _" required></label>
<fieldset id="starters"><legend>Start with</legend></fieldset>
<div id="template" class="template" hidden></div>
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
<p class="row"><button type="button" class="cancel">Cancel</button><button class="primary" type="submit" value="do">Delete</button></p></form></dialog>
<dialog id="which-way" aria-labelledby="which-title"><form method="dialog"><h2 id="which-title">Lead to</h2>
<label>Way <select id="which-ways"></select></label>
<p role="alert"></p>
<p class="row"><button type="button" class="cancel">Cancel</button><button class="primary" type="submit" value="do">Lead it there</button></p></form></dialog>
<dialog id="all-flows" class="large" aria-labelledby="all-title"><h2 id="all-title">Flows</h2>
<p id="dial-fixed" class="quiet">USSD_FLOW names the flow that a dial starts; it is changed there.</p>
<p id="flows-notice" role="alert"></p>
<ul id="flow-rows" class="lined"></ul>
<section id="deleted"><h3>Deleted</h3><ul id="deleted-rows" class="lined"></ul></section>
<p class="row"><button type="button" class="cancel">Close</button></p></dialog>
<dialog id="publish-draft" class="large" aria-labelledby="publish-title"><h2 id="publish-title">Publish</h2>
<p id="publish-who" class="quiet"></p>
<p id="publish-same" class="quiet">The draft says what callers get already.</p>
<section id="publish-flow"><h3>The flow: red is what callers get, green is new</h3><div id="publish-flow-diff" class="diff"></div></section>
<section id="publish-tests"><h3>Its tests</h3><div id="publish-tests-diff" class="diff"></div></section>
<ul id="publish-reasons" class="stack small" role="alert"></ul>
<p class="row"><button type="button" class="cancel">Cancel</button><button id="publish-drop" type="button">Drop the draft</button>
<button id="publish-do" class="primary" type="button">Publish</button></p></dialog>`;
