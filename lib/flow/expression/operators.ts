// Literals and operators of expressions, with operator precedence.

import type { Described } from './described.ts';

type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';
export type BinarySign = 'or' | 'and' | Comparison | '+' | '-' | '*' | '/' | '%';

export interface Operator extends Described {
  /** Higher levels bind tighter; equal levels associate to the left. */
  readonly level: number;
}

const ORDER = 'Two numbers, or two texts by their letters; false for anything else.';

/** Binary operators. */
export const BINARY_OPERATORS: { readonly [sign in BinarySign]: Operator } = {
  or: {
    level: 1,
    usage: 'a or b',
    doc: 'True when either is true. Only `true` counts: a text or a number is not true.',
    examples: [
      ['isMember or isStaff', true, { isMember: false, isStaff: true }],
      ["name or 'Guest'", false, { name: 'Ann' }],
    ],
  },
  and: {
    level: 2,
    usage: 'a and b',
    doc: 'True when both are true.',
    examples: [['balance >= 10 and isMember', true, { balance: 12.5, isMember: true }]],
  },
  '==': {
    level: 4,
    usage: 'a == b',
    doc: 'Whether both are the same plain value. Nothing is converted, and a list or an object equals nothing. `== null` asks whether a value is missing.',
    examples: [
      ["lang == 'en'", true, { lang: 'en' }],
      ["1 == '1'", false],
      ['name == null', true],
    ],
  },
  '!=': {
    level: 4,
    usage: 'a != b',
    doc: 'The opposite of `==`.',
    examples: [["status != 'paid'", true, { status: 'open' }]],
  },
  '<': { level: 4, usage: 'a < b', doc: `Less than. ${ORDER}`, examples: [['tries < 3', true, { tries: 2 }]] },
  '<=': { level: 4, usage: 'a <= b', doc: `At most. ${ORDER}`, examples: [['tries <= 3', true, { tries: 3 }]] },
  '>': {
    level: 4,
    usage: 'a > b',
    doc: `More than. ${ORDER}`,
    examples: [
      ["'b' > 'a'", true],
      ["5 > '1'", false],
    ],
  },
  '>=': { level: 4, usage: 'a >= b', doc: `At least. ${ORDER}`, examples: [['missing >= 0', false]] },
  in: {
    level: 4,
    usage: 'part in whole',
    doc: 'Whether a list has the element, or a text the part; false for anything else.',
    examples: [
      ["'bread' in basket", true, { basket: ['milk', 'bread'] }],
      ["'ill' in 'Hill Clinic'", true],
    ],
  },
  'not in': {
    level: 4,
    usage: 'part not in whole',
    doc: 'The opposite of `in`.',
    examples: [['phoneNumber not in blocked', true, { phoneNumber: '+263771234567', blocked: [] }]],
  },
  '+': {
    level: 5,
    usage: 'a + b',
    doc: 'Adds two numbers, or joins two texts. Mixed kinds are an error: write `str(count)` or `num(text)`. Amounts are added, subtracted, multiplied and compared as decimals, exactly up to 15 digits.',
    examples: [
      ['tries + 1', 3, { tries: 2 }],
      ['0.1 + 0.2', 0.3],
      ["'Table ' + str(table)", 'Table 7', { table: 7 }],
    ],
  },
  '-': { level: 5, usage: 'a - b', doc: 'The difference of two numbers.', examples: [['12.5 - 2', 10.5]] },
  '*': {
    level: 6,
    usage: 'a * b',
    doc: 'The product of two numbers.',
    examples: [
      ['2 + 3 * 4', 14],
      ['3 * 1.1 <= 3.3', true],
    ],
  },
  '/': {
    level: 6,
    usage: 'a / b',
    doc: 'The quotient of two numbers; one without an end is rounded to 15 digits, half to even. Round amounts where they arise: `round(total / 3, 2)`. Dividing by zero is an error.',
    examples: [
      ['price / 4', 2.5, { price: 10 }],
      ['10 / 3', 3.33333333333333],
    ],
  },
  '%': {
    level: 6,
    usage: 'a % b',
    doc: 'What is left of a division of two numbers; dividing by zero is an error.',
    examples: [['7 % 2', 1]],
  },
};

/** Unary and ternary operators. */
export const OTHER_OPERATORS = {
  '? :': {
    level: 0,
    usage: 'test ? yes : no',
    doc: 'One of two values: the first when the test is true, else the second.',
    examples: [
      ['isMember ? 5 : 10', 5, { isMember: true }],
      ["name == null ? 'Guest' : name", 'Guest'],
    ],
  },
  not: {
    level: 3,
    usage: 'not a',
    doc: 'True unless the value is true. It goes round a whole comparison.',
    examples: [
      ['not isMember', true, { isMember: false }],
      ['not tries > 3', true, { tries: 1 }],
    ],
  },
  minus: {
    level: 7,
    usage: '-a',
    doc: 'The number with the other sign.',
    examples: [['-amount', -5, { amount: 5 }]],
  },
} as const satisfies { readonly [name: string]: Operator };

/** Literals. */
export const WRITTEN_VALUES: { readonly [name: string]: Described } = {
  number: {
    usage: '12 or 0.5',
    doc: 'A number, with a point and without quotes. Codes and phone numbers are texts.',
    examples: [['0.5', 0.5]],
  },
  text: {
    usage: "'text'",
    doc: 'A text between single or double quotes. In a JSON file single ones need no backslash. Inside: `\\\'`, `\\"`, `\\\\`, `\\n`, `\\t`.',
    examples: [
      ["'Hill Clinic'", 'Hill Clinic'],
      ["'It\\'s open'", "It's open"],
    ],
  },
  constants: {
    usage: 'true, false, null',
    doc: 'Yes, no, and nothing: what a variable holds that was never set.',
    examples: [
      ['true', true],
      ['null', null],
    ],
  },
  name: {
    usage: 'name',
    doc: 'The value of a variable; null when there is none. `row` and `error` are there on some screens only.',
    examples: [['tries', 2, { tries: 2 }]],
  },
  field: {
    usage: 'object.field',
    doc: 'A field of an object; null when it, or the object, is missing.',
    examples: [
      ['auth.ok', true, { auth: { ok: true } }],
      ['auth.name.first', null],
    ],
  },
  position: {
    usage: "list[0] or object['a field']",
    doc: 'An element of a list, counted from 0, or a field by a name that is computed or has other characters; null when there is none.',
    examples: [
      ['orders[0].label', 'Maize', { orders: [{ label: 'Maize' }] }],
      ['prices[crop]', 145, { prices: { maize: 145 }, crop: 'maize' }],
    ],
  },
  parentheses: {
    usage: '(a)',
    doc: 'What stands in parentheses is computed first.',
    examples: [['(2 + 3) * 4', 20]],
  },
};
