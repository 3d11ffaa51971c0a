// Renders Markdown of a model: paragraphs, lists, tables, code, links. HTML is shown as text, and nothing is loaded from other
// sites: an image becomes a link.

import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { element } from '../element.ts';

type Writers = {
  readonly [Type in MarkedToken['type']]: (token: Extract<MarkedToken, { type: Type }>) => Node | string;
};

/** Renders a text. */
export function markdownElements(text: string): (Node | string)[] {
  return writeAll(lexer(text, { gfm: true, breaks: true }));
}

function writeAll(tokens: readonly Token[] = []): (Node | string)[] {
  return tokens.map((token) => (WRITERS[token.type as MarkedToken['type']] as (one: Token) => Node | string)(token));
}

const inside = (tag: keyof HTMLElementTagNameMap, tokens: readonly Token[] = []) => element(tag, {}, writeAll(tokens));

const WRITERS: Writers = {
  paragraph: ({ tokens }) => inside('p', tokens),
  heading: ({ tokens }) => element('p', { class: 'heading' }, writeAll(tokens)),
  blockquote: ({ tokens }) => inside('blockquote', tokens),
  list: ({ ordered, start, items }) =>
    element(ordered ? 'ol' : 'ul', { is: { start: ordered && Number(start) !== 1 && Number(start) } }, writeAll(items)),
  list_item: ({ tokens }) => inside('li', tokens),
  checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  table: ({ header, rows }) => table(header, rows),
  code: ({ text }) => element('pre', { is: { tabindex: 0 } }, [element('code', { text })]),
  codespan: ({ text }) => element('code', { text }),
  strong: ({ tokens }) => inside('strong', tokens),
  em: ({ tokens }) => inside('em', tokens),
  del: ({ tokens }) => inside('del', tokens),
  link: ({ href, tokens }) => link(href, writeAll(tokens)),
  image: ({ href, text }) => link(href, [text || href]),
  text: (token) => ('tokens' in token && token.tokens ? inside('span', token.tokens) : token.text),
  escape: ({ text }) => text,
  html: ({ raw }) => raw,
  br: () => element('br'),
  hr: () => element('hr'),
  space: () => '',
  def: () => '',
};

function table(header: readonly Tokens.TableCell[], rows: readonly (readonly Tokens.TableCell[])[]): HTMLElement {
  const row = (tag: 'th' | 'td', cells: readonly Tokens.TableCell[]) =>
    element(
      'tr',
      {},
      cells.map(({ tokens }) => inside(tag, tokens)),
    );
  return element('div', { class: 'table', is: { tabindex: 0, role: 'region', 'aria-label': 'Table' } }, [
    element('table', {}, [
      element('thead', {}, [row('th', header)]),
      element(
        'tbody',
        {},
        rows.map((cells) => row('td', cells)),
      ),
    ]),
  ]);
}

const SAFE = /^(https?:|mailto:)/i;

// Other schemes, such as javascript:, could run code.
function link(href: string, parts: readonly (Node | string)[]): Node {
  if (!SAFE.test(href)) return element('span', {}, parts);
  return element('a', { is: { href, target: '_blank', rel: 'noopener noreferrer' } }, parts);
}
