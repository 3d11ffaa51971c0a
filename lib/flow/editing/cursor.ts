// Locates the cursor in a flow that is being edited, even while the text is not valid JSON.

import { isObject } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { Flow } from '../format/flow.ts';
import { screenTypes } from '../format/schema.ts';

export interface Cursor {
  /** Keys and indexes from the flow to the value at the cursor; for a key, to its object. */
  readonly path: readonly string[];
  readonly kind: 'key' | 'value';
  /** Offsets of the token at the cursor: inside the quotation marks of a string. */
  readonly from: number;
  readonly to: number;
  readonly isQuoted: boolean;
  /** Keys of the object at the cursor, before and after it. */
  readonly keys: ReadonlySet<string>;
  /** The enclosing objects with their string members, such as `type`: the schema needs them to tell kinds apart. */
  readonly around: Json;
}

/** Offsets in UTF-16 units. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** As much of a flow as can be read during editing. */
export interface Sketch {
  readonly cursor: Cursor | undefined;
  /** Screens by id, with the span of their text: from the key to the end of the value. */
  readonly screens: ReadonlyMap<string, Span>;
  readonly vars: readonly string[];
}

interface OpenBracket {
  readonly isList: boolean;
  readonly keys: Set<string>;
  /** String members. */
  readonly texts: Map<string, string>;
  /** The last key, or the index of the current element. */
  step: string;
  /** Whether a key is expected next. */
  expectsKey: boolean;
}

interface CursorPlace {
  readonly frames: readonly OpenBracket[];
  readonly steps: readonly string[];
  readonly kind: Cursor['kind'];
  readonly from: number;
  readonly to: number;
  readonly isQuoted: boolean;
}

const WORD = /[^\s"{}[\],:]+/y;

/** Reads the whole text, even if malformed, and finds what is at `offset` (UTF-16 units). Linear in the text length. */
export function sketchFlow(text: string, offset: number): Sketch {
  const frames: OpenBracket[] = [];
  const screens = new Map<string, { from: number; to: number }>();
  const vars: string[] = [];
  let place: CursorPlace | undefined;
  // The last bracket, comma, colon or quotation mark so far.
  let last = '';
  let at = 0;
  const note = (kind: Cursor['kind'], token: Pick<CursorPlace, 'from' | 'to' | 'isQuoted'>) => {
    const steps = frames.map(({ step }) => step);
    place ??= { ...token, kind, frames: [...frames], steps: kind === 'key' ? steps.slice(0, -1) : steps };
  };
  const kindHere = () => (frames.at(-1)?.expectsKey ? 'key' : 'value');
  const takeString = () => {
    const end = findStringEnd(text, at);
    const value = text.slice(at + 1, end.at);
    const kind = kindHere();
    if (offset > at && offset <= end.at) note(kind, { from: at + 1, to: end.at, isQuoted: true });
    const frame = frames.at(-1);
    if (frame && kind === 'key') {
      frame.step = value;
      frame.keys.add(value);
      const owner = frames.length === 2 ? frames[0]!.step : '';
      if (owner === 'screens') screens.set(value, { from: at, to: end.at + 1 });
      else if (owner === 'vars') vars.push(value);
    } else if (frame && !frame.isList) frame.texts.set(frame.step, value);
    at = end.next;
  };

  const endScreen = () => {
    const screen = frames[0]!.step === 'screens' ? screens.get(frames[1]!.step) : undefined;
    if (screen) screen.to = at;
  };

  while (at < text.length) {
    const character = text[at]!;
    const isSpace = /\s/.test(character);
    // Between two tokens, a value may only follow these characters.
    if (at === offset && (isSpace || CLOSING.has(character)) && BEFORE_TOKEN.has(last))
      note(kindHere(), { from: at, to: at, isQuoted: false });
    if (!isSpace) last = character;
    if (isSpace) at++;
    else if (character === '"') takeString();
    else if (MARKS[character]) {
      MARKS[character](frames);
      at++;
      if (character === '}' && frames.length === 2) endScreen();
    } else {
      WORD.lastIndex = at;
      const [word] = WORD.exec(text)!;
      if (offset >= at && offset <= at + word.length)
        note(kindHere(), { from: at, to: at + word.length, isQuoted: false });
      at += word.length;
    }
  }
  if (offset === at && BEFORE_TOKEN.has(last)) note(kindHere(), { from: at, to: at, isQuoted: false });
  return { cursor: place && readCursor(place), screens, vars };
}

const CLOSING = new Set('}]');
const BEFORE_TOKEN = new Set('{[,:');

const open = (isList: boolean) => (frames: OpenBracket[]) =>
  void frames.push({ isList, keys: new Set(), texts: new Map(), step: isList ? '0' : '', expectsKey: !isList });
const close = (frames: OpenBracket[]) => void frames.pop();

const MARKS: { readonly [mark: string]: ((frames: OpenBracket[]) => void) | undefined } = {
  '{': open(false),
  '[': open(true),
  '}': close,
  ']': close,
  ':': (frames) => {
    const frame = frames.at(-1);
    if (frame) frame.expectsKey = false;
  },
  ',': (frames) => {
    const frame = frames.at(-1);
    if (frame?.isList) frame.step = String(Number(frame.step) + 1);
    else if (frame) frame.expectsKey = true;
  },
};

function readCursor({ frames, steps, ...rest }: CursorPlace): Cursor {
  const around = frames.reduceRight<Json>((inner, { isList, texts }, at) => {
    const step = steps[at];
    if (isList) return step === undefined ? [] : Array.from({ length: Number(step) + 1 }, () => inner);
    const members = Object.fromEntries(step === undefined ? texts : [...texts, [step, inner]]);
    return members as JsonObject;
  }, null);
  return { ...rest, path: steps, keys: frames.at(-1)?.keys ?? new Set(), around };
}

// An unterminated string ends at the end of its line.
function findStringEnd(text: string, quote: number): { readonly at: number; readonly next: number } {
  for (let at = quote + 1; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '"') return { at, next: at + 1 };
    else if (character === '\n') return { at, next: at };
  }
  return { at: text.length, next: text.length };
}

/** The variables and screens of a flow that may be invalid; undefined if it is not JSON. Skips malformed entries. */
export function readLoosely(text: string): Pick<Flow, 'vars' | 'screens'> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { vars, screens } = (value ?? {}) as { vars?: unknown; screens?: unknown };
  const typed = (all: unknown, types: readonly string[]) =>
    Object.fromEntries(
      Object.entries(isObject(all) ? all : {}).filter(([, one]) => isObject(one) && types.includes(one.type as string)),
    );
  return { vars: typed(vars, VARIABLE_TYPES), screens: typed(screens, screenTypes()) } as Pick<
    Flow,
    'vars' | 'screens'
  >;
}

const VARIABLE_TYPES = ['string', 'number', 'boolean', 'object', 'array'];
