// Characters as readers see them: é is one however it is written, and so are a Thai letter with its tone mark and a family emoji.
// Unicode calls them grapheme clusters (UAX 29).

// Below U+0300 every code unit is a character of its own and composed already, apart from CR LF.
const MAY_JOIN = /[\u0300-\uffff]/;

/** The same text in composed form (NFC). Decomposed letters are not in the alphabet of phones, and equal none that are. */
export function composeText(text: string): string {
  return MAY_JOIN.test(text) ? text.normalize('NFC') : text;
}

let segmenter: Intl.Segmenter | undefined;

function segment(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** The last border between two characters that is not behind the offset `at`, in UTF-16 units. */
export function findBorder(text: string, at: number): number {
  if (at >= text.length) return text.length;
  return MAY_JOIN.test(text) ? segment(text).containing(at)!.index : at;
}

export function listCharacters(text: string): string[] {
  return MAY_JOIN.test(text) ? Array.from(segment(text), (one) => one.segment) : [...text];
}

/** The first `count` characters. */
export function takeFirst(text: string, count: number): string {
  if (text.length <= count) return text;
  return MAY_JOIN.test(text) ? listCharacters(text).slice(0, count).join('') : text.slice(0, count);
}

/** Number of Unicode code points in `text`. */
export function countCharacters(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if (text.codePointAt(at)! > 0xffff) pairs++;
  return text.length - pairs;
}
