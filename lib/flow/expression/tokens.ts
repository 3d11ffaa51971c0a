// Lexer of the expression language: source text → tokens, with hints for the syntax of other languages.

import { TwinlineError } from '../../errors.ts';
import { isKept } from './decimal.ts';

export type Token =
  | { readonly kind: 'number'; readonly value: number; readonly at: number; readonly text: string }
  | { readonly kind: 'text'; readonly value: string; readonly at: number; readonly text: string }
  | { readonly kind: 'name' | 'word' | 'sign' | 'end'; readonly at: number; readonly text: string };

/** Reserved words. */
export const WORDS: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'true', 'false', 'null']);
export const SIGNS: ReadonlySet<string> = new Set(['==', '!=', '<=', '>=', ...'<>+-*/%?:()[].,']);

const SPACE = /\s+/y;
const NUMBER = /\d[\w.]*/y;
const NAME = /[A-Za-z_]\w*/y;
const TEXT = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/sy;
// Longest first: operators of other languages must match whole to be explained.
const SIGN = /===|!==|=>|=<|<>|&&|\|\||\*\*|\?\?|\?\.|\{\{|[=!<>]=|./suy;
const PLAIN_NUMBER = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;
const ESCAPES: { readonly [sign: string]: string } = { n: '\n', t: '\t', '\\': '\\', "'": "'", '"': '"' };

const INSTEAD = new Map<string, string>([
  ['=', 'Write == to compare.'],
  ['===', 'Write ==; it never converts.'],
  ['!==', 'Write !=; it never converts.'],
  ['<>', 'Write !=.'],
  ['=>', 'Write >=.'],
  ['=<', 'Write <=.'],
  ['&&', 'Write "and".'],
  ['&', 'Write "and".'],
  ['||', 'Write "or".'],
  ['|', 'Write "or"; filters belong in texts.'],
  ['!', 'Write "not".'],
  ['**', 'There are no powers.'],
  ['^', 'There are no powers.'],
  ['??', 'Write: x == null ? y : x.'],
  ['?.', 'Write a plain point: a missing part is null.'],
  ['{{', 'Expressions name variables without braces.'],
  ['{', 'Expressions name variables without braces.'],
  ['}', 'Expressions name variables without braces.'],
  ['$', 'Write the bare name.'],
  [';', 'An expression has one part.'],
  ['`', "Put texts in straight quotes, as in 'gold'."],
  ...[...'‘’“”'].map((quote) => [quote, "Put texts in straight quotes, as in 'gold'."] as const),
]);

/** ERR_EXPRESSION with the source and the column (from 1); its `cause` is `{ offset }`, from 0. */
export function expressionError(source: string, offset: number, problem: string): TwinlineError {
  const shown = source.length > 80 ? `${source.slice(0, 77)}...` : source;
  return new TwinlineError('ERR_EXPRESSION', `Expression ${JSON.stringify(shown)}, column ${offset + 1}: ${problem}`, {
    cause: { offset },
  });
}

/** All tokens of `source`, ending with one of kind `end`. Throws ERR_EXPRESSION at the first invalid one. */
export function readTokens(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  for (;;) {
    at += match(SPACE)?.length ?? 0;
    if (at >= source.length) break;
    const fail = (problem: string, offset = at) => expressionError(source, offset, problem);
    const token = numberAt(match(NUMBER), at, fail) ??
      textAt(match(TEXT), at, fail) ??
      nameAt(match(NAME), at, fail) ?? { kind: 'sign', at, text: match(SIGN) ?? '' };
    if (token.text === "'" || token.text === '"') throw fail('the text that begins here has no closing quote.');
    if (token.kind === 'sign' && !SIGNS.has(token.text)) {
      throw fail(
        `found ${JSON.stringify(token.text)}, which is not part of the language. ${INSTEAD.get(token.text) ?? ''}`.trim(),
      );
    }
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ kind: 'end', at: source.length, text: '' });
  return tokens;
}

type Fail = (problem: string, offset?: number) => TwinlineError;

function numberAt(text: string | undefined, at: number, fail: Fail): Token | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!PLAIN_NUMBER.test(text)) {
    throw fail(
      `found ${JSON.stringify(text)}, expected a number such as 12 or 0.5. Put codes and phone numbers in quotes.`,
    );
  }
  if (value > Number.MAX_SAFE_INTEGER) throw fail(`${text} is too large to be exact. Put codes in quotes.`);
  if (!isKept(text)) throw fail(`${text} has more digits than a number keeps. Write at most 15.`);
  return { kind: 'number', value, at, text };
}

function textAt(text: string | undefined, at: number, fail: Fail): Token | undefined {
  if (text === undefined) return undefined;
  const value = text.slice(1, -1).replace(/\\(.)/gsu, (_, sign: string, offset: number) => {
    const character = ESCAPES[sign];
    if (character !== undefined) return character;
    throw fail(`found \\${sign} in a text, expected one of \\' \\" \\\\ \\n \\t.`, at + 1 + offset);
  });
  return { kind: 'text', value, at, text };
}

function nameAt(text: string | undefined, at: number, fail: Fail): Token | undefined {
  if (text === undefined) return undefined;
  if (WORDS.has(text)) return { kind: 'word', at, text };
  const lower = text.toLowerCase();
  if (WORDS.has(lower)) throw fail(`found "${text}". Write "${lower}".`);
  return { kind: 'name', at, text };
}
