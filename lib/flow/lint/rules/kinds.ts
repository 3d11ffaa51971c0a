// Types of values: fields that do not exist, items that are not lists, comparisons of texts with numbers.

import type { Json } from '../../../json/json.ts';
import { type Node, parseExpression } from '../../expression/parse.ts';
import type { Flow } from '../../format/flow.ts';
import { capitalize, describePlace } from '../../format/problem.ts';
import { parsePointer } from '../../format/source.ts';
import { inferShape, reportCondition, type ShapeContext } from '../infer.ts';
import type { ExpressionPart, VariableWrite, Wording } from '../parts.ts';
import { findEmptySlot } from '../printed.ts';
import { getList, type Lint, type LintRule, type RuleFinding } from '../rule.ts';
import {
  answerShape,
  declaredShapes,
  FAILURE,
  findContract,
  isKnown,
  KIND_WORDS,
  mergedShape,
  outputShape,
  type Shape,
  UNKNOWN,
} from '../shapes.ts';
import type { Slip } from '../slips.ts';

export const typeRules: readonly LintRule[] = [
  {
    code: 'unknown-field',
    severity: 'error',
    means: 'a path reads a field that does not exist: an error for outputs of flows, a warning for samples',
    find: (lint) => slipsFound(lint, 'unknown-field'),
  },
  {
    code: 'wrong-kind',
    severity: 'error',
    means: 'an expression combines values of incompatible types, such as a text and a number',
    find: (lint) => slipsFound(lint, 'wrong-kind'),
  },
  {
    code: 'not-a-list',
    severity: 'error',
    means: 'the items of a list screen are not a list, so the screen is always empty',
    find: (lint) => slipsFound(lint, 'not-a-list'),
  },
  {
    code: 'prints-nothing',
    severity: 'error',
    means: 'a text prints a list, an object, or a value that its filter does not accept, so nothing is shown',
    find: (lint) => slipsFound(lint, 'prints-nothing'),
  },
];

interface Slips {
  readonly 'unknown-field': readonly RuleFinding[];
  readonly 'wrong-kind': readonly RuleFinding[];
  readonly 'not-a-list': readonly RuleFinding[];
  readonly 'prints-nothing': readonly RuleFinding[];
}

// These rules share one pass over a flow.
const cache = new WeakMap<Lint, Slips>();

function slipsFound(lint: Lint, code: keyof Slips): readonly RuleFinding[] {
  const slips = cache.get(lint) ?? findSlips(lint);
  cache.set(lint, slips);
  return slips[code];
}

function findSlips(lint: Lint): Slips {
  const slips = {
    'unknown-field': [] as RuleFinding[],
    'wrong-kind': [] as RuleFinding[],
    'not-a-list': [] as RuleFinding[],
    'prints-nothing': [] as RuleFinding[],
  };
  const parse = parser();
  const shapes = variableShapes(lint, parse);
  const rows = new Map<string, Shape>();
  const reading = (part: ExpressionPart | Wording, shift: number): ShapeContext => ({
    findShape: (name) => {
      if (name === 'row' && part.also.includes('row')) return rows.get(part.screen ?? '') ?? UNKNOWN;
      if (name === 'error' && part.also.includes('error')) return FAILURE;
      return shapes.get(name) ?? UNKNOWN;
    },
    nearest: lint.nearest,
    mend: lint.mend,
    report: (slip) => slips[slip.code].push(slipFinding(part.pointer, slip, shift)),
  });
  for (const part of lint.parts.expressions) {
    const root = part.compiled.ok ? parse(part.source) : undefined;
    if (!root) continue;
    const scope = reading(part, part.shift);
    if (part.role === 'condition') reportCondition(root, '', scope);
    const shape = part.role === 'condition' ? UNKNOWN : inferShape(root, scope);
    if (part.into === 'bound') reportBound(part, shape, scope);
    if (part.role !== 'items' || part.screen === undefined) continue;
    if (shape.kind === 'list') rows.set(part.screen, shape.of);
    else if (shape.kind !== 'unknown') slips['not-a-list'].push(notAList(part, shape, lint));
  }
  for (const part of lint.parts.wordings) {
    if (!part.compiled.ok) continue;
    for (const slot of part.compiled.value.paths) {
      const root = parse(slot.path);
      const scope = reading(part, slot.offset);
      const slip = root && findEmptySlot({ slot, shape: inferShape(root, scope), vars: lint.vars });
      if (slip) scope.report(slip);
    }
  }
  return slips;
}

// A day is a text, or milliseconds.
function reportBound({ pointer }: ExpressionPart, shape: Shape, { report }: ShapeContext): void {
  const isNumber = pointer.includes('/accept/number/');
  if (!isKnown(shape) || shape.kind === 'number' || (shape.kind === 'text' && !isNumber)) return;
  const [what, fix] = isNumber
    ? ['a number', 'Write num(...) around a text.']
    : ['a day', 'Give it a day as in 2026-02-28.'];
  const says = `is ${KIND_WORDS[shape.kind]}, and a bound here is ${what}: every answer is refused.`;
  report({ code: 'wrong-kind', at: 0, isSure: shape.isSure, says, fix });
}

function slipFinding(pointer: string, { at, says, fix, isSure, mend }: Slip, shift: number): RuleFinding {
  const message = `${capitalize(describePlace(pointer))} ${says}`;
  const place = { pointer, at: shift + (mend?.at ?? at) };
  const severity = isSure ? 'error' : 'warning';
  return { pointer, at: shift + at, message, fix, severity, ...(mend && { mend: { ...mend, place } }) };
}

function notAList({ pointer, source, screen }: ExpressionPart, shape: Shape, { vars }: Lint): RuleFinding {
  const kind = isKnown(shape) ? KIND_WORDS[shape.kind] : 'nothing';
  const message = `Screen "${screen}" lists "${source}", which is ${kind}: the list is always empty.`;
  const fix = `Name a variable of type "array", or a list inside "${source}"; or declare it as an array if a list is kept there.`;
  const [list, ...others] = [...vars].filter(([, { type }]) => type === 'array').map(([name]) => name);
  const mend = list !== undefined && !others.length && WHOLE_NAME.test(source) && { mend: { old: source, text: list } };
  return { pointer, message, fix, severity: isKnown(shape) && !shape.isSure ? 'warning' : 'error', ...mend };
}

const WHOLE_NAME = /^[A-Za-z]\w*$/;

type Parse = (source: string) => Node | undefined;

function parser(): Parse {
  const cache = new Map<string, Node | undefined>();
  return (source) => {
    if (!cache.has(source)) cache.set(source, tryParse(source));
    return cache.get(source);
  };
}

// Other rules report expressions that do not parse.
function tryParse(source: string): Node | undefined {
  try {
    return parseExpression(source).root;
  } catch {
    return undefined;
  }
}

/** Declared shapes, refined for objects that only called flows and known services assign. */
export function variableShapes(lint: Lint, parse: Parse = parser()): ReadonlyMap<string, Shape> {
  const { flow, parts, graph } = lint;
  const writes = new Map<string, VariableWrite[]>();
  for (const write of parts.writes) if (write.of === undefined) getList(writes, write.name).push(write);
  const shapes = declaredShapes(flow, (name) => writes.has(name) || graph.isCalled);
  for (const [name, shape] of shapes) {
    if (shape.kind !== 'object' || shape.fields || graph.isCalled) continue;
    const saved = (writes.get(name) ?? []).flatMap((write) => savedShape(lint, write, parse));
    const [first = UNKNOWN, ...rest] = saved;
    const whole = rest.reduce(mergedShape, first);
    if (whole.kind === 'object' && whole.fields) shapes.set(name, whole);
  }
  return shapes;
}

// Ignores assignments of null, which clear the variable.
function savedShape({ flow, flows, graph, contracts }: Lint, write: VariableWrite, parse: Parse): Shape[] {
  const { screen, isKey, pointer } = write;
  if (isKey) return readPointer(flow, pointer) === null ? [] : [UNKNOWN];
  const saver = screen === undefined ? undefined : graph.screens.get(screen);
  const called = saver?.type === 'flow' ? flows?.get(saver.flow) : undefined;
  if (called) return [outputShape(called, (source, vars) => expressionShape(source, vars, parse))];
  const contract = saver?.type === 'call' ? findContract(contracts, saver.service) : undefined;
  return [contract && saver?.type === 'call' ? answerShape(saver.service, contract) : UNKNOWN];
}

/** The value at a JSON pointer of the flow. */
export function readPointer(flow: Flow, pointer: string): Json | undefined {
  return parsePointer(pointer).reduce<unknown>(
    (value, step) => (value as { [key: string]: unknown } | undefined)?.[step],
    flow,
  ) as Json | undefined;
}

/** The shape of an expression's value. Does not report type errors inside it. */
export function expressionShape(source: string, vars: ReadonlyMap<string, Shape>, parse: Parse = tryParse): Shape {
  const root = parse(source);
  if (!root) return UNKNOWN;
  const findShape = (name: string) => vars.get(name) ?? UNKNOWN;
  return inferShape(root, { findShape, nearest: () => undefined, mend: () => ({}), report: () => undefined });
}
