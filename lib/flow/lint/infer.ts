// Infers the shape of an expression's value, and reports type errors: missing fields, comparisons of different types.

import type { FunctionName } from '../expression/functions.ts';
import type { BinarySign } from '../expression/operators.ts';
import type { Node } from '../expression/parse.ts';
import type { Mend } from '../format/problem.ts';
import { didYouMean } from './rule.ts';
import {
  describeNode,
  findStart,
  formatPath,
  isKnown,
  isPlain,
  KIND_WORDS,
  type KnownShape,
  literalShape,
  type ObjectFields,
  type Shape,
  UNKNOWN,
} from './shapes.ts';
import { arithmeticSlip, mismatchSlip, type Slip } from './slips.ts';

export interface ShapeContext {
  /** The shape of a variable, of `row` in a list, or of `error` after a failed call. */
  findShape(name: string): Shape;
  nearest(name: string, names: readonly string[]): string | undefined;
  mend(name: string, names: readonly string[]): { readonly mend?: Mend };
  report(slip: Slip): void;
}

/** The shape of the value of `node`. Reports type errors inside it. */
export function inferShape(node: Node, reading: ShapeContext): Shape {
  switch (node.kind) {
    case 'value':
      return literalShape(node.value);
    case 'name':
      return reading.findShape(node.name);
    case 'member':
      return fieldShape(node, { of: inferShape(node.of, reading), name: node.name, at: node.at }, reading);
    case 'index':
      return indexShape(node, reading);
    case 'not':
      reportCondition(node.of, 'not', reading);
      return TRUTH;
    case 'minus':
      reportNumber(node.of, { sign: '-', at: node.at }, reading);
      return NUMBER;
    case 'binary':
      return binaryShape(node, reading);
    case 'choice': {
      reportCondition(node.test, '?', reading);
      const [yes, no] = [inferShape(node.yes, reading), inferShape(node.no, reading)];
      return yes.kind === no.kind ? (isSure(yes) ? no : yes) : UNKNOWN;
    }
    case 'call':
      return callShape(node, reading);
  }
}

/** Reports a condition that is not a boolean and therefore never true; `sign` is '' for a whole condition. */
export function reportCondition(node: Node, sign: '' | 'not' | '?' | 'and' | 'or', reading: ShapeContext): void {
  const shape = inferShape(node, reading);
  if (!isKnown(shape) || shape.kind === 'boolean') return;
  const how = sign === '' ? 'as its condition' : `with "${sign}"`;
  reading.report({
    code: 'wrong-kind',
    at: findStart(node),
    isSure: isSure(shape),
    says: `uses ${describeNode(node, shape)} ${how}: only true counts as true, so that never holds.`,
    fix: `Compare it: ${formatPath(node) ?? 'value'} ${shape.kind === 'number' ? '> 0' : '!= null'}.`,
  });
}

const TRUTH: Shape = { kind: 'boolean', isSure: true };
const NUMBER: Shape = { kind: 'number', isSure: true };
const TEXT: Shape = { kind: 'text', isSure: true };

function isSure(shape: Shape): boolean {
  return isKnown(shape) && shape.isSure;
}

interface FieldRead {
  readonly of: Shape;
  readonly name: string;
  readonly at: number;
}

function fieldShape(node: Node, { of, name, at }: FieldRead, reading: ShapeContext): Shape {
  if (!isKnown(of)) return UNKNOWN;
  const owner = node.kind === 'member' || node.kind === 'index' ? (formatPath(node.of) ?? 'a value') : 'a value';
  if (of.kind !== 'object') {
    const says = `reads "${name}" of "${owner}", which is ${KIND_WORDS[of.kind]} and has no fields.`;
    const fix =
      of.kind === 'list'
        ? `Take an item first: ${owner}[0].${name}.`
        : `Use "${owner}" itself, or declare it as an object.`;
    reading.report({ code: 'unknown-field', at, isSure: of.isSure, says, fix });
    return UNKNOWN;
  }
  const shape = of.fields?.shapes.get(name);
  if (shape) return shape;
  if (of.fields) reading.report(unknownField({ name, at, owner, fields: of.fields }, reading));
  return UNKNOWN;
}

function unknownField(
  { name, at, owner, fields }: { name: string; at: number; owner: string; fields: ObjectFields },
  { nearest, mend }: ShapeContext,
): Slip {
  const names = [...fields.shapes.keys()];
  const similar = nearest(name, names);
  const says = `reads "${name}" of "${owner}", and ${fields.source} has no such field.${didYouMean(similar)}`;
  const others = names.length ? `Write one of: ${names.slice(0, 8).join(', ')}; or add` : 'Add';
  const fix = `${similar === undefined ? others : `Write "${similar}", or add`} "${name}" to ${fields.source}.`;
  return { code: 'unknown-field', at, isSure: fields.isSure, says, fix, ...mend(name, names) };
}

function indexShape(node: Extract<Node, { kind: 'index' }>, reading: ShapeContext): Shape {
  const of = inferShape(node.of, reading);
  const index = inferShape(node.index, reading);
  if (of.kind === 'list') return index.kind === 'number' ? of.of : UNKNOWN;
  const literal = node.index.kind === 'value' ? node.index.value : undefined;
  if (of.kind !== 'object' || typeof literal !== 'string') return UNKNOWN;
  return fieldShape(node, { of, name: literal, at: findStart(node) }, reading);
}

function binaryShape(node: Extract<Node, { kind: 'binary' }>, reading: ShapeContext): Shape {
  const { sign, left, right } = node;
  if (sign === 'and' || sign === 'or') {
    for (const side of [left, right]) reportCondition(side, sign, reading);
    return TRUTH;
  }
  const shapes = [inferShape(left, reading), inferShape(right, reading)] as const;
  if (ARITHMETIC.has(sign)) {
    const wrong = shapes.findIndex((shape) => isKnown(shape) && shape.kind !== 'number');
    if (wrong >= 0) reading.report(arithmeticSlip([left, right][wrong]!, shapes[wrong] as KnownShape, node));
    return NUMBER;
  }
  const [a, b] = shapes;
  const result = sign === '+' ? sumShape(shapes) : TRUTH;
  if (!isKnown(a) || !isKnown(b) || MEETS[sign]?.(a, b)) return result;
  reading.report(mismatchSlip(node, [a, b]));
  return result;
}

const ARITHMETIC = new Set<BinarySign>(['-', '*', '/', '%']);

function sumShape([a, b]: readonly [Shape, Shape]): Shape {
  if (a.kind === 'text' || b.kind === 'text') return TEXT;
  return a.kind === 'number' || b.kind === 'number' ? NUMBER : UNKNOWN;
}

type Meets = (left: KnownShape, right: KnownShape) => boolean;
const same: Meets = (a, b) => isPlain(a) && a.kind === b.kind;
const ordered: Meets = (a, b) => a.kind === b.kind && (a.kind === 'number' || a.kind === 'text');
const holds: Meets = (part, whole) => {
  if (whole.kind === 'text') return part.kind === 'text';
  if (whole.kind !== 'list') return false;
  return isPlain(part) && (!isKnown(whole.of) || whole.of.kind === part.kind);
};
// The types an operator supports. With others, comparisons are false and `+` throws.
const MEETS: { readonly [sign in BinarySign]?: Meets } = {
  '==': same,
  '!=': same,
  '<': ordered,
  '<=': ordered,
  '>': ordered,
  '>=': ordered,
  in: holds,
  'not in': holds,
  '+': ordered,
};

function reportNumber(node: Node, { sign, at }: { sign: string; at: number }, reading: ShapeContext): void {
  const shape = inferShape(node, reading);
  if (isKnown(shape) && shape.kind !== 'number') reading.report(arithmeticSlip(node, shape, { sign, at }));
}

/** Types that the arguments of a function may have. */
const TAKES: { readonly [name in FunctionName]?: readonly KnownShape['kind'][] } = {
  len: ['text', 'list'],
  num: ['text', 'number'],
  str: ['text', 'number', 'boolean'],
  startsWith: ['text'],
  findNumber: ['text', 'number'],
  addDays: ['text', 'number'],
  daysBetween: ['text', 'number'],
  timeOf: ['text', 'number'],
  ...Object.fromEntries(['lower', 'upper', 'title', 'trim', 'words'].map((name) => [name, ['text'] as const])),
};
const NUMERIC = new Set<FunctionName>(['min', 'max', 'round', 'abs']);
/** Results of functions that accept arguments of a wrong type; the others throw. */
const GIVES_ANYWAY: { readonly [name in FunctionName]?: string } = {
  num: 'that is always null',
  findNumber: 'that is always null',
  timeOf: 'that is always null',
  startsWith: 'that is always false',
};
const LIST: Shape = { kind: 'list', of: UNKNOWN, isSure: true };
const GIVES: { readonly [name in FunctionName]: Shape } = {
  len: NUMBER,
  num: NUMBER,
  str: TEXT,
  min: NUMBER,
  max: NUMBER,
  round: NUMBER,
  abs: NUMBER,
  lower: TEXT,
  upper: TEXT,
  title: TEXT,
  trim: TEXT,
  startsWith: TRUTH,
  contains: TRUTH,
  words: TEXT,
  findNumber: NUMBER,
  append: LIST,
  find: UNKNOWN,
  without: LIST,
  sum: NUMBER,
  object: { kind: 'object', isSure: true },
  now: NUMBER,
  today: TEXT,
  addDays: TEXT,
  daysBetween: NUMBER,
  timeOf: TEXT,
};

function callShape({ name, args, at }: Extract<Node, { kind: 'call' }>, reading: ShapeContext): Shape {
  const shapes = args.map((arg) => {
    if (!NUMERIC.has(name)) return inferShape(arg, reading);
    reportNumber(arg, { sign: name, at }, reading);
    return UNKNOWN;
  });
  const [whole, part] = shapes;
  if (name === 'contains' && whole && part && isKnown(whole) && isKnown(part) && !holds(part, whole))
    reading.report(mismatchSlip({ kind: 'binary', sign: 'in', left: args[1]!, right: args[0]!, at }, [part, whole]));
  for (const [index, shape] of shapes.entries()) {
    const takes = TAKES[name];
    if (!takes || !isKnown(shape) || takes.includes(shape.kind)) continue;
    const kinds = takes.map((kind) => KIND_WORDS[kind]).join(' or ');
    reading.report({
      code: 'wrong-kind',
      at,
      isSure: shape.isSure,
      says: `gives ${name} ${describeNode(args[index]!, shape)}, and it takes ${kinds}: ${GIVES_ANYWAY[name] ?? 'that fails, and with it the turn'}.`,
      fix: adviseArgument(args[index]!, shape, takes),
    });
  }
  return name === 'find' && whole?.kind === 'list' ? whole.of : GIVES[name];
}

function adviseArgument(node: Node, { kind }: KnownShape, takes: readonly KnownShape['kind'][]): string {
  const path = formatPath(node) ?? (node.kind === 'value' ? String(node.value) : 'value');
  if (kind === 'number' && takes.includes('text')) return `Write str(${path}), or leave the function away.`;
  return `Give it ${takes.map((one) => KIND_WORDS[one]).join(' or ')}.`;
}
