// SVG as templates: whatever is put into one is text and escaped, unless it is a template itself.

const MARKUP = Symbol('markup');

/** Markup that was written here. */
export interface Svg {
  readonly [MARKUP]: string;
}

type Part = Svg | string | number | false | undefined | readonly Part[];

/** A template: svg`<text class="${name}">${text}</text>`. Attributes must be quoted. */
export function svg(source: TemplateStringsArray, ...parts: readonly Part[]): Svg {
  return { [MARKUP]: source.reduce((before, next, at) => before + rendered(parts[at - 1]) + next) };
}

/** Text that is markup already, such as a sheet of ours. */
export function markup(text: string): Svg {
  return { [MARKUP]: text };
}

/** The markup as text. */
export function svgText(part: Svg): string {
  return part[MARKUP];
}

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// XML has no word for these at all, not even escaped.
const IMPOSSIBLE = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function rendered(part: Part): string {
  if (part === false || part === undefined) return '';
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string')
    return part.replace(IMPOSSIBLE, '\uFFFD').replace(/[&<>"']/g, (character) => ENTITIES[character]!);
  return MARKUP in part ? part[MARKUP] : part.map(rendered).join('');
}
