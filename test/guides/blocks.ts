// The blocks of a guide, and what each of them asks a reader to do.
//
// `sh`: run this; a `text` block after it is what it prints, in which `…` stands for anything, or for any lines.
// `sh server`: run this and leave it running. `sh elsewhere`: not run here, but what it names must exist.
// `text picture`: something to look at. `ts`: a declaration, to be read.
// `json menus/a.flow.json`, `js app.js` …: write this file; `json a.json#/screens/home`: put this there in the file.

import { marked, type Token, type Tokens } from 'marked';

export type Block =
  | { readonly kind: 'run' | 'serve' | 'elsewhere'; readonly text: string; readonly prints?: string }
  | { readonly kind: 'write'; readonly file: string; readonly pointer: string; readonly text: string };

/** The blocks of a guide in their order. Throws when one of them says neither what it is nor where it goes. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  for (const { lang = '', text } of codes(markdown)) {
    const [language, place] = lang.split(' ');
    const last = blocks.at(-1);
    if (lang === 'text picture' || lang === 'ts') continue;
    if (language === 'sh') blocks.push({ kind: KINDS[place ?? ''] ?? unknown(lang), text });
    else if (language === 'text' && last && last.kind !== 'write') blocks.splice(-1, 1, { ...last, prints: text });
    else if (place)
      blocks.push({ kind: 'write', file: place.split('#')[0]!, pointer: place.split('#')[1] ?? '', text });
    else unknown(lang);
  }
  return blocks;
}

const KINDS: Readonly<Record<string, 'run' | 'serve' | 'elsewhere'>> = {
  '': 'run',
  server: 'serve',
  elsewhere: 'elsewhere',
};

// Blocks stand at the top of a guide, or in the items of its lists.
function codes(markdown: string): Tokens.Code[] {
  const inside = (tokens: readonly Token[]): Tokens.Code[] =>
    tokens.flatMap((token) => {
      if (token.type === 'code') return [token as Tokens.Code];
      return token.type === 'list' ? (token as Tokens.List).items.flatMap((item) => inside(item.tokens)) : [];
    });
  return inside(marked.lexer(markdown));
}

function unknown(lang: string): never {
  throw new Error(`a block of "${lang}" says neither that it is run nor which file it is`);
}

/** Undefined when `printed` is what the guide shows, else the first line of the guide that is not there. */
export function notPrinted(shown: string, printed: string): string | undefined {
  const lines = printed.trimEnd().split('\n');
  let at = 0;
  let isAnywhere = false;
  for (const line of shown.trimEnd().split('\n')) {
    if (line.trim() === '…') {
      isAnywhere = true;
      continue;
    }
    const is = (one: string | undefined) => one !== undefined && like(line).test(one.trimEnd());
    const found = isAnywhere ? lines.findIndex((one, index) => index >= at && is(one)) : is(lines[at]) ? at : -1;
    if (found < 0) return line;
    at = found + 1;
    isAnywhere = false;
  }
  return isAnywhere || at === lines.length ? undefined : `(the end; there is more: ${lines[at]})`;
}

function like(line: string): RegExp {
  const parts = line.trimEnd().split('…');
  return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`);
}
