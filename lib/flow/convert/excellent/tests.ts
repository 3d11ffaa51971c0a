// The tests of RapidPro's routers, `has_any_word` and its like: as conditions of flows, and applied to an answer that is known.
// What each means is said in goflow, "flows/routers/cases".

import { type FlowExpression, quote, tight, toNumber, toText } from './made.ts';

/** Conditions of which any is enough, or why there are none. */
export type Conditions =
  | {
      readonly conditions: readonly string[];
      /** How it differs from the test; a sentence. */
      readonly differs?: string;
    }
  | { readonly why: string };

interface Test {
  conditions(operand: FlowExpression, args: readonly FlowExpression[]): Conditions;
  passes(answer: string, args: readonly string[]): boolean;
}

const WORDS_DIFFER = 'Words are told apart by spaces only, so that "blue!" is not the word "blue".';
const NUMBER_DIFFERS = 'The text has to be a number and nothing else; the test finds one inside a sentence, too.';
const ANY = 200;

/** The words of a text, in small letters. */
export function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+|[*#]/gu) ?? [];
}

const constant = (expression: FlowExpression | undefined): string | undefined =>
  expression?.value === undefined || expression.value === null ? undefined : String(expression.value);

/** The answer in small letters between spaces, so that a word is found as ` word `. */
const padWithSpaces = (operand: FlowExpression) => `' ' + lower(${toText(operand)}) + ' '`;

const wordTest = (
  join: (tests: readonly string[]) => readonly string[],
  passes: (words: readonly string[], phrase: readonly string[]) => boolean,
): Test => ({
  conditions: (operand, [arg]) => {
    const text = constant(arg);
    if (text === undefined) return { why: 'the words that it looks for are not written out' };
    const words = [...new Set(splitWords(text))];
    if (words.length === 0) return { why: 'it looks for no word' };
    if (words.length > ANY) return { why: `it looks for more than ${ANY} words` };
    return {
      conditions: join(words.map((word) => `contains(${padWithSpaces(operand)}, ${quote(` ${word} `)})`)),
      differs: WORDS_DIFFER,
    };
  },
  passes: (answer, [text = '']) => passes(splitWords(answer), splitWords(text)),
});

const hasPhrase = (words: readonly string[], phrase: readonly string[]) =>
  phrase.length === 0 || ` ${words.join(' ')} `.includes(` ${phrase.join(' ')} `);

const sameText = (normalize: (text: string) => string, isCaseless: boolean): Test => ({
  conditions: (operand, [arg]) => {
    const text = constant(arg);
    if (text === undefined && !arg) return { why: 'it says nothing to compare with' };
    const one = isCaseless ? `lower(${toText(operand)})` : toText(operand);
    const other = text === undefined ? toText(arg!) : quote(normalize(text));
    return { conditions: [`${one} == ${isCaseless && text === undefined ? `lower(${other})` : other}`] };
  },
  passes: (answer, [text = '']) => normalize(answer) === normalize(text),
});

const numberTest = (
  condition: (number: string, args: readonly string[]) => string,
  passes: (number: number, args: readonly number[]) => boolean,
): Test => ({
  conditions: (operand, args) => ({
    conditions: [
      condition(
        tight(toNumber(operand)),
        args.map((arg) => tight(toNumber(arg))),
      ),
    ],
    ...(operand.kind !== 'number' && { differs: NUMBER_DIFFERS }),
  }),
  passes: (answer, args) => {
    const number = /-?\d+(?:\.\d+)?/.exec(answer);
    return number !== null && passes(Number(number[0]), args.map(Number));
  },
});

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
    conditions: (operand, [arg]) => {
      const text = constant(arg);
      if (text === undefined) return { why: 'the words that it looks for are not written out' };
      const phrase = splitWords(text).join(' ');
      return { conditions: [`contains(${padWithSpaces(operand)}, ${quote(` ${phrase} `)})`], differs: WORDS_DIFFER };
    },
    passes: (answer, [text = '']) => hasPhrase(splitWords(answer), splitWords(text)),
  },
  has_only_phrase: sameText((text) => splitWords(text).join(' '), true),
  has_only_text: sameText((text) => text, false),
  has_category: {
    conditions: (operand, args) => ({ conditions: args.map((arg) => `${toText(operand)} == ${toText(arg)}`) }),
    passes: (answer, args) => args.includes(answer),
  },
  has_beginning: {
    conditions: (operand, [arg]) => {
      const text = constant(arg)?.trim().toLowerCase();
      if (!text) return { why: 'the beginning that it looks for is not written out' };
      return { conditions: [`startsWith(lower(${toText(operand)}), ${quote(text)})`] };
    },
    passes: (answer, [text = '']) =>
      text.trim() !== '' && answer.trim().toLowerCase().startsWith(text.trim().toLowerCase()),
  },
  has_text: {
    conditions: (operand) => ({ conditions: [`${toText(operand)} != ''`] }),
    passes: (answer) => answer.trim() !== '',
  },
  has_value: {
    conditions: (operand) => ({ conditions: [`${toText(operand)} != ''`] }),
    passes: (answer) => answer !== '',
  },
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

/** Every test that flows can express. */
export const TEST_NAMES: readonly string[] = Object.keys(TESTS);

/** A test of a router as conditions of a flow. */
export function testConditions(type: string, operand: FlowExpression, args: readonly FlowExpression[]): Conditions {
  const test = findTest(type);
  if (!test) return { why: `flows have no test like ${type}` };
  if (args.length < (ARGUMENTS[type] ?? 0)) return { why: `${type} lacks an argument` };
  if (operand.kind === 'object') return { why: `${type} would test an object` };
  return test.conditions(operand, args);
}

/** Whether an answer passes a test of constants; undefined when there is no such test. */
export function passesTest(type: string, answer: string, args: readonly string[]): boolean | undefined {
  return findTest(type)?.passes(answer, args);
}

function findTest(type: string): Test | undefined {
  return Object.hasOwn(TESTS, type) ? TESTS[type] : undefined;
}
