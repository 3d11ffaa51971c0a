// How the Markdown of a guide becomes a page: headings that can be linked to, boxes of code that say what they are, and tables
// that scroll by themselves. The blocks of code are those that the tests of the guides run.

import { Marked, type Tokens } from 'marked';
import { type Markup, trustMarkup } from '../../lib/markup.ts';

export interface RenderedGuide {
  readonly body: Markup;
  /** Headings of the second level, in their order. */
  readonly sections: readonly { readonly id: string; readonly title: string }[];
}

/** Renders one of our own files; nothing in it is escaped but what stands in code. */
export async function renderGuide(markdown: string): Promise<RenderedGuide> {
  const headings = reader
    .lexer(markdown)
    .filter((token): token is Tokens.Heading => token.type === 'heading' && token.depth === 2);
  return {
    body: trustMarkup(await reader.parse(markdown)),
    sections: headings.map(({ text }) => ({ id: makeAnchor(text), title: text.replaceAll('`', '') })),
  };
}

/** The fragment of a heading. One that is a link to itself says it: public names may differ by their case alone. */
export function makeAnchor(heading: string): string {
  const [, own] = /^\[[^\]]+\]\(#([^)]+)\)$/.exec(heading) ?? [];
  if (own !== undefined) return own;
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

type Inline = { parser: { parseInline(tokens: Tokens.Generic[]): string } };

const reader = new Marked({
  gfm: true,
  renderer: {
    heading(this: Inline, { depth, text, tokens }) {
      // The page of every name would grow by a tenth with links to each: the script makes them.
      const words = text === `[${makeAnchor(text)}](#${makeAnchor(text)})` ? makeAnchor(text) : undefined;
      return `<h${depth} id="${makeAnchor(text)}">${words ?? this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    code({ text, lang = '' }) {
      // For tests alone: what is printed here does not matter.
      if (text.trim() === '…') return '';
      const [language = '', place = ''] = lang.split(' ');
      const { caption, kind } = describeBlock(language, place);
      const focus = `tabindex="0" role="region" aria-label="${escapeText(caption || kind)}"`;
      const heading = caption && `<figcaption>${escapeText(caption)}</figcaption>`;
      const code = `<code class="language-${language}">${escapeText(text)}</code>`;
      return `<figure class="code ${kind}">${heading}<pre ${focus}>${code}</pre></figure>\n`;
    },
    table(this: Inline, { header, rows }) {
      const write = (cell: Tokens.TableCell, tag: string) =>
        `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag.split(' ')[0]}>`;
      const head = header.map((cell) => write(cell, 'th')).join('');
      // On a phone each row is a list, whose lines begin with the heading of their column.
      const label = (at: number) => escapeText(header[at]!.text.replaceAll('`', ''));
      const row = (cells: Tokens.TableCell[]) =>
        `<tr>${cells.map((cell, at) => write(cell, `td data-label="${label(at)}"`)).join('')}</tr>`;
      const body = rows.map(row).join('');
      return `<div class="table" tabindex="0" role="region" aria-label="table"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>\n`;
    },
  },
});

interface BlockWords {
  readonly caption: string;
  readonly kind: 'command' | 'output' | 'file' | 'picture';
}

function describeBlock(language: string, place: string): BlockWords {
  if (language === 'sh') return { kind: 'command', caption: place === 'server' ? 'Leave it running' : '' };
  if (language !== 'text') return { kind: 'file', caption: place && describePlace(place) };
  return place === 'picture' ? { kind: 'picture', caption: '' } : { kind: 'output', caption: 'It prints' };
}

/** `menus/main.flow.json#/screens/welcome/options/2/to` → `menus/main.flow.json: screens › welcome › options › 3rd › to` */
export function describePlace(place: string): string {
  const [file, pointer] = place.split('#');
  if (!pointer) return file!;
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? ordinal(Number(step) + 1) : step));
  return `${file}: ${steps.join(' › ')}`;
}

const ENDINGS: { readonly [rule in Intl.LDMLPluralRule]?: string } = { one: 'st', two: 'nd', few: 'rd' };
const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });

function ordinal(count: number): string {
  return count + (ENDINGS[ordinals.select(count)] ?? 'th');
}

function escapeText(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}
