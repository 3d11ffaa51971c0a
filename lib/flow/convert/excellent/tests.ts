// The tests of RapidPro's routers, such as `has_any_word`, as conditions of flows, and evaluated for constant answers. They are defined in
// goflow, "flows/routers/cases".

import { listWords } from '../../expression/functions.ts';
import { findNumber } from '../../expression/values.ts';
import { type FlowExpression, quote, tight, toNumber, toText } from './made.ts';

/** Alternative conditions, or why there are none. */
export type Conditions =
  | {
      readonly conditions: readonly string[];
      /** How they differ from the test, as a sentence. */
      readonly differs?: string;
    }
  | { readonly why: string };

interface Test {
  conditions(operand: FlowExpression, args: readonly FlowExpression[]): Conditions;
  passes(answer: string, args: readonly string[]): boolean;
}

const NUMBERS_DIFFER = 'Of several numbers in an answer only the first is compared.';
const ANY = 200;

const constant = (expression: FlowExpression | undefined): string | undefined =>
  expression?.value === undefined || expression.value === null ? undefined : String(expression.value);

/** The words of the answer between spaces, so that a word is found as ` word `. */
const padWithSpaces = (operand: FlowExpression) => `' ' + words(${toText(operand)}) + ' '`;

/** The words that a test looks for; several arguments are one text. */
const joinPhrase = (args: readonly FlowExpression[]): string | undefined => {
  const texts = args.map(constant);
  return texts.length === 0 || texts.includes(undefined) ? undefined : listWords(texts.join(' ')).join(' ');
};

const wordTest = (
  join: (tests: readonly string[]) => readonly string[],
  passes: (words: readonly string[], phrase: readonly string[]) => boolean,
): Test => ({
  conditions: (operand, args) => {
    const phrase = joinPhrase(args);
    if (phrase === undefined) return { why: 'the words that it looks for are not written out' };
    const words = [...new Set(listWords(phrase))];
    if (words.length === 0) return { why: 'it looks for no word' };
    if (words.length > ANY) return { why: `it looks for more than ${ANY} words` };
    return {
      conditions: join(words.map((word) => `contains(${padWithSpaces(operand)}, ${quote(` ${word} `)})`)),
    };
  },
  passes: (answer, args) => passes(listWords(answer), listWords(args.join(' '))),
});

const hasPhrase = (words: readonly string[], phrase: readonly string[]) =>
  phrase.length === 0 || ` ${words.join(' ')} `.includes(` ${phrase.join(' ')} `);

const numberTest = (
  condition: (number: string, args: readonly string[]) => string,
  passes: (number: number, args: readonly number[]) => boolean,
): Test => ({
  conditions: (operand, args) => ({
    conditions: [
      condition(
        operand.kind === 'number' ? tight(operand.source) : `findNumber(${toText(operand)})`,
        args.map((arg) => tight(toNumber(arg))),
      ),
    ],
    ...(operand.kind !== 'number' && args.length > 0 && { differs: NUMBERS_DIFFER }),
  }),
  passes: (answer, args) => {
    const number = findNumber(answer);
    return number !== undefined && passes(number, args.map(Number));
  },
});

const HAS_TEXT: Test = {
  conditions: (operand) => ({ conditions: [`trim(${toText(operand)}) != ''`] }),
  passes: (answer) => answer.trim() !== '',
};

const TESTS: { readonly [type: string]: Test } = {
  has_any_word: wordTest(
    (tests) => tests,
    (words, wanted) => wanted.some((word) => words.includes(word)),
  ),
  has_all_words: wordTest(
    (tests) => [tests.join(' and ')],
    (words, wanted) => wanted.every((word) => words.includes(word)),
  ),
  has_phrase: {
    conditions: (operand, args) => {
      const phrase = joinPhrase(args);
      if (phrase === undefined) return { why: 'the words that it looks for are not written out' };
      return { conditions: phrase ? [`contains(${padWithSpaces(operand)}, ${quote(` ${phrase} `)})`] : ['true'] };
    },
    passes: (answer, args) => hasPhrase(listWords(answer), listWords(args.join(' '))),
  },
  has_only_phrase: {
    conditions: (operand, [arg, ...more]) => {
      if (!arg) return { why: 'it says nothing to compare with' };
      const phrase = joinPhrase([arg, ...more]);
      const other = phrase === undefined ? `words(${toText(arg)})` : quote(phrase);
      return { conditions: [`words(${toText(operand)}) == ${other}`] };
    },
    passes: (answer, args) => listWords(answer).join(' ') === listWords(args.join(' ')).join(' '),
  },
  has_only_text: {
    conditions: (operand, [arg]) =>
      arg ? { conditions: [`${toText(operand)} == ${toText(arg)}`] } : { why: 'it says nothing to compare with' },
    passes: (answer, [text = '']) => answer === text,
  },
  has_category: {
    conditions: (operand, args) => ({ conditions: args.map((arg) => `${toText(operand)} == ${toText(arg)}`) }),
    passes: (answer, args) => args.includes(answer),
  },
  has_beginning: {
    conditions: (operand, [arg]) => {
      const text = constant(arg)?.trim().toLowerCase();
      if (!text) return { why: 'the beginning that it looks for is not written out' };
      return { conditions: [`startsWith(lower(trim(${toText(operand)})), ${quote(text)})`] };
    },
    passes: (answer, [text = '']) =>
      text.trim() !== '' && answer.trim().toLowerCase().startsWith(text.trim().toLowerCase()),
  },
  has_text: HAS_TEXT,
  has_value: HAS_TEXT,
  has_number: numberTest(
    (number) => `${number} != null`,
    () => true,
  ),
  has_number_eq: numberTest(
    (number, [other]) => `${number} == ${other}`,
    (number, [other]) => number === other,
  ),
  has_number_lt: numberTest(
    (number, [other]) => `${number} < ${other}`,
    (number, [other]) => number < other!,
  ),
  has_number_lte: numberTest(
    (number, [other]) => `${number} <= ${other}`,
    (number, [other]) => number <= other!,
  ),
  has_number_gt: numberTest(
    (number, [other]) => `${number} > ${other}`,
    (number, [other]) => number > other!,
  ),
  has_number_gte: numberTest(
    (number, [other]) => `${number} >= ${other}`,
    (number, [other]) => number >= other!,
  ),
  has_number_between: numberTest(
    (number, [least, most]) => `${number} >= ${least} and ${number} <= ${most}`,
    (number, [least, most]) => number >= least! && number <= most!,
  ),
};
const ARGUMENTS: { readonly [type: string]: number } = {
  has_number_eq: 1,
  has_number_lt: 1,
  has_number_lte: 1,
  has_number_gt: 1,
  has_number_gte: 1,
  has_number_between: 2,
};

/** All tests that can be converted. */
export const TEST_NAMES: readonly string[] = Object.keys(TESTS);

/** Converts a router test to conditions. */
export function testConditions(type: string, operand: FlowExpression, args: readonly FlowExpression[]): Conditions {
  const test = findTest(type);
  if (!test) return { why: `flows have no test like ${type}` };
  if (args.length < (ARGUMENTS[type] ?? 0)) return { why: `${type} lacks an argument` };
  if (operand.kind === 'object') return { why: `${type} would test an object` };
  return test.conditions(operand, args);
}

/** Whether an answer passes a test with constant arguments; undefined for unknown tests. */
export function passesTest(type: string, answer: string, args: readonly string[]): boolean | undefined {
  return findTest(type)?.passes(answer, args);
}

function findTest(type: string): Test | undefined {
  return Object.hasOwn(TESTS, type) ? TESTS[type] : undefined;
}
