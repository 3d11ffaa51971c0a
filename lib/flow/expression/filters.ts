// Filters of text templates: a closed table. Invalid input becomes null, which prints as nothing. Numbers are formatted for
// the language, with characters that every phone can display.

import type { Json, JsonObject } from '../../json/json.ts';
import { readDay, readTime } from './days.ts';
import { printDecimal } from './decimal.ts';
import type { Arguments, Described } from './described.ts';
import { currencyPlaces, formatNumber, pluralRules, readPluralForms } from './formats.ts';
import { isDecimal, listLast, takeFirst } from './values.ts';

/** A filter with its arguments bound. */
export type Filter = (value: Json, place: FilterPlace) => Json;

/** Where a value is printed. */
export interface FilterPlace {
  /** Language tag of the text. */
  readonly lang: string;
  /** The caller's time zone. */
  readonly zone: string | undefined;
  readonly scope: JsonObject;
}

/** A text with placeholders, as an argument of a filter. */
interface InnerText {
  render(scope: JsonObject, lang: string): string;
}

export interface FilterKind extends Described {
  /** Arguments after its name, each preceded by a colon. */
  readonly args: Arguments;
  /** Minimum and maximum number of arguments. */
  readonly arity: readonly [least: number, most: number];
  /** The kinds of values it can print; others print nothing. */
  readonly takes: readonly ('text' | 'number' | 'boolean' | 'list')[];
  /** Binds the arguments, or reports what is wrong with them. */
  readonly make: (...args: string[]) => Filter | { readonly problem: string };
  /** In place of `make`, where the first argument is a text for each element, `row`. */
  readonly makeEach?: (row: InnerText, ...args: string[]) => Filter;
}

const PLAIN = ['text', 'number', 'boolean'] as const;

/** All template filters. */
export const FILTERS: { readonly [name: string]: FilterKind } = {
  money: {
    usage: 'money or money:KES',
    doc: "An amount as the language writes it: with two decimals, or after a currency's code with those that it has.",
    args: { code: 'a currency of three capital letters; none without it' },
    examples: [
      ['{{balance|money}}', '1,234.50', { balance: 1234.5 }],
      ['{{balance|money:KES}}', 'KES 1,234.50', { balance: '1234.5' }],
      ['{{balance|money:UGX}}', 'UGX 1,235', { balance: 1234.5 }],
      ['{{balance|money:KWD}}', 'KWD 1,234.500', { balance: 1234.5 }],
      ['{{balance|money:EUR}}', 'EUR 1.234,50', { balance: 1234.5, lang: 'de' }],
    ],
    arity: [0, 1],
    takes: ['number', 'text'],
    make: (code = '') => {
      if (code !== '' && !/^[A-Z]{3}$/.test(code)) return { problem: 'a currency is three capital letters, as in KES' };
      const prefix = code === '' ? '' : `${code} `;
      const places = code === '' ? 2 : currencyPlaces(code);
      return (value, { lang }) => {
        const amount = formatNumber(value, lang, places, places);
        return amount === null ? null : prefix + amount;
      };
    },
  },
  number: {
    usage: 'number or number:2',
    doc: 'A number as the language writes it, with exactly so many decimals (0 to 9); up to three when none are given.',
    args: { decimals: '0 to 9' },
    examples: [
      ['{{weight|number}} kg', '1,250.125 kg', { weight: 1250.125 }],
      ['{{weight|number:1}} kg', '1,250.1 kg', { weight: 1250.125 }],
    ],
    arity: [0, 1],
    takes: ['number', 'text'],
    make: (digits) => {
      if (digits === undefined) return (value, { lang }) => formatNumber(value, lang, 0, 3);
      const places = parseWhole(digits, 0, 9);
      if (places === undefined) return { problem: 'decimals are 0 to 9' };
      return (value, { lang }) => formatNumber(value, lang, places, places);
    },
  },
  trunc: {
    usage: 'trunc:14',
    doc: 'At most so many characters (1 to 999); a longer text ends in "..".',
    args: { length: '1 to 999 characters, with the two points' },
    examples: [
      ['{{name|trunc:14}}', 'Tariro Moyo', { name: 'Tariro Moyo' }],
      ['{{name|trunc:8}}', 'Tariro..', { name: 'Tariro Moyo' }],
    ],
    arity: [1, 1],
    takes: PLAIN,
    make: (length) => {
      const most = parseWhole(length, 1, 999);
      if (most === undefined) return { problem: 'a length is 1 to 999' };
      return (value) => {
        const text = toText(value);
        if (takeFirst(text, most) === text) return text;
        return most > 2 ? `${takeFirst(text, most - 2)}..` : takeFirst(text, most);
      };
    },
  },
  first: {
    usage: 'first:3',
    doc: 'The first so many characters (1 to 999); none is cut, however many signs it is made of.',
    args: { length: '1 to 999 characters' },
    examples: [['{{name|first:1}}. {{surname}}', 'T. Moyo', { name: 'Tariro', surname: 'Moyo' }]],
    arity: [1, 1],
    takes: PLAIN,
    make: (length) => {
      const most = parseWhole(length, 1, 999);
      if (most === undefined) return { problem: 'a length is 1 to 999' };
      return (value) => takeFirst(toText(value), most);
    },
  },
  mask: {
    usage: 'mask or mask:2',
    doc: 'Stars and the last 4 (or 1 to 4) characters; stars only where those would be more than half of the text.',
    args: { shown: 'how many of the last characters are shown, 1 to 4; 4 without it' },
    examples: [
      ['{{account|mask}}', '****7713', { account: '0098927713' }],
      ['{{account|mask:2}}', '****13', { account: '0098927713' }],
      ['{{code|mask}}', '****', { code: '48291' }],
    ],
    arity: [0, 1],
    takes: PLAIN,
    make: (digits = '4') => {
      const last = parseWhole(digits, 1, 4);
      if (last === undefined) return { problem: 'the characters shown are 1 to 4' };
      return (value) => {
        const characters = listLast(toText(value), 2 * last);
        if (characters.length === 0) return null;
        return characters.length === 2 * last ? `****${characters.slice(-last).join('')}` : '****';
      };
    },
  },
  upper: {
    usage: 'upper',
    doc: 'In capital letters.',
    args: {},
    examples: [['{{code|upper}}', 'ZM12', { code: 'zm12' }]],
    arity: [0, 0],
    takes: PLAIN,
    make: () => (value) => toText(value).toUpperCase(),
  },
  lower: {
    usage: 'lower',
    doc: 'In small letters.',
    args: {},
    examples: [['{{answer|lower}}', 'yes', { answer: 'YES' }]],
    arity: [0, 0],
    takes: PLAIN,
    make: () => (value) => toText(value).toLowerCase(),
  },
  date: {
    usage: 'date or date:iso',
    doc: 'DD/MM/YYYY (or YYYY-MM-DD) of an ISO date or of milliseconds since 1970. Moments fall on a day of the caller: in the time zone of the flow. Without one, milliseconds are in UTC and texts as they are written.',
    args: { format: '`iso` for YYYY-MM-DD, or `dmy`, as without it' },
    examples: [
      ['{{due|date}}', '28/02/2026', { due: '2026-02-28T09:00:00Z' }],
      ['{{due|date:iso}}', '2026-02-28', { due: 1772265600000 }],
    ],
    arity: [0, 1],
    takes: ['text', 'number'],
    make: (format = 'dmy') => {
      if (format !== 'dmy' && format !== 'iso') return { problem: 'write date or date:iso' };
      return (value, { zone }) => {
        const date = readDay(value, zone);
        if (date === undefined || format === 'iso') return date ?? null;
        return date.split('-').reverse().join('/');
      };
    },
  },
  time: {
    usage: 'time',
    doc: "HH:MM of milliseconds since 1970 or of an ISO text with a time, in the caller's time zone, as with `date`.",
    args: {},
    examples: [
      ['{{due|date}} {{due|time}}', '28/02/2026 09:05', { due: '2026-02-28T09:05:00Z' }],
      ['{{due|time}}', '12:05', { due: '2026-02-28T09:05:00Z', timezone: 'Africa/Nairobi' }],
    ],
    arity: [0, 0],
    takes: ['text', 'number'],
    make:
      () =>
      (value, { zone }) =>
        readTime(value, zone) ?? null,
  },
  plural: {
    usage: "plural:item:items or plural:'one=item':'few=items':'other=items'",
    doc: 'The text for the number, by the plural rules of the language (CLDR); the number itself is not printed. With two texts the first is for the form `one`: 1 in English, 0 and 1 in French. Languages with more forms name them: `zero`, `one`, `two`, `few`, `many` and `other`, which must be there.',
    args: {
      one: 'the text for the form `one`',
      other: 'the text for all other numbers',
      'form=text...': 'or, in place of both, a text for each form that the language has',
    },
    examples: [
      ['{{count}} {{count|plural:item:items}}', '1 item', { count: 1 }],
      ["{{count}} {{count|plural:'bag':'bags'}}", '3 bags', { count: 3 }],
      ["{{count}} {{count|plural:'sac':'sacs'}}", '0 sac', { count: 0, lang: 'fr' }],
      ["{{count}} {{count|plural:'one=worek':'few=worki':'other=workow'}}", '3 worki', { count: 3, lang: 'pl' }],
    ],
    arity: [2, 6],
    takes: ['number', 'text'],
    make: (...texts) => {
      const forms = readPluralForms(texts);
      if ('problem' in forms) return { problem: forms.problem as string };
      return (value, { lang }) => {
        const count = typeof value === 'string' && isDecimal(value) ? Number(value) : value;
        if (typeof count !== 'number') return null;
        return forms[pluralRules(lang).select(count)] ?? forms.other ?? null;
      };
    },
  },
  default: {
    usage: 'default:none',
    doc: 'This text where there would be nothing.',
    args: { text: 'what is printed for nothing' },
    examples: [['Dear {{name|default:friend}}', 'Dear friend']],
    arity: [1, 1],
    takes: PLAIN,
    make: (text) => (value) => (toText(value) === '' ? (text ?? null) : value),
  },
  before: {
    usage: "before:'text'",
    doc: 'The text and then the value; nothing where the value is nothing.',
    args: { text: 'what stands before, also a new line' },
    examples: [
      ["Dear{{name|before:' '}},", 'Dear Ann,', { name: 'Ann' }],
      ["Dear{{name|before:' '}},", 'Dear,'],
    ],
    arity: [1, 1],
    takes: PLAIN,
    make: (text) => (value) => (toText(value) === '' ? value : text + toText(value)),
  },
  after: {
    usage: "after:'text'",
    doc: 'The value and then the text; nothing where the value is nothing.',
    args: { text: 'what stands after, also a new line' },
    examples: [
      ["{{why|after:'\n'}}Your PIN:", 'You pay 50.\nYour PIN:', { why: 'You pay 50.' }],
      ["{{why|after:'\n'}}Your PIN:", 'Your PIN:'],
    ],
    arity: [1, 1],
    takes: PLAIN,
    make: (text) => (value) => (toText(value) === '' ? value : toText(value) + text),
  },
  lines: {
    usage: "lines:'{{row.name}} {{row.price|money}}'",
    doc: 'A line for each element of a list, which the text calls `row`; it may print other variables too. A second text stands between them in place of a new line.',
    args: { text: 'one line', between: 'what stands between two lines; a new line without it' },
    examples: [
      [
        "{{cart|lines:'{{row.name}}: {{row.qty}}'}}",
        'Maize: 3\nHoe: 2',
        {
          cart: [
            { name: 'Maize', qty: 3 },
            { name: 'Hoe', qty: 2 },
          ],
        },
      ],
      ["{{basket|lines:'{{row}}':', '}}", 'milk, bread', { basket: ['milk', 'bread'] }],
    ],
    arity: [1, 2],
    takes: ['list'],
    make: () => ({ problem: 'the first is a text' }),
    makeEach:
      (row, between = '\n') =>
      (value, { scope, lang }) =>
        Array.isArray(value) ? value.map((item) => row.render({ ...scope, row: item }, lang)).join(between) : null,
  },
  count: {
    usage: 'count',
    doc: 'How many elements a list has; 0 where it is missing.',
    args: {},
    examples: [
      ['{{basket|count}} in your basket', '2 in your basket', { basket: ['milk', 'bread'] }],
      ['{{basket|count}} in your basket', '0 in your basket'],
    ],
    arity: [0, 0],
    takes: ['list'],
    make: () => (value) => (Array.isArray(value) ? value.length : value === null ? 0 : null),
  },
};

/** A plain value as text; '' for null, lists and objects. */
export function toText(value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return printDecimal(value);
  return value === null || typeof value === 'object' ? '' : String(value);
}

function parseWhole(text: string | undefined, least: number, most: number): number | undefined {
  const value = /^\d{1,3}$/.test(text ?? '') ? Number(text) : -1;
  return value >= least && value <= most ? value : undefined;
}
