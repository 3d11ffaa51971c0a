// Cutting a screen into pages that fit: at row borders, else between words; every page carries its navigation lines.

import { LIMITS } from '../limits.ts';
import { septets } from './gsm7.ts';
import type { Shown } from './screens/screen.ts';

export interface PageOptions {
  /** Septets that a screen has when all its characters are GSM-7, ≤ LIMITS.screenSeptets. */
  readonly chars: number;
  /** The navigation lines, with or without the one for the next page. */
  readonly footer: (hasMore: boolean) => readonly string[];
}

/** Whether a text fits one screen, in the encoding that it needs. */
export function fitsScreen(text: string, chars: number): boolean {
  const used = septets(text);
  return used === undefined ? text.length <= ucs2Units(chars) : used <= chars;
}

/** UCS-2 units in the octets of so many septets: 80 for 182. */
export function ucs2Units(chars: number): number {
  return Math.min(LIMITS.screenUcs2Units, Math.ceil((chars * 7) / 16));
}

/** The pages of a screen; always at least one. Rows are never split unless one alone is longer than a page. */
export function pagesOf(shown: Shown, { chars, footer }: PageOptions): string[] {
  const last = footer(false);
  const whole = join([shown.text, ...shown.rows, ...last]);
  if (fitsScreen(whole, chars)) return [whole];
  const more = footer(true);
  const fits = (lines: readonly string[]) => fitsScreen(join([...lines, ...more]), chars);
  const title = fits([shown.text]) && isShort(shown.text, chars) ? [shown.text] : [];
  const pieces = (title.length ? shown.rows : [shown.text, ...shown.rows]).flatMap((row) => split(row, title, fits));
  const pages: string[][] = [];
  let page = [...title];
  for (const [at, piece] of pieces.entries()) {
    if (page.length > title.length && !fits([...page, piece])) {
      const rest = pieces.slice(at);
      if (fitsScreen(join([...page, ...rest, ...last]), chars)) {
        page.push(...rest);
        break;
      }
      pages.push(page);
      page = [...title];
    }
    page.push(piece);
  }
  pages.push(page);
  return pages.map((lines, at) => join([...lines, ...(at === pages.length - 1 ? last : more)]));
}

/** Cuts a text that may have no pages to one screen, at a word where possible. */
export function cut(text: string, chars: number): string {
  if (fitsScreen(text, chars)) return text;
  const dots = '...';
  let end = longest(text, (part) => fitsScreen(part + dots, chars));
  const space = text.lastIndexOf(' ', end);
  if (space > end / 2) end = space;
  return text.slice(0, end).trimEnd() + dots;
}

// A title is repeated on every page when it leaves at least half of the room to the rows.
function isShort(text: string, chars: number): boolean {
  const used = septets(text);
  return used === undefined ? text.length * 2 <= ucs2Units(chars) : used * 2 <= chars;
}

function split(row: string, title: readonly string[], fits: (lines: readonly string[]) => boolean): string[] {
  const pieces: string[] = [];
  let rest = row;
  while (!fits([...title, rest])) {
    let end = longest(rest, (part) => fits([...title, part]));
    const gap = Math.max(rest.lastIndexOf(' ', end), rest.lastIndexOf('\n', end));
    if (gap > 0) end = gap;
    pieces.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  if (rest !== '' || !pieces.length) pieces.push(rest);
  return pieces;
}

// The longest prefix that is accepted, at least one character, never half a surrogate pair.
function longest(text: string, accepts: (part: string) => boolean): number {
  let low = 1;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (accepts(text.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  const code = text.charCodeAt(low - 1);
  return code >= 0xd800 && code < 0xdc00 ? low + 1 : low;
}

const join = (lines: readonly string[]) => lines.filter((line) => line !== '').join('\n');
