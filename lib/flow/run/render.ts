// Cuts what a caller reads, text, rows and navigation lines, into pages at row borders, else between words; and the room that a text
// takes on a phone, in the GSM 7-bit default alphabet or UCS-2.

import { findBorder } from '../expression/values.ts';
import { FLOW_LIMITS } from '../limits.ts';

export interface PageOptions {
  /** Septets available when all characters are GSM-7, ≤ FLOW_LIMITS.screenSeptets. */
  readonly chars: number;
  /** The navigation lines, with or without the one for the next page. */
  readonly footer: (hasMore: boolean) => readonly string[];
}

/** Whether a text fits one screen in the encoding it needs. */
export function fitsScreen(text: string, chars: number): boolean {
  const size = septets(text);
  return size === undefined ? text.length <= ucs2Units(chars) : size <= chars;
}

/** UCS-2 units in the octets of `chars` septets: 80 for 182. */
export function ucs2Units(chars: number): number {
  return Math.min(FLOW_LIMITS.screenUcs2Units, Math.ceil((chars * 7) / 16));
}

/** A text and its rows. */
export interface Sheet {
  /** Above the rows; may have several lines. */
  readonly text: string;
  readonly rows: readonly string[];
  /** Below the rows of every page. @default none */
  readonly below?: readonly string[];
}

/** The pages of a screen; at least one. A row is split only if it is longer than a page. */
export function cutPages(sheet: Sheet, { chars, footer }: PageOptions): string[] {
  const { text, rows, below } = sheet;
  if (!below?.length) return cutRows(sheet, { chars, footer });
  const more = footer(true);
  const fits = (lines: readonly string[]) => fitsScreen(join([...lines, ...more]), chars);
  // Lines that take more than half of the room, or force a row to be split, come once, after the last row.
  const stays =
    leavesHalf(join(below), { rows, chars }) && [...rows, DOTS].every((row) => fits([row, ...below]) || !fits([row]));
  return stays
    ? cutRows(sheet, { chars, footer: (hasMore) => [...below, ...footer(hasMore)] })
    : cutRows({ text, rows: [...rows, ...below] }, { chars, footer });
}

/** The least that a page must have room for. */
const DOTS = '....';

function cutRows(sheet: Sheet, { chars, footer }: PageOptions): string[] {
  const last = footer(false);
  const ends = (lines: readonly string[]) => fitsScreen(join([...lines, ...last]), chars);
  const whole = [sheet.text, ...sheet.rows];
  if (ends(whole)) return [join([...whole, ...last])];
  const more = footer(true);
  const fits = (lines: readonly string[]) => fitsScreen(join([...lines, ...more]), chars);
  // Labels may be templates, so only at run time can the navigation turn out longer than a sheet.
  if (!fits([DOTS])) return [cut(join(whole), chars)];
  const title = isRepeated(sheet, { chars, fits }) ? [sheet.text] : [];
  const rows = title.length ? sheet.rows : whole;
  const pieces = rows.flatMap((row, at) => {
    const isLast = at === rows.length - 1;
    return split(row, (piece, isRest) => fits([...title, piece]) || (isLast && isRest && ends([...title, piece])));
  });
  const pages: string[][] = [];
  let page = [...title];
  for (const [at, piece] of pieces.entries()) {
    if (page.length > title.length && !fits([...page, piece])) {
      const rest = pieces.slice(at, at + chars);
      if (at + rest.length === pieces.length && ends([...page, ...rest])) {
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

/** Cuts a text that cannot be paged to one screen, at a word boundary if possible. */
export function cut(text: string, chars: number): string {
  if (fitsScreen(text, chars)) return text;
  const dots = '...';
  let end = longest(text, (part) => fitsScreen(part + dots, chars));
  const space = text.lastIndexOf(' ', end);
  if (space > end / 2) end = space;
  return text.slice(0, end).trimEnd() + dots;
}

// The title is repeated on every page if it leaves at least half of the room to the rows, in their encoding, and forces no
// row to be split.
function isRepeated(
  { text, rows }: Sheet,
  { chars, fits }: { chars: number; fits: (lines: readonly string[]) => boolean },
): boolean {
  return leavesHalf(text, { rows, chars }) && fits([text]) && rows.every((row) => fits([text, row]) || !fits([row]));
}

/** Whether a text leaves at least half of a screen to the rows, in their encoding. */
function leavesHalf(text: string, { rows, chars }: Pick<Sheet, 'rows'> & { readonly chars: number }): boolean {
  const size = septets(text);
  const isNarrow = size === undefined || rows.some((row) => septets(row) === undefined);
  return isNarrow ? text.length * 2 <= ucs2Units(chars) : size * 2 <= chars;
}

type Fits = (piece: string, isRest: boolean) => boolean;

function split(row: string, fits: Fits): string[] {
  const pieces: string[] = [];
  let rest = row;
  while (rest !== '' && !fits(rest, true)) {
    let end = longest(rest, (part) => fits(part, false));
    const gap = Math.max(rest.lastIndexOf(' ', end), rest.lastIndexOf('\n', end));
    if (gap > 0) end = gap;
    pieces.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  if (rest !== '' || !pieces.length) pieces.push(rest);
  return pieces;
}

// The longest accepted prefix: at least one code point, and no part of a character, unless that alone is longer.
function longest(text: string, accepts: (part: string) => boolean): number {
  let low = 1;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (accepts(text.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  const border = findBorder(text, low);
  if (border > 0) return border;
  const code = text.charCodeAt(low - 1);
  const isHalf = code >= 0xd800 && code < 0xdc00;
  return isHalf ? (low > 1 ? low - 1 : 2) : low;
}

const join = (lines: readonly string[]) => lines.filter((line) => line !== '').join('\n');

/** The size of a text on a USSD screen; `used` and `limit` are septets for gsm7, UTF-16 code units for ucs2. */
export type TextSize = { encoding: 'gsm7' | 'ucs2'; used: number; limit: number };

// 3GPP TS 23.038: 6.2.1 (basic table, without the escape at 0x1B) and 6.2.1.1 (its extension table).
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const EXTENSION = '\f^{}\\[~]|€';

// One byte per code unit up to the highest one in the alphabet (U+20AC): 0 outside, else the septets it takes.
const COST = new Uint8Array(0x20ad);
for (const character of BASIC) COST[character.charCodeAt(0)] = 1;
for (const character of EXTENSION) COST[character.charCodeAt(0)] = 2;

const CONTROL = /\p{Cc}/u;
const CONTROL_BUT_NEWLINE = /(?!\n)\p{Cc}/gu;

/**
 * Septets that `text` takes in GSM 7-bit (extension characters count 2); undefined when a character is not in it.
 * @example
 * septets('{Café}'); // → 8
 * septets('茶'); // → undefined
 */
export function septets(text: string): number | undefined {
  let size = 0;
  for (let at = 0; at < text.length; at++) {
    const cost = COST[text.charCodeAt(at)];
    if (!cost) return undefined;
    size += cost;
  }
  return size;
}

/**
 * The encoding that `text` needs, what it uses of a screen and how much a screen holds in that encoding.
 * @example
 * room('Café'); // → { encoding: 'gsm7', used: 4, limit: 182 }
 * room('茶'); // → { encoding: 'ucs2', used: 1, limit: 80 }
 */
export function room(text: string): TextSize {
  const size = septets(text);
  return size === undefined
    ? { encoding: 'ucs2', used: text.length, limit: FLOW_LIMITS.screenUcs2Units }
    : { encoding: 'gsm7', used: size, limit: FLOW_LIMITS.screenSeptets };
}

/**
 * Whether `text` fits one screen in the encoding that it needs.
 * @example
 * fits('Welcome'); // → true
 * fits('a'.repeat(183)); // → false
 */
export function fits(text: string): boolean {
  return fitsScreen(text, FLOW_LIMITS.screenSeptets);
}

/**
 * The distinct characters of `text` outside GSM 7-bit, in order of appearance: those that force UCS-2.
 * @example
 * nonGsm7('Café 茶'); // → ['茶']
 */
export function nonGsm7(text: string): string[] {
  const characters = new Set<string>();
  for (const character of text) if (septets(character) === undefined) characters.add(character);
  return [...characters];
}

/** Removes control characters (C0, DEL, C1) except newlines. */
export function clean(text: string): string {
  return CONTROL.test(text) ? text.replace(CONTROL_BUT_NEWLINE, '') : text;
}
