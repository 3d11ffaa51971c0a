// The expression language: what it computes, what it refuses, and what its messages tell.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { compileExpression, truthy } from '../../lib/flow/expression/expression.ts';
import { compileTemplate } from '../../lib/flow/expression/template.ts';
import { FLOW_LIMITS } from '../../lib/flow/limits.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import vectors from '../vectors/expressions.json' with { type: 'json' };

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

type Values = readonly (readonly [source: string, value: Json])[];
type Refusals = readonly (readonly [source: string, column: number, says: string])[];

function assertSays({ message }: Error, [source, column, says]: Refusals[number]): void {
  assert.match(message, says, `${source}: ${message}`);
  assert.match(message, `column ${column}:`, `${source}: ${message}`);
}

test('computes what its rules say', () => {
  for (const [source, expected] of vectors.values as unknown as Values) {
    assert.equal(value(source), expected, source);
    assert.not(Object.is(value(source), -0), source);
  }
});

test('a condition holds only for true', () => {
  assert.ok(truthy(true));
  for (const other of [false, null, 0, 1, '', 'true', [], {}]) assert.not(truthy(other), JSON.stringify(other));
});

test('arithmetic on anything but numbers throws, names the kinds and shows no value', () => {
  for (const row of vectors.failures as unknown as Refusals) {
    const error = failure(row[0], () => value(row[0]));
    assertSays(error, row);
    assert.not.match(error.message.replace(JSON.stringify(row[0]), ''), /250|Tariro|rent/);
  }
});

test('joined texts are bounded', () => {
  const long = { s: 'x'.repeat(40_000) };
  const sum = compileExpression('s + s');
  assert.match(failure('s + s', () => sum.evaluate(long)).message, String(COMMON_LIMITS.recordChars));
});

test('refusals point at the column, and say what to write instead', () => {
  for (const row of vectors.refusals as unknown as Refusals) {
    const error = refusal(row[0]);
    assertSays(error, row);
    assert.equal(error.cause, { offset: row[1] - 1 });
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
  fc.tuple(fc.nat(99_999), fc.nat(6)).map(([digits, places]): Tree => ['lit', Number(`${digits}e-${places}`)]),
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
  if ('/%'.includes(sign) && y === 0) throw new Fails();
  return nearest(calculate(sign, readFraction(x), readFraction(y)), sign === '/');
}

// Fractions are exact; a number stands for the decimal that it prints as.
type Fraction = readonly [above: bigint, below: bigint];

function readFraction(value: number): Fraction {
  const [, sign = '', whole = '', part = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e(.+))?$/.exec(String(value))!;
  const power = Number(exponent) - part.length;
  const digits = BigInt(sign + whole + part);
  return power < 0 ? [digits, 10n ** BigInt(-power)] : [digits * 10n ** BigInt(power), 1n];
}

function calculate(sign: string, [a, b]: Fraction, [c, d]: Fraction): Fraction {
  switch (sign) {
    case '+':
      return [a * d + c * b, b * d];
    case '-':
      return [a * d - c * b, b * d];
    case '*':
      return [a * c, b * d];
    case '/':
      return c < 0n ? [-a * d, -b * c] : [a * d, b * c];
    default:
      return [a * d - ((a * d) / (c * b)) * c * b, b * d];
  }
}

// The number whose decimals are the fraction; a quotient without an end has 15 digits, rounded half to even.
function nearest([above, below]: Fraction, isQuotient: boolean): number {
  const size = above < 0n ? -above : above;
  const digits = ((size * 10n ** 400n) / below).toString();
  const value = Number(`${above < 0n ? '-' : ''}${digits}e-400`);
  const [a, b] = readFraction(value);
  if (!isQuotient || a * below === above * b) return value;
  const unit = 10n ** BigInt(Math.max(0, digits.length - 15));
  const [twice, half] = [2n * size * 10n ** 400n, below * unit];
  const floor = twice / (2n * half);
  const rest = twice - floor * 2n * half;
  const rounded = rest > half || (rest === half && floor % 2n === 1n) ? floor + 1n : floor;
  return Number(`${above < 0n ? '-' : ''}${rounded * unit}e-400`);
}

const amounts = fc.tuple(fc.integer({ min: -9_999_999, max: 9_999_999 }), fc.nat(4));

test('sums, products and quotients of amounts are exact and printed exactly, and rounding is half away from zero', () => {
  assert.equal(['1.1 * 3', '0.1 + 0.2', '0.3 - 0.1', '0.3 % 0.1'].map(value), [3.3, 0.3, 0.2, 0]);
  assert.is(value('1.1 * 3 <= 3.3'), true);
  const write = (digits: bigint, places: number) => {
    const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
    const point = text.length - places;
    const part = text.slice(point).replace(/0+$/, '');
    return `${digits < 0n ? '-' : ''}${text.slice(0, point)}${part && '.'}${part}`.replace(/^-0$/, '0');
  };
  fc.assert(
    fc.property(amounts, amounts, fc.nat(6), ([a, aPlaces], [b, bPlaces], places) => {
      const given = { a: Number(write(BigInt(a), aPlaces)), b: Number(write(BigInt(b), bPlaces)) };
      const gives = (source: string) => compileExpression(source).evaluate(given);
      const [x, y] = [BigInt(a) * 10n ** BigInt(bPlaces), BigInt(b) * 10n ** BigInt(aPlaces)];
      assert.is(gives('str(a + b)'), write(x + y, aPlaces + bPlaces));
      assert.is(gives('str(a - b)'), write(x - y, aPlaces + bPlaces));
      assert.is(gives('str(a * b)'), write(BigInt(a) * BigInt(b), aPlaces + bPlaces));
      assert.equal([gives('a < b'), gives('a == b'), gives('a - b > 0')], [x < y, x === y, x > y]);
      if (y !== 0n) assert.is(gives('str(a % b)'), write(x % y, aPlaces + bPlaces));
      const [size, unit] = [x < 0n ? -x : x, 10n ** BigInt(Math.max(0, aPlaces + bPlaces - places))];
      const rounded = ((2n * size + unit) / (2n * unit)) * unit * (x < 0n ? -1n : 1n);
      assert.is(gives(`str(round(a, ${places}))`), write(rounded, aPlaces + bPlaces));
      assert.is(compileTemplate('{{a}}').render(given, 'en'), write(BigInt(a), aPlaces));
    }),
    { numRuns: 2000 },
  );
});

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
