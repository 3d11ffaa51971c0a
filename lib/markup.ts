// HTML and SVG as templates: a value that is put into one is text and escaped, unless it is a template itself.

const TEXT = Symbol('markup');

/** Markup that was written here. */
export interface Markup {
  readonly [TEXT]: string;
}

/** What may stand in a template; `false` and what is missing leave nothing. */
export type Part = Markup | string | number | false | null | undefined | readonly Part[];

/** A template of HTML or SVG: html`<b title="${text}">${text}</b>`. Attributes must be quoted. */
export function html(source: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { [TEXT]: source.reduce((before, next, at) => before + escapePart(parts[at - 1]) + next) };
}

/** Text that is markup already: made of one of our own files, never of what others wrote. */
export function trustMarkup(text: string): Markup {
  return { [TEXT]: text };
}

/** The markup as text, to be sent or stored. */
export function markupText(markup: Markup): string {
  return markup[TEXT];
}

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

// XML has no form for these at all, not even an escaped one.
const IMPOSSIBLE = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function escapePart(part: Part): string {
  if (part === false || part === null || part === undefined) return '';
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string')
    return part.replace(IMPOSSIBLE, '\uFFFD').replace(/[&<>"'`]/g, (character) => ENTITIES[character]!);
  return TEXT in part ? part[TEXT] : part.map(escapePart).join('');
}
