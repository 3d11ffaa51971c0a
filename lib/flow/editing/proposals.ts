// Proposals in a file being edited: their form, keys with an empty value, and the values listed by a schema.

import { isObject } from '../../given.ts';
import type { Json } from '../../json/json.ts';
import type { SchemaPart } from '../format/schema.ts';
import type { Cursor } from './cursor.ts';
import { describePart } from './words.ts';

export type CompletionKind =
  | 'key'
  | 'value'
  | 'screen'
  | 'variable'
  | 'field'
  | 'function'
  | 'filter'
  | 'service'
  | 'flow'
  | 'lang';

export interface Completion {
  readonly label: string;
  readonly kind: CompletionKind;
  /** A short note shown next to it. */
  readonly detail?: string;
  /** Sentences. */
  readonly info?: string;
  /** The replacement for `from` to `to`. */
  readonly insert: string;
  /** Position of the cursor in it afterwards. @default its end */
  readonly caret?: number;
}

export interface Completions {
  /** Offsets, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
  readonly items: readonly Completion[];
}

/** A proposal whose inserted text is not determined yet. */
export type ProposedName = Pick<Completion, 'label' | 'kind' | 'detail' | 'info'>;
export const toNames = (labels: Iterable<string>, kind: CompletionKind): ProposedName[] =>
  [...labels].map((label) => ({ label, kind }));

interface KeyPlace {
  readonly text: string;
  /** Keys named by the author. */
  readonly names: readonly ProposedName[];
  /** The schema at the path of these steps. */
  readonly find: (...steps: readonly string[]) => SchemaPart;
}

/** The keys that the schema and the author's names allow in the object at the cursor, minus existing ones. */
export function proposeKeys(cursor: Cursor, { text, names, find }: KeyPlace): Completions {
  const { path, keys, isQuoted, from } = cursor;
  // An incomplete name may lack its closing quotation mark: it ends with the line or the text.
  const closing = isQuoted && text[cursor.to] === '"' ? cursor.to + 1 : cursor.to;
  const hasColon = /^\s*:/.test(text.slice(closing));
  // Includes the quotation mark if a value must follow.
  const to = hasColon ? cursor.to : closing;
  const write = (key: string, part: SchemaPart): Pick<Completion, 'insert' | 'caret'> => {
    if (hasColon) return { insert: isQuoted ? key : JSON.stringify(key) };
    const { value, caret } = emptyValue(part);
    const start = `${isQuoted ? '' : '"'}${key}": `;
    return { insert: start + value, caret: start.length + caret };
  };
  const part = find(...path);
  const declared = Object.entries(part.properties ?? {}).map(([label, own]) => {
    const whole = find(...path, label);
    const detail = part.required?.includes(label) ? 'required' : undefined;
    return {
      label,
      kind: 'key' as const,
      ...(detail && { detail }),
      info: describePart({ ...whole, ...own }),
      ...write(label, whole),
    };
  });
  const others = names.map((name): Completion => ({ ...name, ...write(name.label, find(...path, name.label)) }));
  return { from, to, items: [...declared, ...others].filter(({ label }) => !keys.has(label)) };
}

/** The values that a schema lists. */
export function listValues({ enum: all, const: only, type, default: usual, oneOf }: SchemaPart): unknown[] {
  if (all) return [...all];
  if (only !== undefined) return [only];
  if (oneOf) return oneOf.flatMap(listValues);
  return [type].flat().includes('boolean')
    ? [true, false]
    : usual === undefined || typeof usual === 'object'
      ? []
      : [usual];
}

const EMPTY: { readonly [type: string]: readonly [value: string, caret: number] } = {
  string: ['""', 1],
  object: ['{}', 1],
  array: ['[]', 1],
  boolean: ['true', 4],
};

function emptyValue({ type, const: only, enum: all, default: usual, properties, items }: SchemaPart): {
  value: string;
  caret: number;
} {
  const fixed = only ?? (all ? '' : typeof usual === 'number' ? usual : undefined);
  if (fixed !== undefined && fixed !== '') return { value: JSON.stringify(fixed), caret: JSON.stringify(fixed).length };
  const first = [type ?? (properties ? 'object' : items ? 'array' : 'string')].flat()[0]!;
  const [value, caret] = EMPTY[first] ?? ['', 0];
  return { value, caret };
}

/** The first value of a type. */
export const EMPTY_VALUES: { readonly [type: string]: Json } = {
  string: '',
  object: {},
  array: [],
  boolean: true,
  integer: 1,
  number: 1,
};

/** Whether a value is of a type of JSON Schema. */
export const isOfType = (value: Json | undefined, type: string): boolean =>
  type === 'array'
    ? Array.isArray(value)
    : type === 'object'
      ? isObject(value)
      : type === 'integer'
        ? typeof value === 'number'
        : typeof value === type;

const FORMS: { readonly [type: string]: string } = {
  integer: 'exactly',
  number: 'a number',
  boolean: 'any',
  object: 'with bounds',
  string: 'a text',
  array: 'a list',
};
/** The type of a value among several, in a few words. */
export function nameForm(type: string, { properties }: SchemaPart): string {
  return type === 'object' && !properties ? 'for each language' : (FORMS[type] ?? type);
}

/** The value of a type that a schema gives as an example, or the least. */
export function firstOfType({ examples = [], default: usual, not }: SchemaPart, type: string): Json {
  const found = [...examples, usual].find((one) => isOfType(one as Json, type));
  if (type === 'boolean') return !(not && 'const' in not && not.const === true);
  return (found as Json | undefined) ?? EMPTY_VALUES[type] ?? '';
}
