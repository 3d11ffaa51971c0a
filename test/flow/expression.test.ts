// The expression language: what it computes, what it refuses, and what its messages tell.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { compileExpression, truthy } from '../../lib/flow/expression/expression.ts';
import { FLOW_LIMITS } from '../../lib/flow/limits.ts';
import type { Json, JsonObject } from '../../lib/store/store.ts';

const test = suite('expression');

const scope: JsonObject = {
  balance: 250,
  tier: 'gold',
  errors: 1,
  none: null,
  yes: true,
  no: false,
  big: 1e308,
  name: 'Tariro 😀',
  list: [1, 'two', null, [3]],
  tx: [{ label: 'rent', amount: 12.5 }, { label: 'food' }],
  auth: { ok: true, and: 7, 'two words': 1 },
  pick: 1,
};

const value = (source: string): Json => compileExpression(source).evaluate(scope);

function failure(source: string, work: () => unknown): TwinlineError {
  try {
    work();
  } catch (error) {
    assert.instance(error, TwinlineError, `${source} threw ${error}`);
    assert.is((error as TwinlineError).code, 'ERR_EXPRESSION');
    return error as TwinlineError;
  }
  throw new Error(`${source} did not throw`);
}

const refusal = (source: string) => failure(source, () => compileExpression(source));

const VALUES: readonly (readonly [string, Json])[] = [
  // literals and escapes
  ['12', 12],
  ['0.5', 0.5],
  ['-3', -3],
  [String.raw`'it\'s'`, "it's"],
  [String.raw`"a\"b\\\n\t"`, 'a"b\\\n\t'],
  ['null', null],
  ['(true)', true],
  // paths
  ['auth.ok', true],
  ['auth.and', 7],
  ["auth['two words']", 1],
  ['tx[0].label', 'rent'],
  ['tx[pick].label', 'food'],
  ['tx[pick - 1].amount', 12.5],
  ['tx[2].label', null],
  ['tx[-1]', null],
  ['tx[0.5]', null],
  ['list[3][0]', 3],
  ['missing', null],
  ['missing.deeper[3].still', null],
  ['tier.toUpperCase', null],
  ['toString', null],
  ['auth.hasOwnProperty', null],
  ["list['length']", null],
  // arithmetic is safe for JSON
  ["'a' + 'b'", 'ab'],
  ['0 * -1', 0],
  ["balance>=100 and tier=='gold' and errors<3", true],
  ["'2024-01-02' < '2024-01-10'", true],
  ['5 not in list', true],
  ['not 1 in list', false],
  ['"ok" in auth', false],
  ['"1" in list', false],
  ['-0', 0],
  // functions
  ['len(list)', 4],
  ['len(name)', 8],
  ['len(missing)', 0],
  ["num(' 12.50 ')", 12.5],
  ["num('1e3')", null],
  ["num('12a')", null],
  ['num(yes)', null],
  ["str(12.5) + str(yes) + str(none) + str('x')", '12.5truex'],
  ['min(3, balance, 5)', 3],
  ['max(3, balance, 5)', 250],
  ['round(2.5)', 3],
  ['round(-2.5)', -3],
  ['round(1.005, 2)', 1.01],
  ['round(-0.4)', 0],
  ['round(big, 12)', 1e308],
  ['abs(-2)', 2],
  ["lower('AbC') + upper('AbC')", 'abcABC'],
  ['lower(missing)', null],
  ["startsWith(tier, 'go')", true],
  ["startsWith(missing, 'go')", false],
  ["contains(tier, 'ol')", true],
  ['contains(list, 1)', true],
  ['min', null],
];

test('computes what its rules say', () => {
  for (const [source, expected] of VALUES) {
    assert.equal(value(source), expected, source);
    assert.not(Object.is(value(source), -0), source);
  }
});

test('a condition holds only for true', () => {
  assert.ok(truthy(true));
  for (const other of [false, null, 0, 1, '', 'true', [], {}]) assert.not(truthy(other), JSON.stringify(other));
});

test('arithmetic on anything but numbers throws, names the kinds and shows no value', () => {
  const cases: readonly (readonly [string, number, RegExp])[] = [
    ['balance + tier', 9, /"\+" takes two numbers or two texts, not a number and a text/],
    ['missing + 1', 9, /not nothing and a number/],
    ['list * 2', 6, /"\*" takes two numbers, not a list and a number/],
    ['-auth', 1, /"-" takes a number, not an object/],
    ['1 + 4 / (errors - 1)', 7, /divides by zero/],
    ['5 % 0', 3, /divides by zero/],
    ['big * 10', 5, /too large/],
    ['len(yes)', 1, /len takes a list or a text, not true or false/],
    ['1 + max(1, none)', 5, /max takes numbers, not nothing/],
    ['round(1, 13)', 1, /0 to 12/],
    ['str(list)', 1, /not a list/],
    ['upper(1)', 1, /upper takes a text/],
  ];
  for (const [source, column, message] of cases) {
    const error = failure(source, () => value(source));
    assert.match(error.message, message, source);
    assert.match(error.message, `column ${column}:`, `${source}: ${error.message}`);
    assert.not.match(error.message.replace(JSON.stringify(source), ''), /250|Tariro|rent/);
  }
});

test('joined texts are bounded', () => {
  const long = { s: 'x'.repeat(40_000) };
  const sum = compileExpression('s + s');
  assert.match(failure('s + s', () => sum.evaluate(long)).message, String(COMMON_LIMITS.recordChars));
});

test('refusals point at the column, and say what to write instead', () => {
  const cases: readonly (readonly [string, number, RegExp])[] = [
    ['a = 1', 3, /Write == to compare/],
    ['a === 1', 3, /Write ==/],
    ['a !== 1', 3, /Write !=/],
    ['a && b', 3, /Write "and"/],
    ['a || b', 3, /Write "or"/],
    ['!a', 1, /Write "not"/],
    ['a <> b', 3, /Write !=/],
    ['a => b', 3, /Write >=/],
    ['a AND b', 3, /Write "and"/],
    ['a == True', 6, /Write "true"/],
    ['{{a}}', 1, /without braces/],
    ['a ?? b', 3, /== null \?/],
    ['a == ‘x’', 6, /straight quotes/],
    ["a == 'x", 6, /no closing quote/],
    [String.raw`'a\d'`, 3, /expected one of/],
    ['a == 0771', 6, /in quotes/],
    ['12abc', 1, /expected a number/],
    ['.5', 1, /expected a value/],
    ['99999999999999999999', 1, /too large to be exact/],
    ['', 1, /found the end, expected a value/],
    ['   ', 4, /found the end/],
    ['a b', 3, /found "b", expected an operator or the end/],
    ['(a', 3, /found the end, expected "\)"/],
    ['a ? b', 6, /expected ":"/],
    ['a.', 3, /expected a name after "\."/],
    ['tx[0', 5, /expected "\]"/],
    ['1 < a < 3', 7, /a < b and b < c/],
    ['a == b != c', 8, /second comparison/],
    ['a == not b', 6, /parentheses/],
    ['lenn(a)', 1, /Did you mean "len"\?/],
    ['startswith(a, b)', 1, /Did you mean "startsWith"\?/],
    ['eval(a)', 1, /no function "eval"/],
    ['constructor(a)', 1, /no function "constructor"/],
    ['len()', 1, /len\(list or text\)/],
    ['abs(1, 2)', 1, /abs\(number\)/],
    ["a.startsWith('x')", 13, /no methods/],
    ['tx[0].length > 0', 7, /len\(tx\[0\]\)/],
    ['a # b', 3, /not part of the language/],
  ];
  for (const [source, column, message] of cases) {
    const error = refusal(source);
    assert.match(error.message, message, `${source}: ${error.message}`);
    assert.match(error.message, `column ${column}:`, `${source}: ${error.message}`);
    assert.equal(error.cause, { offset: column - 1 });
  }
});

test('names that lead to a prototype are refused', () => {
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    for (const source of [name, `a.${name}`, `a.${name}.b`, `a['${name}']`, `len(${name})`]) {
      assert.match(refusal(source).message, `"${name}" is refused`, source);
    }
    const data = JSON.parse(`{"key":"${name}","a":{"${name}":"reached"}}`);
    assert.is(compileExpression('a[key]').evaluate(data), null);
  }
});

test('inherited properties do not exist', () => {
  const inherited = Object.create({ balance: 1 });
  assert.is(compileExpression('balance').evaluate(inherited), null);
});

test('length and depth are bounded, exactly', () => {
  const chars = FLOW_LIMITS.expressionChars;
  assert.is(compileExpression(`1${' '.repeat(chars - 1)}`).evaluate({}), 1);
  assert.match(refusal(`1${' '.repeat(chars)}`).message, `${chars} is the most`);
  const depth = FLOW_LIMITS.expressionDepth;
  const nested: readonly ((levels: number) => string)[] = [
    (levels) => `${'('.repeat(levels)}1${')'.repeat(levels)}`,
    (levels) => `${'not '.repeat(levels)}yes`,
    (levels) => `${'-'.repeat(levels)}1`,
    (levels) => `${'a['.repeat(levels)}0${']'.repeat(levels)}`,
    (levels) => `${'abs('.repeat(levels)}1${')'.repeat(levels)}`,
    (levels) => `${'no?1:'.repeat(levels)}1`,
  ];
  for (const write of nested) {
    compileExpression(write(depth));
    assert.match(refusal(write(depth + 1)).message, /nests deeper than/);
  }
  assert.is(compileExpression(`1${'+1'.repeat(249)}`).evaluate({}), 250);
});

test('names the variables it reads: roots only, each once, in order', () => {
  const { names } = compileExpression("tx[pick].label == 'x' and len(list) > 0 or tx[0].amount > min(pick, b.c)");
  assert.equal(names, ['tx', 'pick', 'list', 'b']);
});

// --- against a reference that shares no code ------------------------------------------------------------------------

type Tree = readonly [string, ...unknown[]];

const leaf: fc.Arbitrary<Tree> = fc.oneof(
  fc.nat(20).map((n): Tree => ['lit', n]),
  fc.constantFrom<Tree>(['lit', 'a'], ['lit', 'gold'], ['lit', true], ['lit', false], ['lit', null]),
  fc
    .constantFrom('balance', 'tier', 'errors', 'none', 'yes', 'no', 'list', 'auth', 'missing')
    .map((n): Tree => ['var', n]),
);
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc
      .tuple(
        fc.constantFrom('and', 'or', '==', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', 'in'),
        tie('tree'),
        tie('tree'),
      )
      .map((parts): Tree => parts),
    fc.tuple(fc.constantFrom('not', 'neg'), tie('tree')).map((parts): Tree => parts),
    fc.tuple(fc.constant('?'), tie('tree'), tie('tree'), tie('tree')).map((parts): Tree => parts),
  ),
}));

// Fewest parentheses that the grammar needs: the levels are written out here once more, on purpose.
const LEVEL: { [sign: string]: number } = {
  '?': 0,
  or: 1,
  and: 2,
  not: 3,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
  '%': 6,
  neg: 7,
};
function print(node: Tree, loosest = 0): string {
  const [sign, a, b, c] = node as readonly [string, Tree, Tree, Tree];
  if (sign === 'lit') return typeof a === 'string' ? `'${a}'` : String(a);
  if (sign === 'var') return String(a);
  const level = LEVEL[sign] ?? 4;
  const text =
    {
      '?': () => `${print(a, 1)} ? ${print(b)} : ${print(c)}`,
      not: () => `not ${print(a, 3)}`,
      neg: () => `-${print(a, 7)}`,
    }[sign] ?? (() => `${print(a, level === 4 ? 5 : level)} ${sign} ${print(b, level + 1)}`);
  return level < loosest ? `(${text()})` : text();
}

class Fails extends Error {}

function reference([sign, a, b, c]: Tree): Json {
  if (sign === 'lit') return a as Json;
  if (sign === 'var') return scope[a as string] ?? null;
  const left = reference(a as Tree);
  if (sign === 'not') return left !== true;
  if (sign === 'neg') {
    if (typeof left !== 'number') throw new Fails();
    return -left;
  }
  if (sign === '?') return reference((left === true ? b : c) as Tree);
  if (sign === 'and') return left === true && reference(b as Tree) === true;
  if (sign === 'or') return left === true || reference(b as Tree) === true;
  const right = reference(b as Tree);
  const kinds = `${typeof left} ${typeof right}`;
  if (sign === 'in') {
    if (Array.isArray(right))
      return right.some((item) => (typeof item !== 'object' || item === null ? item === left : false));
    return kinds === 'string string' && String(right).includes(String(left));
  }
  const plain = left === null || typeof left !== 'object';
  if (sign === '==') return plain && left === right;
  if (sign === '!=') return !(plain && left === right);
  const numbers = kinds === 'number number';
  if ('<>='.includes(sign[0]!)) {
    if (!numbers && kinds !== 'string string') return false;
    const order = left === right ? 0 : (left as number) < (right as number) ? -1 : 1;
    return { '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[sign]!;
  }
  if (sign === '+' && kinds === 'string string') return `${left}${right}`;
  if (!numbers) throw new Fails();
  const [x, y] = [left as number, right as number];
  const result = { '+': x + y, '-': x - y, '*': x * y, '/': x / y, '%': x % y }[sign]!;
  if (!Number.isFinite(result)) throw new Fails();
  return result;
}

test('agrees with a reference evaluator, and its values survive JSON', () => {
  fc.assert(
    fc.property(tree, (node) => {
      const source = print(node);
      fc.pre(source.length <= FLOW_LIMITS.expressionChars);
      let expected: Json | undefined;
      try {
        expected = reference(node);
      } catch (error) {
        if (!(error instanceof Fails)) throw error;
      }
      if (expected === undefined) return void failure(source, () => value(source));
      const actual = value(source);
      assert.equal(actual, JSON.parse(JSON.stringify(expected)), source);
      assert.equal(JSON.parse(JSON.stringify(actual)), actual, source);
      assert.not(Object.is(actual, -0), source);
    }),
    { numRuns: 3000 },
  );
});

test('token soup throws nothing but TwinlineError', () => {
  const words =
    'and or not in true null a tx len min [ ] ( ) . , ? : == != < + - * / % = && 1 0.5 "x" \' " \\ __proto__ {{ é 😀';
  const soup = fc.oneof(
    fc.array(fc.constantFrom(...words.split(' ')), { maxLength: 120 }).map((parts) => parts.join(' ')),
    fc.array(fc.constantFrom('(', '-', 'not ', 'a[', 'a?', '1'), { maxLength: 400 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 600 }),
  );
  fc.assert(
    fc.property(soup, (source) => {
      try {
        const result = compileExpression(source).evaluate({ a: [1], tx: { a: 'x' } });
        assert.equal(JSON.parse(JSON.stringify(result)), result);
      } catch (error) {
        assert.instance(error, TwinlineError, `${JSON.stringify(source)} threw ${error}`);
      }
    }),
    { numRuns: 2000 },
  );
});

test.run();
