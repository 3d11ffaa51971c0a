// The references below /docs: every error with its cause and what to do, and every key of a flow file.

import { RESOLUTION_ERRORS, type ResolutionCode } from '../../lib/domain/did/resolution-options.ts';
import { PROBLEMS, type Reason } from '../../lib/domain/problems.ts';
import { ERROR_CODES, type ErrorCode } from '../../lib/errors.ts';
import { flowSchema, type SchemaPart } from '../../lib/flow/format/schema.ts';
import { html, type Markup } from '../../lib/markup.ts';
import { REASON_STATUS, REFUSAL_OF, REFUSALS, RESOLUTION_STATUS, type RefusalKind } from '../http/errors.ts';
import type { Page } from '../web/kit/frame.ts';
import { type Advice, CODE_ADVICE, PROBLEM_ADVICE } from './error-advice.ts';

interface Entry extends Advice {
  /** The anchor, too. */
  readonly name: string;
  readonly note: string;
  readonly meaning: string;
}

/** Every problem type, by status. */
function problemEntries(): Entry[] {
  const names = Object.keys(PROBLEM_ADVICE) as (Reason | RefusalKind)[];
  const entries = names.map((name) => {
    const isReason = name in PROBLEMS;
    const status = isReason ? REASON_STATUS[name as Reason] : REFUSALS[name as RefusalKind].status;
    const title = isReason ? PROBLEMS[name as Reason].title : REFUSALS[name as RefusalKind].words;
    return { status, entry: { name, note: `HTTP ${status}`, meaning: `${title}.`, ...PROBLEM_ADVICE[name] } };
  });
  return entries.sort((a, b) => a.status - b.status).map(({ entry }) => entry);
}

/** Every error code, in the order of its table. */
function codeEntries(): Entry[] {
  return (Object.keys(ERROR_CODES) as ErrorCode[]).map((name) => {
    const { means, retry } = ERROR_CODES[name];
    const { status } = REFUSALS[REFUSAL_OF[name]];
    const again = retry ? 'trying again can help' : 'trying again does not help';
    return { name, note: `HTTP ${status} · ${again}`, meaning: `${sentence(means)}.`, ...CODE_ADVICE[name] };
  });
}

export function errorsPage(): Page {
  return {
    title: 'Errors · Twinline',
    style: 'docs.css',
    body: html`<header class="card"><h1>Errors</h1>
<p class="lead">What can go wrong, why, and what to do. The <code>type</code> of a problem document leads here;
<code>code</code> of the other answers is the same word. All routes are in <a href="/docs">the documentation</a>.</p></header>
${errorSection('Problem types', problemEntries())}
${errorSection('Error codes', codeEntries(), html`<p class="lead">Codes of <code>TwinlineError</code>, in logs and for those who use the library.</p>`)}
<section class="card"><h2>Errors of DID resolution</h2>
<p class="lead">In results of /1.0/identifiers, under the names that the standard gives them.</p>
<ul>${Object.entries(RESOLUTION_ERRORS).map(
      ([name, { title }]) =>
        html`<li id="${name}"><code>${name}</code> <span class="at">HTTP ${RESOLUTION_STATUS[name as ResolutionCode]}</span> ${title}.</li>`,
    )}</ul></section>`,
  };
}

/** The page of one problem type or error code; undefined when there is none of this name. */
export function errorPage(name: string): Page | undefined {
  const entry = [...problemEntries(), ...codeEntries()].find((one) => one.name === name);
  if (!entry) return undefined;
  return {
    title: `${name} · Twinline`,
    style: 'docs.css',
    body: html`<section class="card">${errorEntry(entry)}<p class="lead">One of all <a href="/docs/errors">errors</a>.</p></section>`,
  };
}

function errorSection(title: string, entries: readonly Entry[], lead: Markup | false = false): Markup {
  return html`<section class="card"><h2>${title}</h2>${lead}
<ul class="contents">${entries.map(({ name }) => html`<li><a href="#${name}">${name}</a></li>`)}</ul>
${entries.map(errorEntry)}</section>`;
}

function errorEntry({ name, note, meaning, cause, remedy }: Entry): Markup {
  return html`<article class="entry" id="${name}"><h3><a href="#${name}">${name}</a><span>${note}</span></h3>
<dl><dt>Meaning</dt><dd>${formatCode(meaning)}</dd><dt>Cause</dt><dd>${formatCode(cause)}</dd><dt>What to do</dt><dd>${formatCode(
    remedy,
  )}</dd></dl></article>
`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const PARTS = ['option', 'way', 'accept', 'variable', 'migration', 'text', 'range'] as const;

export function flowFormatPage(): Page {
  const { description } = flowSchema();
  const screens = definition('screen').oneOf!.map(({ $ref }) => $ref!.slice('#/definitions/'.length));
  return {
    title: 'Flow format · Twinline',
    style: 'docs.css',
    body: html`<header class="card guide"><h1>Flow format</h1><p class="lead">${formatCode(description!)}</p>
<p>A flow is a file <code>&lt;name&gt;.flow.json</code> in <code>MENUS_DIR</code>; its tests stand beside it in
<code>&lt;name&gt;.test.json</code>. With <code>"$schema": "./flow.schema.json"</code> an editor completes and explains all of this.
How it is used: <a href="/docs/guides/menus">Writing menus</a>.</p>
<ul class="contents">${['flow', ...screens.map((name) => `screen-${name}`), ...PARTS].map(
      (name) => html`<li><a href="#${name}">${partTitle(name)}</a></li>`,
    )}</ul></header>
${partSection('flow', flowSchema())}
${screens.map((name) => partSection(`screen-${name}`, definition(name)))}
${PARTS.map((name) => partSection(name, definition(name)))}`,
  };
}

const definition = (name: string) => flowSchema().definitions![name]!;

const partTitle = (id: string) =>
  id === 'flow' ? 'The file' : id.startsWith('screen-') ? `Screen: ${id.slice(7)}` : `Part: ${id}`;

function partSection(id: string, part: SchemaPart): Markup {
  const keys = keyRows(part, '');
  return html`<section class="card guide" id="${id}"><h2>${partTitle(id)}</h2>
${part.description ? html`<p>${formatCode(part.description)}</p>` : false}
${example(part)}
${keys.length > 0 && html`<div class="table" tabindex="0" role="region" aria-label="keys of ${partTitle(id)}"><table><thead><tr><th>key</th><th>meaning</th><th>value</th></tr></thead><tbody>${keys}</tbody></table></div>`}</section>`;
}

function example({ examples }: SchemaPart): Markup | false {
  const [first] = examples ?? [];
  if (typeof first !== 'object' || first === null) return false;
  return html`<figure class="code"><pre tabindex="0" role="region" aria-label="example"><code>${JSON.stringify(first, null, 2)}</code></pre></figure>`;
}

// Keys inside keys are told by their path: `keys.back`.
function keyRows(part: SchemaPart, prefix: string): Markup[] {
  const required = new Set(part.required ?? []);
  return Object.entries(part.properties ?? {}).flatMap(([key, given]) => {
    const value = resolveReference(given);
    const needed = required.has(key) && html` <span class="at">required</span>`;
    const row = html`<tr><td><code>${prefix}${key}</code>${needed}</td><td>${formatCode(value.description ?? '')}</td><td>${keyValue(value)}</td></tr>`;
    return value.properties && !given.$ref ? [row, ...keyRows(value, `${prefix}${key}.`)] : [row];
  });
}

function resolveReference(part: SchemaPart): SchemaPart {
  const name = part.$ref?.split('/').at(-1);
  return name === undefined ? part : { ...definition(name), ...part };
}

function keyValue(part: SchemaPart): Markup {
  const { default: usual, examples, minimum, maximum, maxItems, maxProperties } = part;
  const range = minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : undefined;
  const most = maxItems ?? maxProperties;
  const shown = (examples ?? []).filter((value) => typeof value !== 'object').slice(0, 3);
  return html`${keyType(part)}${range && html`, ${range}`}${most && html`, at most ${most}`}${
    usual !== undefined && html`<br>default <code>${JSON.stringify(usual)}</code>`
  }${shown.length > 0 && html`<br>such as ${shown.map((value, at) => html`${at > 0 && ', '}<code>${JSON.stringify(value)}</code>`)}`}`;
}

function keyType(part: SchemaPart): Markup | string {
  const name = part.$ref?.split('/').at(-1);
  if (name && (PARTS as readonly string[]).includes(name)) return html`<a href="#${name}">${name}</a>`;
  if (part.enum) return html`${part.enum.map((value, at) => html`${at > 0 && ' or '}<code>${String(value)}</code>`)}`;
  if (part.const !== undefined) return html`<code>${JSON.stringify(part.const)}</code>`;
  const one = (type: unknown) => (type === 'array' ? 'list' : String(type ?? 'any value'));
  return Array.isArray(part.type) ? part.type.map(one).join(' or ') : one(part.type);
}

// What stands between backticks is code.
function formatCode(text: string): Markup {
  return html`${text.split('`').map((part, at) => (at % 2 ? html`<code>${part}</code>` : part))}`;
}
