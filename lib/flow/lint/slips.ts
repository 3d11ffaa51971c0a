// Messages and fixes for type errors in expressions: values of incompatible types, and how to convert them.

import type { BinarySign } from '../expression/operators.ts';
import type { Node } from '../expression/parse.ts';
import type { Mend } from '../format/problem.ts';
import { describeNode, findStart, formatPath, isKnown, isPlain, KIND_WORDS, type KnownShape } from './shapes.ts';

/** A type error in an expression or path. */
export interface Slip {
  readonly code: 'unknown-field' | 'wrong-kind' | 'prints-nothing';
  /** Offset in the source. */
  readonly at: number;
  /** False if the type comes from a sample only. */
  readonly isSure: boolean;
  /** Follows the name of the place, such as `"when" of screen "pay" `. */
  readonly says: string;
  readonly fix: string;
  readonly mend?: SlipMend;
}

/** The certain fix of a slip. */
interface SlipMend extends Pick<Mend, 'old' | 'text'> {
  /** Offset in the source. @default the offset of the slip */
  readonly at?: number;
}

const OUTCOMES: { readonly [sign in BinarySign]?: string } = {
  '!=': 'that always holds',
  'not in': 'that always holds',
  '+': 'that fails, and with it the turn',
};

export function mismatchSlip(
  { sign, left, right, at }: Extract<Node, { kind: 'binary' }>,
  [a, b]: readonly [KnownShape, KnownShape],
): Slip {
  const outcome = OUTCOMES[sign] ?? 'that never holds';
  const says = `has ${describeNode(left, a)} ${sign} ${describeNode(right, b)}: nothing is converted, so ${outcome}.`;
  const items = b.kind === 'list' && isKnown(b.of) && !isPlain(b.of) ? KIND_WORDS[b.of.kind] : undefined;
  const advice: Advice = items
    ? { fix: `Compare with a list of plain values: each item of this one is ${items}, and equals nothing.` }
    : (adviseConversion({ node: left, mine: a, other: b, beside: right, sign }) ??
      adviseConversion({ node: right, mine: b, other: a, beside: left, sign }) ?? {
        fix: 'Compare values of one kind: num(text) and str(number) convert.',
      });
  return { code: 'wrong-kind', at, isSure: a.isSure && isSureInside(b), says, ...advice };
}

type Advice = Pick<Slip, 'fix' | 'mend'>;

// The type of the items may come from a sample only.
function isSureInside(shape: KnownShape): boolean {
  return shape.isSure && (shape.kind !== 'list' || !isKnown(shape.of) || shape.of.isSure);
}

interface MixedSide {
  readonly node: Node;
  readonly mine: KnownShape;
  readonly other: KnownShape;
  /** The other side. */
  readonly beside: Node;
  readonly sign: BinarySign;
}

// Quoted constants that are valid without quotes.
const UNQUOTED: { readonly [kind in KnownShape['kind']]?: RegExp } = {
  number: /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/,
  boolean: /^(?:true|false)$/,
};

/** Advice to convert the text side of a pair to a number, or a constant to the type of the other side. */
function adviseConversion({ node, mine, other, beside, sign }: MixedSide): Advice | undefined {
  if (node.kind === 'value') {
    const place = { old: node.text, at: node.at };
    if (mine.kind === 'text' && (other.kind === 'number' || other.kind === 'boolean')) {
      const isOne = UNQUOTED[other.kind]!.test(String(node.value));
      const fix = `Write ${node.value} without quotes, if it is ${KIND_WORDS[other.kind]}.`;
      return { fix, ...(isOne && { mend: { ...place, text: String(node.value) } }) };
    }
    if (other.kind !== 'text') return undefined;
    // With `in`, a number can only be meant as a text. With `==`, the text may be meant as a number.
    const isPart = (sign === 'in' || sign === 'not in') && mine.kind === 'number';
    const fix = `Write '${node.value}' in quotes, or num(...) around the text.`;
    return { fix, ...(isPart && { mend: { ...place, text: `'${node.value}'` } }) };
  }
  const path = formatPath(node);
  if (mine.kind !== 'text' || other.kind !== 'number' || path === undefined) return undefined;
  const fix = `Write num(${path}), or declare it as a number if that is what is kept there.`;
  return { fix, ...(beside.kind === 'value' && { mend: mendNumber(node, path) }) };
}

/** The fix that converts a text path with num(). */
function mendNumber(node: Node, path: string): SlipMend {
  return { old: path, text: `num(${path})`, at: findStart(node) };
}

export function arithmeticSlip(
  node: Node,
  shape: KnownShape,
  { sign, at }: { readonly sign: string; readonly at: number },
): Slip {
  const path = formatPath(node);
  const isText = shape.kind === 'text' && path !== undefined;
  const fix = isText ? `Write num(${path}).` : 'Use a number there.';
  const says = `uses ${describeNode(node, shape)} with "${sign}", which takes numbers: that fails, and with it the turn.`;
  const mend = isText && { mend: mendNumber(node, path) };
  return { code: 'wrong-kind', at, isSure: shape.isSure, says, fix, ...mend };
}
