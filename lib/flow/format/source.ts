// The text of JSON files that people write: where things stand in it, lines and columns by JSON pointer; and what keeps it from being
// JSON, in plain words.

import type { ArrayNode, DocumentNode, ObjectNode, ValueNode } from '@humanwhocodes/momoa';
import { requireMomoa } from '../../packages.ts';

export interface Position {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 code units. */
  readonly column: number;
}

export interface FlowSource {
  readonly file: string;
  readonly text: string;
  /**
   * Where the value at a JSON pointer begins; with `'key'` its key, with a number that character of a text. What does
   * not exist stands where its nearest parent does.
   */
  locate(pointer: string, at?: 'key' | number): Position;
}

interface LocatedValue {
  readonly value: ValueNode;
  readonly key?: Position | undefined;
}

/** The positions in `text`; where it is not JSON, every position is its beginning. */
export function flowSource(file: string, text: string): FlowSource {
  try {
    return makeFlowSource(file, text, requireMomoa().parse(text).body);
  } catch {
    return { file, text, locate: () => ({ line: 1, column: 1 }) };
  }
}

/** The positions in a text that has been parsed already. */
export function makeFlowSource(file: string, text: string, root: ValueNode): FlowSource {
  const members = new Map<ValueNode, ReadonlyMap<string, LocatedValue>>();
  const inside = (node: ValueNode): ReadonlyMap<string, LocatedValue> => {
    const known = members.get(node);
    if (known) return known;
    const found = readChildren(node);
    members.set(node, found);
    return found;
  };
  return {
    file,
    text,
    locate: (pointer, at) => {
      let found: LocatedValue = { value: root };
      let exact = true;
      for (const step of parsePointer(pointer)) {
        const next = inside(found.value).get(step);
        if (!next) exact = false;
        if (!next) break;
        found = next;
      }
      const { line, column, offset } = found.value.loc.start;
      if (!exact || at === 'key') return found.key ?? { line, column };
      const ahead = at === undefined || found.value.type !== 'String' ? 0 : rawOffset(text, offset, at);
      return { line, column: column + ahead };
    },
  };
}

/** `/screens/pin` for `('screens', 'pin')`. */
export function pointerTo(...steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replace(/~/g, '~0').replace(/\//g, '~1')}`).join('');
}

/** `['screens', 'pin']` for `/screens/pin`. */
export function parsePointer(pointer: string): string[] {
  const steps = pointer.split('/').slice(1);
  return steps.map((step) => step.replace(/~1/g, '/').replace(/~0/g, '~'));
}

function readChildren(node: ValueNode): ReadonlyMap<string, LocatedValue> {
  if (node.type === 'Object') return readMembers(node);
  return node.type === 'Array' ? readElements(node) : new Map();
}

function readMembers(node: ObjectNode): Map<string, LocatedValue> {
  const found = new Map<string, LocatedValue>();
  for (const { name, value } of node.members) {
    const { line, column } = name.loc.start;
    if (name.type === 'String') found.set(name.value, { value, key: { line, column } });
  }
  return found;
}

function readElements(node: ArrayNode): Map<string, LocatedValue> {
  return new Map(node.elements.map(({ value }, at) => [String(at), { value }]));
}

const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|.)/y;

// Offset of a character of a string from its opening quote in the file, where escapes take more than one character.
function rawOffset(text: string, quote: number, character: number): number {
  let at = quote + 1;
  for (let seen = 0; seen < character; seen++) {
    ESCAPE.lastIndex = at;
    at += ESCAPE.exec(text)?.[0].length ?? 1;
  }
  return at - quote;
}

interface SyntaxFault extends Position {
  readonly message: string;
  readonly fix: string;
}

/** What one scan of the brackets and quotes of a text finds, before it is parsed. */
interface Outline {
  /** Most levels of objects and lists. */
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

/** The tree of a JSON text with its positions, or what is wrong with the text. */
export function parseDocument(
  text: string,
  seen: Outline,
): { document: DocumentNode; fault?: undefined } | { document?: undefined; fault: SyntaxFault } {
  try {
    // JSON.parse decides what is JSON; the other parser gives the positions.
    const document = requireMomoa().parse(text);
    JSON.parse(text);
    return { document };
  } catch (error) {
    const { offset, message } = error as Error & { offset?: number };
    return { fault: syntaxFault(text, message.startsWith('Unexpected end') ? undefined : offset, seen) };
  }
}

/** The fault of a text that a JSON parser refused at `offset`; without one, at its end. */
function syntaxFault(text: string, offset: number | undefined, { open, control }: Outline): SyntaxFault {
  const at = offset ?? text.length;
  if (control !== undefined && control <= at) return describeControl(text, control);
  if (text.trim() === '')
    return { line: 1, column: 1, message: 'The file is empty.', fix: 'Begin with { and end with }.' };
  if (open !== undefined && LAST_TOKEN.test(text.slice(at, at + 4_096)) && text.slice(at).length < 4_096) {
    const { line, column } = positionAt(text, open);
    const found = `The file ends, and the ${text[open]} of line ${line}, column ${column} is not closed.`;
    return { ...positionAt(text, text.length), message: found, fix: `Add the missing ${CLOSING[text[open]!]}.` };
  }
  const character = String.fromCodePoint(text.codePointAt(at) ?? 32);
  const before = text.slice(0, at).trimEnd().slice(-8);
  const slip = SLIPS.find(({ found, after }) => found.test(text.slice(at, at + 40)) && after.test(before));
  const message = slip?.message ?? 'Found % where it cannot stand.';
  const fix = slip?.fix ?? 'Remove it, or look for a missing quote or comma before it.';
  const word = /^(?:[\w$]+|"[^"\n]{0,30}"?)/.exec(text.slice(at, at + 40))?.[0] ?? character;
  const fill = (words: string) =>
    words.replace('%', () => (word.length > 1 && word.startsWith('"') ? word : JSON.stringify(word)));
  return { ...positionAt(text, at), message: fill(message), fix: fill(fix) };
}

/** Line and column of an offset. */
export function positionAt(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/** The offset of a line and column. */
export function offsetAt(text: string, { line, column }: Position): number {
  if (lines.text !== text) lines = { text, starts: findLineStarts(text) };
  return lines.starts[line - 1]! + column - 1;
}

// Many places of one text are asked for one after the other.
let lines: { readonly text: string; readonly starts: readonly number[] } = { text: '', starts: [0] };

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

const LAST_TOKEN = /^(?:"(?:[^"\\]|\\.)*"?|[\w.+-]+|[:,])?\s*$/s;
const CLOSING: { readonly [open: string]: string } = { '{': '}', '[': ']', '"': '"' };

interface Slip {
  readonly found: RegExp;
  /** What comes before it, without spaces. */
  readonly after: RegExp;
  readonly message: string;
  readonly fix: string;
}

const ANY = /(?:)/;
const ESCAPES = 'Write \\\\ for a backslash, \\n for a new line, \\" for a quote.';
const SLIPS: readonly Slip[] = [
  { found: /^[}\]]/, after: /,$/, message: 'Found a comma before %.', fix: 'Remove the comma after the last entry.' },
  { found: /^[}\]]/, after: /:$/, message: 'A value is missing before %.', fix: 'Write a value after the colon.' },
  { found: /^[}\]]/, after: ANY, message: 'Found %, which closes nothing that is open here.', fix: 'Remove it.' },
  { found: /^,/, after: /[,:[{]$/, message: 'Found a comma with nothing before it.', fix: 'Remove the comma.' },
  { found: /^['‘’“”`]/, after: ANY, message: 'Found %; JSON knows only straight double quotes.', fix: 'Write ".' },
  { found: /^(?:\/[/*]|#)/, after: ANY, message: 'Found a comment; JSON has none.', fix: 'Use the key "note".' },
  { found: /^(?:True|TRUE)/, after: ANY, message: 'Found %.', fix: 'Write true, in small letters.' },
  { found: /^(?:False|FALSE)/, after: ANY, message: 'Found %.', fix: 'Write false, in small letters.' },
  { found: /^(?:None|nil|undefined|NULL|NaN)/, after: ANY, message: 'Found %.', fix: 'Write null.' },
  { found: /^\\/, after: ANY, message: 'Found a backslash that means nothing in JSON.', fix: ESCAPES },
  { found: ANY, after: /\\u[0-9a-fA-F]{0,4}$/, message: 'Found \\u without four digits behind it.', fix: ESCAPES },
  {
    found: /^["[{\w]/,
    after: /["\]}\w]$/,
    message: 'Found % right after another value.',
    fix: 'Add a comma, a colon or a quote before %; if the line above it is complete, it needs a comma at its end.',
  },
  { found: /^[A-Za-z_$]/, after: /[{,:[]$/, message: 'Found % without quotes.', fix: 'Put it in double quotes.' },
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
