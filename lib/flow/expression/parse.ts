// Grammar of the expression language: tokens → tree. Loosest first: ?:, or, and, not, comparisons and in, + -, * / %, -.

import { FLOW_LIMITS } from '../limits.ts';
import { FUNCTIONS, type FunctionName } from './functions.ts';
import { BINARY_OPERATORS, type BinarySign, OTHER_OPERATORS } from './operators.ts';
import { suggest } from './suggest.ts';
import { expressionError, readTokens, type Token } from './tokens.ts';
import { isRefusedName } from './values.ts';

/** A part of a parsed expression; `at` is its offset in the source. */
export type Node =
  | {
      readonly kind: 'value';
      readonly value: null | boolean | number | string;
      readonly at: number;
      /** As written. */
      readonly text: string;
    }
  | { readonly kind: 'name'; readonly name: string; readonly at: number }
  | { readonly kind: 'member'; readonly of: Node; readonly name: string; readonly at: number }
  | { readonly kind: 'index'; readonly of: Node; readonly index: Node }
  | { readonly kind: 'not'; readonly of: Node }
  | { readonly kind: 'minus'; readonly of: Node; readonly at: number }
  | {
      readonly kind: 'binary';
      readonly sign: BinarySign;
      readonly left: Node;
      readonly right: Node;
      readonly at: number;
    }
  | { readonly kind: 'choice'; readonly test: Node; readonly yes: Node; readonly no: Node }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly args: readonly Node[]; readonly at: number };

const findLevel = (sign: BinarySign) => BINARY_OPERATORS[sign].level;
const COMPARE_LEVEL = findLevel('==');
const CONSTANTS = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Parses `source`; `names` are the distinct root names that it reads, in order. Throws ERR_EXPRESSION. */
export function parseExpression(source: string): { readonly root: Node; readonly names: readonly string[] } {
  if (source.length > FLOW_LIMITS.expressionChars) {
    const problem = `it has ${source.length} characters, and ${FLOW_LIMITS.expressionChars} is the most. Split it into variables.`;
    throw expressionError(source, FLOW_LIMITS.expressionChars, problem);
  }
  const tokens = readTokens(source);
  const names = new Set<string>();
  let next = 0;
  let depth = 0;

  const peek = (ahead = 0): Token => tokens[Math.min(next + ahead, tokens.length - 1)]!;
  const fail = (token: Token, problem: string) => expressionError(source, token.at, problem);
  const expectedError = (what: string) =>
    fail(peek(), `found ${peek().kind === 'end' ? 'the end' : JSON.stringify(peek().text)}, expected ${what}.`);
  const take = (text: string): Token | undefined => {
    const token = peek();
    if ((token.kind !== 'sign' && token.kind !== 'word') || token.text !== text) return undefined;
    next++;
    return token;
  };
  const expectText = (text: string, why: string): void => {
    if (!take(text)) throw expectedError(`"${text}" ${why}`);
  };
  const deeper = <T>(read: () => T): T => {
    if (++depth > FLOW_LIMITS.expressionDepth) {
      throw fail(peek(), `it nests deeper than ${FLOW_LIMITS.expressionDepth} levels. Split it into variables.`);
    }
    const result = read();
    depth--;
    return result;
  };

  const choice = (): Node => {
    const test = binary(BINARY_OPERATORS.or.level);
    if (!take('?')) return test;
    const yes = deeper(choice);
    expectText(':', 'and the other choice');
    return { kind: 'choice', test, yes, no: deeper(choice) };
  };

  const sign = (): BinarySign | undefined => {
    const token = peek();
    if (token.kind !== 'sign' && token.kind !== 'word') return undefined;
    if (token.text === 'not' && peek(1).text === 'in') return 'not in';
    return Object.hasOwn(BINARY_OPERATORS, token.text) ? (token.text as BinarySign) : undefined;
  };

  const binary = (loosest: number): Node => {
    let left = prefix(loosest);
    for (let found = sign(); found && findLevel(found) >= loosest; found = sign()) {
      const at = peek().at;
      next += found === 'not in' ? 2 : 1;
      const right = binary(findLevel(found) + 1);
      left = { kind: 'binary', sign: found, left, right, at };
      const chained = sign();
      if (findLevel(found) === COMPARE_LEVEL && chained && findLevel(chained) === COMPARE_LEVEL) {
        throw fail(peek(), `found a second comparison, "${chained}". Write: a < b and b < c.`);
      }
    }
    return left;
  };

  const prefix = (loosest: number): Node => {
    const token = peek();
    if (take('not')) {
      if (loosest > OTHER_OPERATORS.not.level)
        throw fail(token, 'found "not", expected a value. Put "not ..." in parentheses.');
      return { kind: 'not', of: deeper(() => binary(OTHER_OPERATORS.not.level)) };
    }
    if (!take('-')) return primary();
    const of = deeper(() => prefix(OTHER_OPERATORS.minus.level));
    if (of.kind === 'value' && typeof of.value === 'number') {
      const text = source.slice(token.at, of.at + of.text.length);
      return { kind: 'value', value: 0 - of.value, at: token.at, text };
    }
    return { kind: 'minus', of, at: token.at };
  };

  const primary = (): Node => {
    const token = peek();
    if (token.kind === 'number' || token.kind === 'text') {
      next++;
      return { kind: 'value', value: token.value, at: token.at, text: token.text };
    }
    if (token.kind === 'name') {
      next++;
      return peek().text === '(' && peek().kind === 'sign' ? call(token) : path(token);
    }
    const constant = token.kind === 'word' ? CONSTANTS.get(token.text) : undefined;
    if (constant !== undefined) {
      next++;
      return { kind: 'value', value: constant, at: token.at, text: token.text };
    }
    if (!take('(')) throw expectedError('a value: a name, a number, a text in quotes, or "("');
    const inner = deeper(choice);
    expectText(')', 'to close "("');
    return inner;
  };

  const call = (token: Token): Node => {
    const known = Object.keys(FUNCTIONS);
    if (!Object.hasOwn(FUNCTIONS, token.text)) {
      throw fail(
        token,
        `there is no function "${token.text}".${suggest(token.text, known)} Functions: ${known.join(', ')}.`,
      );
    }
    const name = token.text as FunctionName;
    const args: Node[] = [];
    next++;
    if (!take(')')) {
      do args.push(deeper(choice));
      while (take(','));
      expectText(')', `or "," in the call of ${name}`);
    }
    const { usage, arity } = FUNCTIONS[name];
    const [least, most] = arity;
    if (args.length < least || args.length > most) throw fail(token, `${name} takes other arguments: ${usage}.`);
    return { kind: 'call', name, args, at: token.at };
  };

  const path = (token: Token): Node => {
    names.add(checkAllowed(token, token.text));
    let node: Node = { kind: 'name', name: token.text, at: token.at };
    for (;;) {
      if (take('.')) {
        const { at } = peek();
        node = { kind: 'member', of: node, name: field(token), at };
      } else if (take('[')) {
        const index = deeper(choice);
        if (index.kind === 'value' && typeof index.value === 'string') checkAllowed(peek(-1), index.value);
        expectText(']', 'to close "["');
        node = { kind: 'index', of: node, index };
      } else if (peek().kind === 'sign' && peek().text === '(') {
        throw fail(
          peek(),
          'found "(" after a path. There are no methods: write startsWith(name, \'x\') for name.startsWith.',
        );
      } else return node;
    }
  };

  const field = (root: Token): string => {
    const token = peek();
    if (token.kind !== 'name' && token.kind !== 'word') throw expectedError('a name after "."');
    next++;
    if (token.text === 'length') {
      const path = source.slice(root.at, token.at).replace(/[\s.]+$/, '');
      throw fail(token, `write len(${path}) for a length, or ${path}['length'] for a field of that name.`);
    }
    return checkAllowed(token, token.text);
  };

  const checkAllowed = (token: Token, name: string): string => {
    if (isRefusedName(name)) throw fail(token, `the name "${name}" is refused, because it leads to a prototype.`);
    return name;
  };

  const root = choice();
  if (peek().kind !== 'end') throw expectedError('an operator or the end');
  return { root, names: [...names] };
}
