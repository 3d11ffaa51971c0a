// Functions of the expression language: a closed table.

import type { Json } from '../../store/store.ts';
import { nameKind, parseDecimal, roundDecimal } from './values.ts';

/** Ends the evaluation; the problem names kinds of values, never the values. */
type Refuse = (problem: string) => never;

export interface ExpressionFunction {
  /** How it is written, for messages and documentation. */
  readonly usage: string;
  readonly doc: string;
  /** Fewest and most arguments. */
  readonly arity: readonly [least: number, most: number];
  readonly call: (args: readonly Json[], refuse: Refuse) => Json;
}

export type FunctionName =
  | 'len'
  | 'num'
  | 'str'
  | 'min'
  | 'max'
  | 'round'
  | 'abs'
  | 'lower'
  | 'upper'
  | 'startsWith'
  | 'contains';

const MANY = 100;

/** Every function that expressions can call. */
export const FUNCTIONS: { readonly [name in FunctionName]: ExpressionFunction } = {
  len: {
    usage: 'len(list or text)',
    doc: 'How many elements or characters; 0 for null.',
    arity: [1, 1],
    call: ([value = null], refuse) => {
      if (typeof value === 'string') return countCharacters(value);
      if (Array.isArray(value)) return value.length;
      return value === null ? 0 : refuse(`len takes a list or a text, not ${nameKind(value)}.`);
    },
  },
  num: {
    usage: 'num(text)',
    doc: 'The number that a text writes in plain decimal notation; null when it writes none.',
    arity: [1, 1],
    call: ([value = null]) => {
      if (typeof value === 'number') return value;
      return typeof value === 'string' ? (parseDecimal(value.trim()) ?? null) : null;
    },
  },
  str: {
    usage: 'str(value)',
    doc: 'A number, true or false as text; an empty text for null.',
    arity: [1, 1],
    call: ([value = null], refuse) => {
      if (value === null) return '';
      return typeof value === 'object' ? refuse(`str takes a plain value, not ${nameKind(value)}.`) : String(value);
    },
  },
  min: {
    usage: 'min(number, number...)',
    doc: 'The smallest of the numbers.',
    arity: [1, MANY],
    call: (args, refuse) => Math.min(...requireNumbers('min', args, refuse)),
  },
  max: {
    usage: 'max(number, number...)',
    doc: 'The largest of the numbers.',
    arity: [1, MANY],
    call: (args, refuse) => Math.max(...requireNumbers('max', args, refuse)),
  },
  round: {
    usage: 'round(number) or round(number, places)',
    doc: 'Rounds half away from zero, to 0 to 12 decimal places.',
    arity: [1, 2],
    call: (args, refuse) => {
      const [value = 0, places = 0] = requireNumbers('round', args, refuse);
      if (!Number.isInteger(places) || places < 0 || places > 12) return refuse('round takes 0 to 12 places.');
      return roundDecimal(value, places);
    },
  },
  abs: {
    usage: 'abs(number)',
    doc: 'The number without its sign.',
    arity: [1, 1],
    call: (args, refuse) => Math.abs(requireNumbers('abs', args, refuse)[0]!),
  },
  lower: {
    usage: 'lower(text)',
    doc: 'In small letters; null for null.',
    arity: [1, 1],
    call: ([value = null], refuse) => requireText('lower', value, refuse)?.toLowerCase() ?? null,
  },
  upper: {
    usage: 'upper(text)',
    doc: 'In capital letters; null for null.',
    arity: [1, 1],
    call: ([value = null], refuse) => requireText('upper', value, refuse)?.toUpperCase() ?? null,
  },
  startsWith: {
    usage: 'startsWith(text, beginning)',
    doc: 'Whether the text begins so; false when either is no text.',
    arity: [2, 2],
    call: ([value, beginning]) =>
      typeof value === 'string' && typeof beginning === 'string' && value.startsWith(beginning),
  },
  contains: {
    usage: 'contains(list or text, part)',
    doc: 'Whether a list has the element or a text the part: "part in list" read the other way.',
    arity: [2, 2],
    call: ([whole = null, part = null]) => isIn(part, whole),
  },
};

/** Whether both are the same plain value. Nothing is converted; a list or object equals nothing, not even itself. */
export function isSame(left: Json, right: Json): boolean {
  return left === right && (typeof left !== 'object' || left === null);
}

/** Whether `part` is an element of the list, or a part of the text, `whole`; false for anything else. */
export function isIn(part: Json, whole: Json): boolean {
  if (Array.isArray(whole)) return (typeof part !== 'object' || part === null) && whole.includes(part);
  return typeof whole === 'string' && typeof part === 'string' && whole.includes(part);
}

/** Unicode characters (code points) of `text`. */
export function countCharacters(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if (text.codePointAt(at)! > 0xffff) pairs++;
  return text.length - pairs;
}

function requireNumbers(name: string, args: readonly Json[], refuse: Refuse): readonly number[] {
  for (const arg of args) if (typeof arg !== 'number') refuse(`${name} takes numbers, not ${nameKind(arg)}.`);
  return args as readonly number[];
}

function requireText(name: string, value: Json, refuse: Refuse): string | null {
  if (value === null || typeof value === 'string') return value;
  return refuse(`${name} takes a text, not ${nameKind(value)}.`);
}
