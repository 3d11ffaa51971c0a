// The expression language of flows ("when" conditions and "=..." values), compiled once to closures.
//
// - A name that is not in scope is null, and so are its members; only own properties are read.
// - `==` never converts: true for the same plain value (so a missing name == null), false for mixed kinds and for lists
//   and objects. `!=` is its negation.
// - `<` `<=` `>` `>=` compare two numbers or two texts (by code unit); anything else is false.
// - `and`, `or`, `not` and the condition of `? :` count only true as true, and return true or false.
// - `in` tests for an element of a list or a substring of a text; anything else is false.
// - `+` adds two numbers or joins two texts; `-` `*` `/` `%` and unary minus take numbers, and compute with decimals. Other
//   kinds, a zero divisor and results beyond the largest number throw.

import { systemClock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { requireGiven } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { Calendar } from './days.ts';
import { ARITHMETIC } from './decimal.ts';
import { FUNCTIONS, isIn } from './functions.ts';
import type { BinarySign } from './operators.ts';
import { type Node, parseExpression } from './parse.ts';
import { expressionError } from './tokens.ts';
import { element, isRefusedName, isSame, member, nameKind } from './values.ts';

/** A compiled expression of a flow. */
export interface Expression {
  readonly source: string;
  /** The variables it reads: distinct root names, in order. */
  readonly names: readonly string[];
  /** The value, safe for JSON. Throws ERR_EXPRESSION according to the rules above; the message contains no values. */
  evaluate(scope: JsonObject): Json;
}

type Evaluate = (scope: JsonObject) => Json;
type Refuse = (problem: string) => never;

/**
 * Reads `source`, at most FLOW_LIMITS.expressionChars long and FLOW_LIMITS.expressionDepth levels deep. Throws ERR_EXPRESSION with
 * the column, what was found and what was expected; its `cause` is `{ offset }`. The calendar is for `now()` and `today()`.
 * @default `calendar` the system clock, in UTC
 * @example
 * compileExpression('price * 2 > 10').evaluate({ price: 6 }); // → true
 * compileExpression('price *'); // throws ERR_EXPRESSION
 */
export function compileExpression(source: string, calendar: Calendar = systemClock): Expression {
  requireGiven('compile an expression', { source }, { source: 'text' });
  const { root, names } = parseExpression(source);
  return { source, names, evaluate: compile(root, { source, calendar }) };
}

/** Whether a condition holds: only `true` is true; null, 0, '' and 'true' are not. */
export function truthy(value: Json): boolean {
  return value === true;
}

function compile(node: Node, place: { readonly source: string; readonly calendar: Calendar }): Evaluate {
  const { source, calendar } = place;
  const inner = (part: Node) => compile(part, place);
  switch (node.kind) {
    case 'value': {
      const { value } = node;
      return () => value;
    }
    case 'name': {
      const { name } = node;
      return (scope) => (Object.hasOwn(scope, name) ? (scope[name] ?? null) : null);
    }
    case 'member': {
      const { name } = node;
      const of = inner(node.of);
      return (scope) => member(of(scope), name);
    }
    case 'index': {
      const of = inner(node.of);
      const index = inner(node.index);
      return (scope) => pick(of(scope), index(scope));
    }
    case 'not': {
      const of = inner(node.of);
      return (scope) => of(scope) !== true;
    }
    case 'minus': {
      const of = inner(node.of);
      const refuse = refuser(source, node.at);
      return (scope) => {
        const value = of(scope);
        return typeof value === 'number' ? 0 - value : refuse(`"-" takes a number, not ${nameKind(value)}.`);
      };
    }
    case 'binary':
      return BINARY[node.sign](inner(node.left), inner(node.right), refuser(source, node.at));
    case 'choice': {
      const [test, yes, no] = [inner(node.test), inner(node.yes), inner(node.no)];
      return (scope) => (test(scope) === true ? yes(scope) : no(scope));
    }
    case 'call': {
      const args = node.args.map(inner);
      const refuse = refuser(source, node.at);
      const { call } = FUNCTIONS[node.name];
      return (scope) =>
        call(
          args.map((arg) => arg(scope)),
          refuse,
          { calendar, scope },
        );
    }
  }
}

const BINARY: { readonly [sign in BinarySign]: (left: Evaluate, right: Evaluate, refuse: Refuse) => Evaluate } = {
  or: (left, right) => (scope) => left(scope) === true || right(scope) === true,
  and: (left, right) => (scope) => left(scope) === true && right(scope) === true,
  '==': (left, right) => (scope) => isSame(left(scope), right(scope)),
  '!=': (left, right) => (scope) => !isSame(left(scope), right(scope)),
  '<': compareOrdered((a, b) => a < b),
  '<=': compareOrdered((a, b) => a <= b),
  '>': compareOrdered((a, b) => a > b),
  '>=': compareOrdered((a, b) => a >= b),
  in: (left, right) => (scope) => isIn(left(scope), right(scope)),
  'not in': (left, right) => (scope) => !isIn(left(scope), right(scope)),
  '+': (left, right, refuse) => (scope) => {
    const a = left(scope);
    const b = right(scope);
    if (typeof a === 'number' && typeof b === 'number') return finite(ARITHMETIC['+'](a, b), refuse);
    if (typeof a === 'string' && typeof b === 'string') return checkLength(a + b, refuse);
    return refuse(`"+" takes two numbers or two texts, not ${nameKind(a)} and ${nameKind(b)}.`);
  },
  '-': arithmetic('-'),
  '*': arithmetic('*'),
  '/': arithmetic('/'),
  '%': arithmetic('%'),
};

function arithmetic(sign: '-' | '*' | '/' | '%') {
  const work = ARITHMETIC[sign];
  const divides = sign === '/' || sign === '%';
  return (left: Evaluate, right: Evaluate, refuse: Refuse): Evaluate =>
    (scope) => {
      const a = left(scope);
      const b = right(scope);
      if (typeof a === 'number' && typeof b === 'number') {
        if (divides && b === 0) return refuse('it divides by zero.');
        return finite(work(a, b), refuse);
      }
      return refuse(`"${sign}" takes two numbers, not ${nameKind(a)} and ${nameKind(b)}.`);
    };
}

function compareOrdered(test: (a: number | string, b: number | string) => boolean) {
  return (left: Evaluate, right: Evaluate): Evaluate =>
    (scope) => {
      const a = left(scope);
      const b = right(scope);
      if (typeof a === 'number') return typeof b === 'number' && test(a, b);
      return typeof a === 'string' && typeof b === 'string' && test(a, b);
    };
}

// `+ 0` turns -0 into 0, because JSON cannot represent -0.
function finite(value: number, refuse: Refuse): number {
  return Number.isFinite(value) ? value + 0 : refuse('the result is too large for a number.');
}

function checkLength(text: string, refuse: Refuse): string {
  return text.length <= COMMON_LIMITS.recordChars
    ? text
    : refuse(`the text is longer than ${COMMON_LIMITS.recordChars} characters.`);
}

function pick(value: Json, index: Json): Json {
  if (typeof index === 'number') return element(value, index);
  return typeof index === 'string' && !isRefusedName(index) ? member(value, index) : null;
}

function refuser(source: string, at: number): Refuse {
  return (problem) => {
    throw expressionError(source, at, problem);
  };
}
