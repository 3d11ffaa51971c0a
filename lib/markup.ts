// Templates for HTML and SVG: interpolated values are escaped unless they are templates themselves.

const TEXT = Symbol('markup');

/** Trusted markup. */
export interface Markup {
  readonly [TEXT]: string;
}

/** A value in a template; `false`, null and undefined render nothing. */
export type Part = Markup | string | number | false | null | undefined | readonly Part[];

/** A template of HTML or SVG: html`<b title="${text}">${text}</b>`. Attributes must be quoted. */
export function html(source: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { [TEXT]: source.reduce((before, next, at) => before + escapePart(parts[at - 1]) + next) };
}

/** Marks text as markup. Only for our own files, never for user content. */
export function trustMarkup(text: string): Markup {
  return { [TEXT]: text };
}

/** The markup as text. */
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

// XML cannot represent these characters at all, not even escaped.
const IMPOSSIBLE = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function escapePart(part: Part): string {
  if (part === false || part === null || part === undefined) return '';
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string')
    return part.replace(IMPOSSIBLE, '\uFFFD').replace(/[&<>"'`]/g, (character) => ENTITIES[character]!);
  return TEXT in part ? part[TEXT] : part.map(escapePart).join('');
}
