// Readable messages for JSON syntax errors, with fixes where they are certain.

import { type DocumentNode, parse as parseJson } from '@humanwhocodes/momoa';
import type { TextEdit } from './problem.ts';
import { type Position, positionAt } from './source.ts';

interface SyntaxFault extends Position {
  readonly message: string;
  readonly fix: string;
  readonly edit?: TextEdit;
}

/** The result of scanning brackets and quotes before parsing. */
interface Outline {
  /** Maximum nesting of objects and lists. */
  readonly depth: number;
  /** Offset of the innermost bracket or quote that is never closed. */
  readonly open: number | undefined;
  /** Offset of the first line break, tab or other control character inside a text. */
  readonly control: number | undefined;
}

export function outline(text: string): Outline {
  const open: number[] = [];
  let depth = 0;
  let quote: number | undefined;
  let control: number | undefined;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quote !== undefined) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) quote = undefined;
      else if (code < SPACE) control ??= at;
    } else if (code === QUOTE) quote = at;
    else if (code === CURLY || code === SQUARE) depth = Math.max(depth, open.push(at));
    else if (code === CURLY + 2 || code === SQUARE + 2) open.pop();
  }
  return { depth, open: quote ?? open.at(-1), control };
}

const [BACKSLASH, QUOTE, SPACE, CURLY, SQUARE] = [92, 34, 32, 123, 91];

/** The syntax tree of a JSON text with positions, or its syntax error. */
export function parseDocument(
  text: string,
  outline: Outline,
): { document: DocumentNode; fault?: undefined } | { document?: undefined; fault: SyntaxFault } {
  try {
    // JSON.parse decides validity; the other parser provides positions.
    const document = parseJson(text);
    JSON.parse(text);
    return { document };
  } catch (error) {
    const { offset, message } = error as Error & { offset?: number };
    return { fault: syntaxFault(text, message.startsWith('Unexpected end') ? undefined : offset, outline) };
  }
}

/** The syntax error of a text that a JSON parser rejected at `offset`, or at its end. */
function syntaxFault(text: string, offset: number | undefined, { open, control }: Outline): SyntaxFault {
  const at = offset ?? text.length;
  if (control !== undefined && control <= at) return describeControl(text, control);
  if (text.trim() === '')
    return { line: 1, column: 1, message: 'The file is empty.', fix: 'Begin with { and end with }.' };
  if (open !== undefined && LAST_TOKEN.test(text.slice(at, at + 4_096)) && text.slice(at).length < 4_096) {
    const { line, column } = positionAt(text, open);
    const what = `The file ends, and the ${text[open]} of line ${line}, column ${column} is not closed.`;
    return { ...positionAt(text, text.length), message: what, fix: `Add the missing ${CLOSING[text[open]!]}.` };
  }
  const character = String.fromCodePoint(text.codePointAt(at) ?? 32);
  const before = text.slice(0, at).trimEnd().slice(-8);
  const slip = SLIPS.find(({ found, after }) => found.test(text.slice(at, at + 40)) && after.test(before));
  const message = slip?.message ?? 'Found % where it cannot stand.';
  const fix = slip?.fix ?? 'Remove it, or look for a missing quote or comma before it.';
  const word = /^(?:[\w$]+|"[^"\n]{0,30}"?)/.exec(text.slice(at, at + 40))?.[0] ?? character;
  const fill = (words: string) =>
    words.replace('%', () => (word.length > 1 && word.startsWith('"') ? word : JSON.stringify(word)));
  const edit = slip?.mend?.(text, at);
  const isSure = edit !== undefined && goesFurther(text, edit, at);
  return { ...positionAt(text, at), message: fill(message), fix: fill(fix), ...(isSure && { edit }) };
}

/** Whether an edit makes the text valid JSON, or at least moves the error further. */
function goesFurther(text: string, { from, to, insert }: TextEdit, at: number): boolean {
  const fixedText = text.slice(0, from) + insert + text.slice(to);
  try {
    parseJson(fixedText);
    return true;
  } catch (error) {
    const { offset = fixedText.length } = error as { offset?: number };
    return offset > at + insert.length + (from - to);
  }
}

const LAST_TOKEN = /^(?:"(?:[^"\\]|\\.)*"?|[\w.+-]+|[:,])?\s*$/s;
const CLOSING: { readonly [open: string]: string } = { '{': '}', '[': ']', '"': '"' };

interface Slip {
  readonly found: RegExp;
  /** The text before it, without spaces. */
  readonly after: RegExp;
  readonly message: string;
  readonly fix: string;
  /** The fix, offered if it makes the text valid or moves the error further. */
  readonly mend?: (text: string, at: number) => TextEdit;
}

const removeComma = (text: string, at: number): TextEdit => {
  const from = text.lastIndexOf(',', at);
  return { from, to: from + 1, insert: '' };
};
const addComma = (text: string, at: number): TextEdit => {
  const from = text.slice(0, at).trimEnd().length;
  return { from, to: from, insert: ',' };
};
const replaceSign =
  (sign: RegExp, write: (text: string) => string) =>
  (text: string, at: number): TextEdit => {
    const [found = ''] = sign.exec(text.slice(at, at + 200)) ?? [];
    return { from: at, to: at + found.length, insert: write(found) };
  };

const ANY = /(?:)/;
const ESCAPES = 'Write \\\\ for a backslash, \\n for a new line, \\" for a quote.';
const SLIPS: readonly Slip[] = [
  {
    found: /^[}\]]/,
    after: /,$/,
    message: 'Found a comma before %.',
    fix: 'Remove the comma after the last entry.',
    mend: removeComma,
  },
  { found: /^[}\]]/, after: /:$/, message: 'A value is missing before %.', fix: 'Write a value after the colon.' },
  { found: /^[}\]]/, after: ANY, message: 'Found %, which closes nothing that is open here.', fix: 'Remove it.' },
  {
    found: /^,/,
    after: /[,[{]$/,
    message: 'Found a comma with nothing before it.',
    fix: 'Remove the comma.',
    mend: removeComma,
  },
  { found: /^,/, after: /:$/, message: 'A value is missing before %.', fix: 'Write a value after the colon.' },
  { found: /^['‘’“”`]/, after: ANY, message: 'Found %; JSON knows only straight double quotes.', fix: 'Write ".' },
  { found: /^(?:\/[/*]|#)/, after: ANY, message: 'Found a comment; JSON has none.', fix: 'Use the key "note".' },
  {
    found: /^(?:True|TRUE)\b/,
    after: ANY,
    message: 'Found %.',
    fix: 'Write true, in small letters.',
    mend: replaceSign(/^\w+/, () => 'true'),
  },
  {
    found: /^(?:False|FALSE)\b/,
    after: ANY,
    message: 'Found %.',
    fix: 'Write false, in small letters.',
    mend: replaceSign(/^\w+/, () => 'false'),
  },
  {
    found: /^(?:None|nil|undefined|NULL|Null|NaN)\b/,
    after: ANY,
    message: 'Found %.',
    fix: 'Write null.',
    mend: replaceSign(/^\w+/, () => 'null'),
  },
  { found: /^\\/, after: ANY, message: 'Found a backslash that means nothing in JSON.', fix: ESCAPES },
  { found: ANY, after: /\\u[0-9a-fA-F]{0,4}$/, message: 'Found \\u without four digits behind it.', fix: ESCAPES },
  {
    found: /^["[{\w]/,
    after: /["\]}\w]$/,
    message: 'Found % right after another value.',
    fix: 'Add a comma, a colon or a quote before %; if the line above it is complete, it needs a comma at its end.',
    mend: addComma,
  },
  {
    found: /^[A-Za-z_$]/,
    after: /[{,:[]$/,
    message: 'Found % without quotes.',
    fix: 'Put it in double quotes.',
    mend: replaceSign(/^[\w$]+/, (word) => `"${word}"`),
  },
  {
    found: /^[-+.0-9]/,
    after: ANY,
    message: 'Found a number that JSON does not know.',
    fix: 'Write it as in 0.5, 12 or -3; put codes in quotes.',
  },
  {
    found: /^[\u00a0\u2000-\u200f\u2028\u2029\u202f\ufeff]/,
    after: ANY,
    message: 'Found a special space or invisible character.',
    fix: 'Replace it by a plain space.',
    mend: replaceSign(/^./u, () => ' '),
  },
];

function describeControl(text: string, at: number): SyntaxFault {
  const what =
    text[at] === '\n' || text[at] === '\r'
      ? 'A text goes on over the end of its line.'
      : 'A text holds a tab or control character.';
  const fix = 'Close the text with " on its line; write \\n for a new line, \\t for a tab.';
  return { ...positionAt(text, at), message: what, fix };
}
