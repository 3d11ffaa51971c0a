// Shapes of the values of variables and expressions, from declared types, samples and outputs of called flows.

import type { Json } from '../../json/json.ts';
import type { Node } from '../expression/parse.ts';
import type { Flow, Variable } from '../format/flow.ts';
import { findText } from '../format/way.ts';

/**
 * The kind of a value, as far as a flow declares it. `isSure` is true when the flow declares it (a type, an output of a called
 * flow) and false when it is read off a sample or default, which may be incomplete.
 */
export type Shape =
  | { readonly kind: 'unknown' | 'null' }
  | { readonly kind: 'text' | 'number' | 'boolean'; readonly isSure: boolean }
  | { readonly kind: 'list'; readonly of: Shape; readonly isSure: boolean }
  | { readonly kind: 'object'; readonly fields?: ObjectFields | undefined; readonly isSure: boolean };

export type KnownShape = Exclude<Shape, { readonly kind: 'unknown' | 'null' }>;

export function isKnown(shape: Shape): shape is KnownShape {
  return shape.kind !== 'unknown' && shape.kind !== 'null';
}

/** Whether values of the shape can be equal to others. */
export function isPlain({ kind }: KnownShape): boolean {
  return kind !== 'list' && kind !== 'object';
}

export const UNKNOWN: Shape = { kind: 'unknown' };

/** All fields of an object. */
export interface ObjectFields {
  readonly shapes: ReadonlyMap<string, Shape>;
  /** Their origin, for messages: `the sample of "farmer"`. */
  readonly source: string;
  readonly isSure: boolean;
}

/** The type of a field; an object lists its fields. */
export type ContractKind = 'text' | 'number' | 'boolean' | 'list' | 'object' | 'any';

export interface ContractField {
  readonly kind: ContractKind;
  readonly about: string;
  /** Of the object, or of each object in the list. @default unknown */
  readonly fields?: ContractFields;
}

/** By name. */
export type ContractFields = { readonly [name: string]: ContractField };

/** Inputs and outputs of a service. */
export interface ServiceContract {
  /** What it does. */
  readonly doc: string;
  readonly input: { readonly [name: string]: ContractField & { readonly required?: true } };
  /** All fields of its result. @default unknown */
  readonly answer?: ContractFields;
}

/** The contracts of services, by name; not necessarily of all. */
export type Contracts = { readonly [service: string]: ServiceContract };

export function findContract(contracts: Contracts | undefined, service: string): ServiceContract | undefined {
  return contracts && Object.hasOwn(contracts, service) ? contracts[service] : undefined;
}

/** The shape of a service's result. */
export function answerShape(service: string, { answer }: ServiceContract): Shape {
  return answer ? fieldsShape(answer, `the answer of "${service}"`) : UNKNOWN;
}

function fieldsShape(fields: ContractFields, source: string): Shape {
  const shapes = new Map(Object.entries(fields).map(([name, field]) => [name, fieldShape(field, source)] as const));
  return { kind: 'object', isSure: true, fields: { shapes, source, isSure: true } };
}

function fieldShape({ kind, fields }: ContractField, source: string): Shape {
  if (kind === 'any') return UNKNOWN;
  const inside = fields ? fieldsShape(fields, source) : undefined;
  if (kind === 'list') return { kind, of: inside ?? UNKNOWN, isSure: true };
  return kind === 'object' && inside ? inside : { kind, isSure: true };
}

/** The shape of `error` on the `fail` ways of a call. */
export const FAILURE_FIELDS: ContractFields = {
  code: { kind: 'text', about: 'One of the codes of errors; conditions compare it.' },
  message: {
    kind: 'text',
    about: 'What went wrong, in English, for logs and developers. Callers need words of your own.',
  },
};

export const FAILURE: Shape = fieldsShape(FAILURE_FIELDS, '"error" of a failed call');

/**
 * The shapes of all variables of a flow, by declared type and sample. A default gives the fields of a variable too when
 * `isWritten` says that nothing else is ever kept there.
 */
export function declaredShapes(
  flow: Pick<Flow, 'vars'>,
  isWritten: (name: string) => boolean = () => true,
): Map<string, Shape> {
  const shapes = new Map<string, Shape>();
  for (const [name, variable] of Object.entries(flow.vars ?? {}))
    shapes.set(name, declaredShape(name, variable, isWritten(name)));
  return shapes;
}

function declaredShape(name: string, { type, sample, default: initial }: Variable, isWritten: boolean): Shape {
  const fromDefault = sample === undefined && !isWritten;
  const example = fromDefault ? initial : sample;
  const shape = jsonShape(example ?? null, `the ${fromDefault ? 'default' : 'sample'} of "${name}"`);
  switch (type) {
    case 'string':
      return { kind: 'text', isSure: true };
    case 'number':
    case 'boolean':
      return { kind: type, isSure: true };
    case 'array':
      return { kind: 'list', of: shape.kind === 'list' ? shape.of : UNKNOWN, isSure: true };
    case 'object':
      return { kind: 'object', isSure: true, ...(shape.kind === 'object' && shape.fields && { fields: shape.fields }) };
  }
}

const NULL: Shape = { kind: 'null' };

export function jsonShape(value: Json, source: string): Shape {
  if (value === null) return UNKNOWN;
  if (Array.isArray(value)) {
    const of = value.map((item) => jsonShape(item, source)).reduce(mergedShape, NULL);
    return { kind: 'list', of: of.kind === 'null' ? UNKNOWN : of, isSure: false };
  }
  if (typeof value === 'object') {
    const shapes = new Map(Object.entries(value).map(([name, inner]) => [name, jsonShape(inner, source)] as const));
    return { kind: 'object', isSure: false, fields: { shapes, source, isSure: false } };
  }
  return { kind: typeof value === 'string' ? 'text' : (typeof value as 'number' | 'boolean'), isSure: false };
}

/** The union of two shapes: null is ignored, different types are unknown, fields are merged. */
export function mergedShape(one: Shape, other: Shape): Shape {
  if (one.kind === 'null') return other;
  if (other.kind === 'null') return one;
  if (one.kind === 'unknown' || other.kind === 'unknown' || one.kind !== other.kind) return UNKNOWN;
  const isSure = one.isSure && other.isSure;
  if (one.kind === 'list' && other.kind === 'list') return { kind: 'list', of: mergedShape(one.of, other.of), isSure };
  if (one.kind !== 'object' || other.kind !== 'object') return { kind: one.kind, isSure } as Shape;
  if (!one.fields || !other.fields) return { kind: 'object', isSure };
  const shapes = new Map(one.fields.shapes);
  for (const [name, shape] of other.fields.shapes) shapes.set(name, mergedShape(shapes.get(name) ?? NULL, shape));
  const { source } = one.fields;
  return { kind: 'object', isSure, fields: { shapes, source, isSure: one.fields.isSure && other.fields.isSure } };
}

/** The value saved by a `flow` screen: the merged outputs of all ends of the called flow. */
export function outputShape(
  callee: Flow,
  findShape: (source: string, vars: ReadonlyMap<string, Shape>) => Shape,
): Shape {
  const vars = declaredShapes(callee);
  const source = `the output of the flow "${callee.flow}"`;
  let whole: Shape = NULL;
  for (const screen of Object.values(callee.screens)) {
    if (screen.type !== 'end') continue;
    const shapes = new Map<string, Shape>();
    for (const [name, value] of Object.entries(screen.output ?? {})) {
      const isExpression = typeof value === 'string' && value.startsWith('=');
      const given: Shape = findText(value) === undefined ? UNKNOWN : { kind: 'text', isSure: true };
      shapes.set(name, isExpression ? findShape(value.slice(1), vars) : given);
    }
    whole = mergedShape(whole, { kind: 'object', isSure: true, fields: { shapes, source, isSure: true } });
  }
  return whole;
}

/** A path as its author wrote it: `tx[0].label`; undefined for anything else. */
export function formatPath(node: Node): string | undefined {
  if (node.kind === 'name') return node.name;
  if (node.kind !== 'member' && node.kind !== 'index') return undefined;
  const before = formatPath(node.of);
  if (before === undefined) return undefined;
  if (node.kind === 'member') return `${before}.${node.name}`;
  return node.index.kind === 'value' ? `${before}[${JSON.stringify(node.index.value)}]` : `${before}[...]`;
}

export const KIND_WORDS: { readonly [kind in KnownShape['kind']]: string } = {
  text: 'a text',
  number: 'a number',
  boolean: 'true or false',
  list: 'a list',
  object: 'an object',
};

/** `"nrc" (a text)`, or the constant itself. */
export function describeNode(node: Node, { kind }: KnownShape): string {
  const path = formatPath(node);
  if (path !== undefined) return `"${path}" (${KIND_WORDS[kind]})`;
  return node.kind === 'value' ? `${JSON.stringify(node.value)} (${KIND_WORDS[kind]})` : KIND_WORDS[kind];
}

export function literalShape(value: null | boolean | number | string): Shape {
  if (value === null) return { kind: 'null' };
  return { kind: typeof value === 'string' ? 'text' : (typeof value as 'number' | 'boolean'), isSure: true };
}

/** Where a part of an expression begins in its source. */
export function findStart(node: Node): number {
  switch (node.kind) {
    case 'name':
    case 'minus':
    case 'call':
    case 'value':
      return node.at;
    case 'member':
    case 'index':
      return findStart(node.of);
    case 'binary':
      return findStart(node.left);
    case 'choice':
      return findStart(node.test);
    case 'not':
      return findStart(node.of);
  }
}
