// Translates syntax trees of Excellent to expressions of flows. Excellent converts types implicitly; flows do not, so all conversions
// become explicit.

import { FLOW_LIMITS } from '../../limits.ts';
import { FUNCTION_TABLE } from './functions.ts';
import {
  type Dialect,
  type FlowExpression,
  joinTexts,
  makeConstant,
  type Translated,
  tight,
  toAmount,
  toNumber,
  toText,
  Untranslatable,
} from './made.ts';
import type { ExcellentNode } from './parse.ts';

/** An expression with the same value, or why there is none. Never throws. */
export function translateTree(root: ExcellentNode, dialect: Dialect): Translated {
  try {
    const result = translate(root, dialect);
    if (result.source.length <= FLOW_LIMITS.expressionChars) return result;
    return { why: `as an expression of a flow it has more than ${FLOW_LIMITS.expressionChars} characters` };
  } catch (error) {
    if (error instanceof Untranslatable) return { why: error.message };
    throw error;
  }
}

function translate(node: ExcellentNode, dialect: Dialect): FlowExpression {
  switch (node.kind) {
    case 'value':
      return makeConstant(node.value);
    case 'path': {
      const expression = dialect.resolve(node.steps);
      if ('why' in expression) throw new Untranslatable(expression.why);
      return expression;
    }
    case 'minus': {
      const of = translate(node.of, dialect);
      if (typeof of.value === 'number') return makeConstant(-of.value);
      return { source: `-${tight(toAmount(of))}`, kind: 'number' };
    }
    case 'call': {
      const call = FUNCTION_TABLE.get(node.name);
      if (!call) throw new Untranslatable(`flows have no function like ${node.name}`);
      return call(node.args.map((arg) => translate(arg, dialect)));
    }
    case 'binary':
      return BINARY[node.sign]!(translate(node.left, dialect), translate(node.right, dialect));
  }
}

type Binary = (left: FlowExpression, right: FlowExpression) => FlowExpression;

const arithmetic =
  (sign: string): Binary =>
  (left, right) => ({ source: `${tight(toAmount(left))} ${sign} ${tight(toAmount(right))}`, kind: 'number' });

const BINARY: { readonly [sign: string]: Binary } = {
  '=': compareEqual('=='),
  '!=': compareEqual('!='),
  '<': compareOrder('<'),
  '<=': compareOrder('<='),
  '>': compareOrder('>'),
  '>=': compareOrder('>='),
  '&': (left, right) => joinTexts([left, right]),
  '+': arithmetic('+'),
  '-': arithmetic('-'),
  '*': arithmetic('*'),
  '/': (left, right) => {
    if (typeof right.value !== 'number' || right.value === 0)
      throw new Untranslatable('it divides by something that may be zero, which would end the conversation');
    return { source: `${tight(toAmount(left))} / ${right.source}`, kind: 'number' };
  },
  '^': () => {
    throw new Untranslatable('flows have no powers');
  },
};

function compareEqual(sign: '==' | '!='): Binary {
  return (left, right) => {
    const [one, other] = left.value !== undefined ? [right, left] : [left, right];
    const test = (a: string, b: string): FlowExpression => ({ source: `${a} ${sign} ${b}`, kind: 'boolean' });
    if (other.value === null) return test(tight(one.source), 'null');
    if (typeof other.value === 'boolean' && one.kind === 'boolean') return test(tight(one.source), other.source);
    if (typeof other.value === 'number' || one.kind === 'number' || other.kind === 'number')
      return test(tight(toNumber(one)), tight(toNumber(other)));
    return test(toText(one), toText(other));
  };
}

function compareOrder(sign: string): Binary {
  return (left, right) => {
    const isText = [left, right].some(({ value }) => typeof value === 'string' && Number.isNaN(Number(value)));
    const [a, b] = isText ? [toText(left), toText(right)] : [tight(toNumber(left)), tight(toNumber(right))];
    return { source: `${a} ${sign} ${b}`, kind: 'boolean' };
  };
}
