// How code looks in references: words between backticks, JSON in lines that fit, and what an expression gives.

import type { Example } from '../../../lib/flow/expression/described.ts';
import { formatValue } from '../../../lib/flow/format/write.ts';
import type { Json } from '../../../lib/json/json.ts';
import { html, type Markup } from '../../../lib/markup.ts';

/** What stands between backticks is code. */
export function formatCode(text: string): Markup {
  return html`${text.split('`').map((part, at) => (at % 2 ? html`<code>${part}</code>` : part))}`;
}

/** Characters of a line beside the names of entries. */
const WIDTH = 64;

/** A value behind its key: `"retry": 1`. */
export function keyBlock(key: string, value: unknown): Markup {
  const name = `${JSON.stringify(key)}: `;
  return codeBlock(name + formatValue(value as Json, { width: WIDTH, taken: name.length }));
}

export function jsonBlock(value: unknown): Markup {
  return codeBlock(formatValue(value as Json, { width: WIDTH, taken: 0 }));
}

function codeBlock(text: string): Markup {
  return html`<pre><code>${text}</code></pre>`;
}

/** A whole file, which is scrolled where it is wide. */
export function fileBlock(name: string, text: string): Markup {
  return html`<figure class="code"><figcaption>${name}</figcaption><pre tabindex="0" role="region" aria-label="${name}"><code>${text}</code></pre></figure>`;
}

/** What the screen of a phone shows. */
export function phoneBlock(text: string): Markup {
  return html`<figure class="seen"><figcaption>The caller reads</figcaption><pre>${text}</pre></figure>`;
}

/** A line for each example: what is written, what it gives, and for which variables. */
export function exampleLines(examples: readonly Example[]): Markup {
  const line = ([source, gives, given]: Example) =>
    html`<li><code>${source}</code> gives <code>${JSON.stringify(gives)}</code>${given && html` <span class="at">where ${listGiven(given)}</span>`}</li>`;
  return html`<ul class="gives">${examples.map(line)}</ul>`;
}

function listGiven(given: { readonly [name: string]: Json }): Markup[] {
  return Object.entries(given).map(
    ([name, value], at) =>
      html`${at > 0 && ', '}<code>${name}</code> is <code>${formatValue(value, { width: Infinity, taken: 0 })}</code>`,
  );
}
