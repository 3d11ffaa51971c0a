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
  const parser = new Parser(source);
  return { root: parser.whole(), names: [...parser.names] };
}

/** Recursive descent: a method for each rule of the grammar. */
class Parser {
  readonly names = new Set<string>();
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = readTokens(source);
  }

  whole(): Node {
    const root = this.#choice();
    if (this.#peek().kind !== 'end') throw this.#unexpected('an operator or the end');
    return root;
  }

  #choice(): Node {
    const test = this.#binary(BINARY_OPERATORS.or.level);
    if (!this.#take('?')) return test;
    const yes = this.#deeper(() => this.#choice());
    this.#expect(':', 'and the other choice');
    return { kind: 'choice', test, yes, no: this.#deeper(() => this.#choice()) };
  }

  #binary(loosest: number): Node {
    let left = this.#prefix(loosest);
    for (let sign = this.#sign(); sign && findLevel(sign) >= loosest; sign = this.#sign()) {
      const { at } = this.#peek();
      this.#next += sign === 'not in' ? 2 : 1;
      const right = this.#binary(findLevel(sign) + 1);
      left = { kind: 'binary', sign, left, right, at };
      const second = this.#sign();
      if (findLevel(sign) === COMPARE_LEVEL && second && findLevel(second) === COMPARE_LEVEL)
        throw this.#error(this.#peek(), `found a second comparison, "${second}". Write: a < b and b < c.`);
    }
    return left;
  }

  #sign(): BinarySign | undefined {
    const token = this.#peek();
    if (token.kind !== 'sign' && token.kind !== 'word') return undefined;
    if (token.text === 'not' && this.#peek(1).text === 'in') return 'not in';
    return Object.hasOwn(BINARY_OPERATORS, token.text) ? (token.text as BinarySign) : undefined;
  }

  #prefix(loosest: number): Node {
    const token = this.#peek();
    if (this.#take('not')) {
      if (loosest > OTHER_OPERATORS.not.level)
        throw this.#error(token, 'found "not", expected a value. Put "not ..." in parentheses.');
      return { kind: 'not', of: this.#deeper(() => this.#binary(OTHER_OPERATORS.not.level)) };
    }
    if (!this.#take('-')) return this.#primary();
    const of = this.#deeper(() => this.#prefix(OTHER_OPERATORS.minus.level));
    if (of.kind === 'value' && typeof of.value === 'number') {
      const text = this.#source.slice(token.at, of.at + of.text.length);
      return { kind: 'value', value: 0 - of.value, at: token.at, text };
    }
    return { kind: 'minus', of, at: token.at };
  }

  #primary(): Node {
    const token = this.#peek();
    if (token.kind === 'number' || token.kind === 'text') {
      this.#next++;
      return { kind: 'value', value: token.value, at: token.at, text: token.text };
    }
    if (token.kind === 'name') {
      this.#next++;
      return this.#peek().text === '(' && this.#peek().kind === 'sign' ? this.#call(token) : this.#path(token);
    }
    const constant = token.kind === 'word' ? CONSTANTS.get(token.text) : undefined;
    if (constant !== undefined) {
      this.#next++;
      return { kind: 'value', value: constant, at: token.at, text: token.text };
    }
    if (!this.#take('(')) throw this.#unexpected('a value: a name, a number, a text in quotes, or "("');
    const inner = this.#deeper(() => this.#choice());
    this.#expect(')', 'to close "("');
    return inner;
  }

  #call(token: Token): Node {
    if (!Object.hasOwn(FUNCTIONS, token.text)) {
      const all = Object.keys(FUNCTIONS);
      const hint = suggest(token.text, all);
      throw this.#error(token, `there is no function "${token.text}".${hint} Functions: ${all.join(', ')}.`);
    }
    const name = token.text as FunctionName;
    const args: Node[] = [];
    this.#next++;
    if (!this.#take(')')) {
      do args.push(this.#deeper(() => this.#choice()));
      while (this.#take(','));
      this.#expect(')', `or "," in the call of ${name}`);
    }
    const { usage, arity } = FUNCTIONS[name];
    const [least, most] = arity;
    if (args.length < least || args.length > most) throw this.#error(token, `${name} takes other arguments: ${usage}.`);
    return { kind: 'call', name, args, at: token.at };
  }

  #path(token: Token): Node {
    this.names.add(this.#allow(token, token.text));
    let node: Node = { kind: 'name', name: token.text, at: token.at };
    for (;;) {
      if (this.#take('.')) {
        const { at } = this.#peek();
        node = { kind: 'member', of: node, name: this.#field(token), at };
      } else if (this.#take('[')) {
        const index = this.#deeper(() => this.#choice());
        if (index.kind === 'value' && typeof index.value === 'string') this.#allow(this.#peek(-1), index.value);
        this.#expect(']', 'to close "["');
        node = { kind: 'index', of: node, index };
      } else if (this.#peek().kind === 'sign' && this.#peek().text === '(') {
        const problem =
          'found "(" after a path. There are no methods: write startsWith(name, \'x\') for name.startsWith.';
        throw this.#error(this.#peek(), problem);
      } else return node;
    }
  }

  #field(root: Token): string {
    const token = this.#peek();
    if (token.kind !== 'name' && token.kind !== 'word') throw this.#unexpected('a name after "."');
    this.#next++;
    if (token.text === 'length') {
      const path = this.#source.slice(root.at, token.at).replace(/[\s.]+$/, '');
      throw this.#error(token, `write len(${path}) for a length, or ${path}['length'] for a field of that name.`);
    }
    return this.#allow(token, token.text);
  }

  #allow(token: Token, name: string): string {
    if (isRefusedName(name))
      throw this.#error(token, `the name "${name}" is refused, because it leads to a prototype.`);
    return name;
  }

  #peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!;
  }

  #take(text: string): Token | undefined {
    const token = this.#peek();
    if ((token.kind !== 'sign' && token.kind !== 'word') || token.text !== text) return undefined;
    this.#next++;
    return token;
  }

  #expect(text: string, why: string): void {
    if (!this.#take(text)) throw this.#unexpected(`"${text}" ${why}`);
  }

  #deeper<T>(read: () => T): T {
    if (++this.#depth > FLOW_LIMITS.expressionDepth) {
      const problem = `it nests deeper than ${FLOW_LIMITS.expressionDepth} levels. Split it into variables.`;
      throw this.#error(this.#peek(), problem);
    }
    const result = read();
    this.#depth--;
    return result;
  }

  #unexpected(expected: string): Error {
    const token = this.#peek();
    const what = token.kind === 'end' ? 'the end' : JSON.stringify(token.text);
    return this.#error(token, `found ${what}, expected ${expected}.`);
  }

  #error(token: Token, problem: string): Error {
    return expressionError(this.#source, token.at, problem);
  }
}
