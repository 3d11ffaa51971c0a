// Functions of the expression language: a closed table.

import type { Json } from '../../json/json.ts';
import { DAY_FUNCTIONS, type DayFunctionName } from './day-functions.ts';
import { printDecimal, roundDecimal } from './decimal.ts';
import type { ExpressionFunction, Refuse } from './described.ts';
import { LIST_FUNCTIONS } from './list-functions.ts';
import { countCharacters, findNumber, nameKind, parseDecimal, toAsciiDigits } from './values.ts';

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
  | 'title'
  | 'trim'
  | 'startsWith'
  | 'contains'
  | 'words'
  | 'findNumber'
  | keyof typeof LIST_FUNCTIONS
  | DayFunctionName;

const MANY = 100;

/** All functions of expressions. */
export const FUNCTIONS: { readonly [name in FunctionName]: ExpressionFunction } = {
  len: {
    usage: 'len(list or text)',
    doc: 'How many elements or characters; 0 for null.',
    args: { value: 'a list, a text or null; anything else is an error' },
    examples: [
      ["len('Bread')", 5],
      ['len(basket)', 2, { basket: ['milk', 'bread'] }],
      ['len(basket) == 0', true],
    ],
    arity: [1, 1],
    call: ([value = null], refuse) => {
      if (typeof value === 'string') return countCharacters(value);
      if (Array.isArray(value)) return value.length;
      return value === null ? 0 : refuse(`len takes a list or a text, not ${nameKind(value)}.`);
    },
  },
  num: {
    usage: 'num(text)',
    doc: 'The number that a text writes in plain decimal notation, in digits of any script; null when it writes none.',
    args: { text: 'a text, or a number, which stays as it is; null for everything else' },
    examples: [
      ["num('12.50')", 12.5],
      ["num('١٢')", 12],
      ["num('12,50')", null],
    ],
    arity: [1, 1],
    call: ([value = null]) => {
      if (typeof value === 'number') return value;
      return typeof value === 'string' ? (parseDecimal(toAsciiDigits(value.trim())) ?? null) : null;
    },
  },
  str: {
    usage: 'str(value)',
    doc: 'A number with all its digits, true or false as text; an empty text for null.',
    args: { value: 'a plain value or null; a list or an object is an error' },
    examples: [
      ["'Table ' + str(7)", 'Table 7'],
      ['str(3 * 1.1)', '3.3'],
      ['str(null)', ''],
    ],
    arity: [1, 1],
    call: ([value = null], refuse) => {
      if (value === null) return '';
      if (typeof value === 'number') return printDecimal(value);
      return typeof value === 'object' ? refuse(`str takes a plain value, not ${nameKind(value)}.`) : String(value);
    },
  },
  min: {
    usage: 'min(number, number...)',
    doc: 'The smallest of the numbers.',
    args: { 'number...': 'one number or more; anything else is an error' },
    examples: [['min(balance, 500)', 12.5, { balance: 12.5 }]],
    arity: [1, MANY],
    call: (args, refuse) => Math.min(...requireNumbers('min', args, refuse)),
  },
  max: {
    usage: 'max(number, number...)',
    doc: 'The largest of the numbers.',
    args: { 'number...': 'one number or more; anything else is an error' },
    examples: [['max(3, 7, 5)', 7]],
    arity: [1, MANY],
    call: (args, refuse) => Math.max(...requireNumbers('max', args, refuse)),
  },
  round: {
    usage: 'round(number) or round(number, places)',
    doc: 'Rounds half away from zero, to 0 to 12 decimal places.',
    args: { number: 'a number; anything else is an error', places: 'decimal places, 0 to 12; 0 without it' },
    examples: [
      ['round(2.5)', 3],
      ['round(-2.5)', -3],
      ['round(10 / 3, 2)', 3.33],
    ],
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
    args: { number: 'a number; anything else is an error' },
    examples: [['abs(3 - 10)', 7]],
    arity: [1, 1],
    call: (args, refuse) => Math.abs(requireNumbers('abs', args, refuse)[0]!),
  },
  lower: {
    usage: 'lower(text)',
    doc: 'In small letters; null for null.',
    args: { text: 'a text or null; anything else is an error' },
    examples: [["lower('YES') == 'yes'", true]],
    arity: [1, 1],
    call: ([value = null], refuse) => requireText('lower', value, refuse)?.toLowerCase() ?? null,
  },
  upper: {
    usage: 'upper(text)',
    doc: 'In capital letters; null for null.',
    args: { text: 'a text or null; anything else is an error' },
    examples: [["upper('ab12')", 'AB12']],
    arity: [1, 1],
    call: ([value = null], refuse) => requireText('upper', value, refuse)?.toUpperCase() ?? null,
  },
  title: {
    usage: 'title(text)',
    doc: 'Each word with a capital letter and small ones after it; null for null.',
    args: { text: 'a text or null; anything else is an error' },
    examples: [["title('clean cooking')", 'Clean Cooking']],
    arity: [1, 1],
    call: ([value = null], refuse) => capitalizeWords(requireText('title', value, refuse)),
  },
  trim: {
    usage: 'trim(text)',
    doc: 'Without the spaces at its beginning and its end; null for null.',
    args: { text: 'a text or null; anything else is an error' },
    examples: [["trim('  yes ')", 'yes']],
    arity: [1, 1],
    call: ([value = null], refuse) => requireText('trim', value, refuse)?.trim() ?? null,
  },
  startsWith: {
    usage: 'startsWith(text, beginning)',
    doc: 'Whether the text begins so; false when either is no text.',
    args: { text: 'a text', beginning: 'a text; large and small letters differ' },
    examples: [
      ["startsWith(phoneNumber, '+263')", true, { phoneNumber: '+263771234567' }],
      ["startsWith(null, '+')", false],
    ],
    arity: [2, 2],
    call: ([value, beginning]) =>
      typeof value === 'string' && typeof beginning === 'string' && value.startsWith(beginning),
  },
  contains: {
    usage: 'contains(list or text, part)',
    doc: 'Whether a list has the element or a text the part: "part in list" read the other way.',
    args: { whole: 'a list or a text', part: 'a plain value, or a part of the text' },
    examples: [
      ["contains(basket, 'bread')", true, { basket: ['milk', 'bread'] }],
      ["contains(lower(question), 'price')", true, { question: 'PRICE of maize' }],
    ],
    arity: [2, 2],
    call: ([whole = null, part = null]) => isIn(part, whole),
  },
  words: {
    usage: 'words(text)',
    doc: 'The words of a text in small letters, with one space between them and without punctuation; an empty text for null.',
    args: { text: 'a text or null; anything else is an error' },
    examples: [
      ["words('Yes, please!')", 'yes please'],
      ["contains(' ' + words('The BLUE one.') + ' ', ' blue ')", true],
    ],
    arity: [1, 1],
    call: ([value = null], refuse) => listWords(requireText('words', value, refuse) ?? '').join(' '),
  },
  findNumber: {
    usage: 'findNumber(text)',
    doc: 'The first number in a text, in digits of any script; null when there is none.',
    args: { text: 'a text, or a number, which stays as it is; null for everything else' },
    examples: [
      ["findNumber('I am 24 years old')", 24],
      ["findNumber('about 1,000.50')", 1000.5],
      ["findNumber('none')", null],
    ],
    arity: [1, 1],
    call: ([value = null]) => {
      if (typeof value === 'number') return value;
      return typeof value === 'string' ? (findNumber(value) ?? null) : null;
    },
  },
  ...LIST_FUNCTIONS,
  ...DAY_FUNCTIONS,
};

/** The words of a text in small letters: letters, digits, `_` and apostrophes; an emoji or another symbol is one of its own. */
export function listWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{M}\p{L}\p{N}_']+|\p{S}/gu) ?? [];
}

/** Whether `part` is an element of the list or a substring of the text `whole`; false for anything else. */
export function isIn(part: Json, whole: Json): boolean {
  if (Array.isArray(whole)) return (typeof part !== 'object' || part === null) && whole.includes(part);
  return typeof whole === 'string' && typeof part === 'string' && whole.includes(part);
}

function requireNumbers(name: string, args: readonly Json[], refuse: Refuse): readonly number[] {
  for (const arg of args) if (typeof arg !== 'number') refuse(`${name} takes numbers, not ${nameKind(arg)}.`);
  return args as readonly number[];
}

function capitalizeWords(text: string | null): string | null {
  if (text === null) return null;
  return text
    .toLowerCase()
    .replace(/(^|[^\p{L}\p{N}\p{M}'’])(\p{L})/gu, (_, before: string, letter: string) => before + letter.toUpperCase());
}

function requireText(name: string, value: Json, refuse: Refuse): string | null {
  if (value === null || typeof value === 'string') return value;
  return refuse(`${name} takes a text, not ${nameKind(value)}.`);
}
