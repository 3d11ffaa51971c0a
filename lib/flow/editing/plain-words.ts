// Expressions in plain words, for authors who do not read code: `bags >= 3 and not paid` is "bags is at least 3, and paid is not true".

import { FUNCTIONS } from '../expression/functions.ts';
import type { BinarySign } from '../expression/operators.ts';
import { type Node, parseExpression } from '../expression/parse.ts';

/**
 * The words for an expression; undefined if it is not one.
 * @param role A condition says of a value alone that it is true. @default 'condition'
 */
export function sayExpression(source: string, role: 'condition' | 'value' = 'condition'): string | undefined {
  try {
    const { root } = parseExpression(source);
    return role === 'condition' ? sayCondition(root) : sayValue(root);
  } catch {
    return undefined;
  }
}

const COMPARED: { readonly [sign in BinarySign]?: string } = {
  '==': 'is',
  '!=': 'is not',
  '<': 'is less than',
  '<=': 'is at most',
  '>': 'is more than',
  '>=': 'is at least',
  in: 'is in',
  'not in': 'is not in',
};

function sayCondition(node: Node): string {
  switch (node.kind) {
    case 'not':
      return isLogic(node.of) ? `it is not so that ${sayCondition(node.of)}` : negate(sayCondition(node.of), node.of);
    case 'binary':
      if (node.sign === 'and') return `${sayInner(node.left, 'and')}, and ${sayInner(node.right, 'and')}`;
      if (node.sign === 'or') return `${sayInner(node.left, 'or')}, or ${sayInner(node.right, 'or')}`;
      return COMPARED[node.sign] === undefined ? `${sayValue(node)} is true` : sayComparison(node);
    case 'choice':
      return `${sayCondition(node.yes)} where ${sayCondition(node.test)}, else ${sayCondition(node.no)}`;
    case 'value':
      return node.value === true ? 'always' : node.value === false ? 'never' : `${sayValue(node)} is true`;
    default:
      return `${sayValue(node)} is true`;
  }
}

const isLogic = (node: Node) => node.kind === 'binary' && (node.sign === 'and' || node.sign === 'or');

// "and" binds tighter than "or"; commas do not say that.
function sayInner(node: Node, around: 'and' | 'or'): string {
  const words = sayCondition(node);
  return node.kind === 'binary' && isLogic(node) && node.sign !== around ? `(${words})` : words;
}

function negate(words: string, node: Node): string {
  const isPlain = node.kind !== 'binary' && node.kind !== 'not' && node.kind !== 'choice';
  return isPlain && words.endsWith(' is true') ? `${words.slice(0, -5)} not true` : `it is not so that ${words}`;
}

function sayComparison({ sign, left, right }: Extract<Node, { kind: 'binary' }>): string {
  const isMissing = right.kind === 'value' && right.value === null && (sign === '==' || sign === '!=');
  if (isMissing) return `${sayValue(left)} is ${sign === '==' ? 'missing' : 'there'}`;
  return `${sayValue(left)} ${COMPARED[sign]} ${sayValue(right)}`;
}

const CALCULATED: { readonly [sign in BinarySign]?: string } = {
  '+': 'plus',
  '-': 'minus',
  '*': 'times',
  '/': 'divided by',
  '%': 'modulo',
};

function sayValue(node: Node): string {
  switch (node.kind) {
    case 'value':
      return typeof node.value === 'string' ? `“${node.value}”` : node.value === null ? 'nothing' : node.text;
    case 'name':
      return node.name;
    case 'member':
      return `${sayValue(node.of)}.${node.name}`;
    case 'index':
      return `${sayValue(node.of)}[${sayValue(node.index)}]`;
    case 'minus':
      return `minus ${sayValue(node.of)}`;
    case 'call':
      return node.name === 'len'
        ? `the length of ${node.args.map(sayValue).join()}`
        : `${FUNCTIONS[node.name].usage.split('(')[0]} of ${node.args.map(sayValue).join(' and ')}`;
    case 'choice':
      return `${sayValue(node.yes)} where ${sayCondition(node.test)}, else ${sayValue(node.no)}`;
    case 'binary': {
      const word = CALCULATED[node.sign];
      if (word === undefined) return `whether ${sayCondition(node)}`;
      const inner = (part: Node) => (part.kind === 'binary' ? `(${sayValue(part)})` : sayValue(part));
      return `${inner(node.left)} ${word} ${inner(node.right)}`;
    }
    case 'not':
      return `whether ${sayCondition(node)}`;
  }
}
