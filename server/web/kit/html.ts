// Pages as templates: whatever is put into one is text, unless it is a template itself.

const MARKUP = Symbol('markup');

/** Markup that was written here. */
export interface Html {
  readonly [MARKUP]: string;
}

/** What may stand in a template; `false` and what is missing leave nothing. */
export type Part = Html | string | number | false | null | undefined | readonly Part[];

/** A template: html`<b title="${text}">${text}</b>`. Attributes must be quoted. */
export function html(markup: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [MARKUP]: markup.reduce((before, next, at) => before + rendered(parts[at - 1]) + next) };
}

/** Markup that one of our own files was made into; never that of somebody else. */
export function written(markup: string): Html {
  return { [MARKUP]: markup };
}

/** The markup as text, to be sent. */
export function markupOf(page: Html): string {
  return page[MARKUP];
}

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

function rendered(part: Part): string {
  if (part === false || part === null || part === undefined) return '';
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return part.replace(/[&<>"'`]/g, (character) => ENTITIES[character]!);
  return MARKUP in part ? part[MARKUP] : part.map(rendered).join('');
}
