// /docs/flow-format: every key of a flow file, as the schema tells it to editors and to the checks.

import { flowSchema, type SchemaPart } from '../../lib/flow/format/schema.ts';
import { html, type Markup } from '../../lib/markup.ts';
import type { Page } from '../web/kit/frame.ts';
import { prose } from './prose.ts';

const SCREENS = ['menu', 'input', 'list', 'call', 'branch', 'flow', 'end'] as const;
const PARTS = ['option', 'way', 'accept', 'variable', 'migration', 'text', 'range'] as const;

export function flowFormatPage(): Page {
  const { description } = flowSchema();
  return {
    title: 'Flow format · Twinline',
    style: 'docs.css',
    body: html`<header class="card guide"><h1>Flow format</h1><p class="lead">${prose(description!)}</p>
<p>A flow is a file <code>&lt;name&gt;.flow.json</code> in <code>MENUS_DIR</code>; its tests stand beside it in
<code>&lt;name&gt;.test.json</code>. With <code>"$schema": "./flow.schema.json"</code> an editor completes and explains all of this.
How it is used: <a href="/docs/guides/menus">Writing menus</a>.</p>
<ul class="contents">${['flow', ...SCREENS.map((name) => `screen-${name}`), ...PARTS].map(
      (name) => html`<li><a href="#${name}">${titleOf(name)}</a></li>`,
    )}</ul></header>
${section('flow', flowSchema())}
${SCREENS.map((name) => section(`screen-${name}`, definition(name)))}
${PARTS.map((name) => section(name, definition(name)))}`,
  };
}

const definition = (name: string) => flowSchema().definitions![name]!;

const titleOf = (id: string) =>
  id === 'flow' ? 'The file' : id.startsWith('screen-') ? `Screen: ${id.slice(7)}` : `Part: ${id}`;

function section(id: string, part: SchemaPart): Markup {
  const keys = rowsOf(part, '');
  return html`<section class="card guide" id="${id}"><h2>${titleOf(id)}</h2>
${part.description ? html`<p>${prose(part.description)}</p>` : false}
${example(part)}
${keys.length > 0 && html`<div class="table" tabindex="0" role="region" aria-label="keys of ${titleOf(id)}"><table><thead><tr><th>key</th><th>meaning</th><th>value</th></tr></thead><tbody>${keys}</tbody></table></div>`}</section>`;
}

function example({ examples }: SchemaPart): Markup | false {
  const [first] = examples ?? [];
  if (typeof first !== 'object' || first === null) return false;
  return html`<figure class="code"><pre tabindex="0" role="region" aria-label="example"><code>${JSON.stringify(first, null, 2)}</code></pre></figure>`;
}

// Keys inside keys are told by their path: `keys.back`.
function rowsOf(part: SchemaPart, prefix: string): Markup[] {
  const required = new Set(part.required ?? []);
  return Object.entries(part.properties ?? {}).flatMap(([key, given]) => {
    const value = resolved(given);
    const needed = required.has(key) && html` <span class="at">required</span>`;
    const row = html`<tr><td><code>${prefix}${key}</code>${needed}</td><td>${prose(value.description ?? '')}</td><td>${valueOfKey(value)}</td></tr>`;
    return value.properties && !given.$ref ? [row, ...rowsOf(value, `${prefix}${key}.`)] : [row];
  });
}

function resolved(part: SchemaPart): SchemaPart {
  const name = part.$ref?.split('/').at(-1);
  return name === undefined ? part : { ...definition(name), ...part };
}

function valueOfKey(part: SchemaPart): Markup {
  const { default: usual, examples, minimum, maximum, maxItems, maxProperties } = part;
  const range = minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : undefined;
  const most = maxItems ?? maxProperties;
  const shown = (examples ?? []).filter((value) => typeof value !== 'object').slice(0, 3);
  return html`${kindOf(part)}${range && html`, ${range}`}${most && html`, at most ${most}`}${
    usual !== undefined && html`<br>default <code>${JSON.stringify(usual)}</code>`
  }${shown.length > 0 && html`<br>such as ${shown.map((value, at) => html`${at > 0 && ', '}<code>${JSON.stringify(value)}</code>`)}`}`;
}

function kindOf(part: SchemaPart): Markup | string {
  const name = part.$ref?.split('/').at(-1);
  if (name && (PARTS as readonly string[]).includes(name)) return html`<a href="#${name}">${name}</a>`;
  if (part.enum) return html`${part.enum.map((value, at) => html`${at > 0 && ' or '}<code>${String(value)}</code>`)}`;
  if (part.const !== undefined) return html`<code>${JSON.stringify(part.const)}</code>`;
  const one = (type: unknown) => (type === 'array' ? 'list' : String(type ?? 'any value'));
  return Array.isArray(part.type) ? part.type.map(one).join(' or ') : one(part.type);
}
