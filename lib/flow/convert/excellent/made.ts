// The result of translating Excellent: an expression of a flow with the type of its value, and conversions between types.

export type ValueKind = 'text' | 'number' | 'boolean' | 'object' | 'unknown';

/** An expression of a flow, with the type of its value. */
export interface FlowExpression {
  readonly source: string;
  readonly kind: ValueKind;
  /** Its value, if it is a constant. */
  readonly value?: null | boolean | number | string;
  /** A name, a constant or a call: needs no parentheses. */
  readonly isTight?: boolean;
}

/** An expression of a flow, or why there is no equivalent. */
export type Translated = FlowExpression | { readonly why: string };

export interface Dialect {
  /** Resolves a path such as `results.color.value`. */
  readonly resolve: (steps: readonly string[]) => Translated;
}

/** Aborts the translation of an expression; the message is the reason. */
export class Untranslatable extends Error {}

export function joinTexts(parts: readonly FlowExpression[]): FlowExpression {
  if (parts.length === 1) return parts[0]!;
  return { source: parts.map((part) => toText(part)).join(' + '), kind: 'text' };
}

export function makeConstant(value: null | boolean | number | string): FlowExpression {
  if (typeof value === 'string') return { source: quote(value), kind: 'text', value, isTight: true };
  const kind = value === null ? 'unknown' : typeof value === 'number' ? 'number' : 'boolean';
  return { source: writeNumber(value), kind, value, isTight: true };
}

/** Access to fields and items of `of`. */
export function readMember(of: string, steps: readonly string[]): Translated {
  let source = of;
  for (const step of steps) {
    if (/^\d{1,6}$/.test(step)) source += `[${step}]`;
    else if (/^[A-Za-z_]\w*$/.test(step)) source += `.${step}`;
    else return { why: `"${step}" is no name that a path of a flow may have` };
  }
  return { source, kind: 'unknown', isTight: true };
}

function writeNumber(value: null | boolean | number): string {
  if (typeof value === 'number' && !/^-?\d+(?:\.\d+)?$/.test(String(value)))
    throw new Untranslatable(`the number ${value} cannot be written in a flow`);
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new Untranslatable(`the number ${value} is too large to be exact`);
  return String(value);
}

/** A text as a quoted constant. */
export function quote(text: string): string {
  const escaped = text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t');
  return `'${escaped}'`;
}

/** Converts to a text; null becomes an empty text. */
export function toText(expression: FlowExpression): string {
  if (expression.value !== undefined) return quote(expression.value === null ? '' : String(expression.value));
  return expression.kind === 'text' && expression.isTight !== true
    ? `(${expression.source})`
    : `str(${expression.source})`;
}

/** Converts to a number, or null if it is not numeric; comparisons with null are false. */
export function toNumber(expression: FlowExpression): string {
  if (expression.kind === 'number') return expression.source;
  if (typeof expression.value === 'string' && expression.value.trim() !== '' && !Number.isNaN(Number(expression.value)))
    return makeConstant(Number(expression.value)).source;
  return `num(${expression.source})`;
}

/** Converts to a number for arithmetic, or 0 if it is not numeric, because arithmetic with null fails the turn. */
export function toAmount(expression: FlowExpression): string {
  if (expression.kind === 'number' && (expression.value !== undefined || expression.isTight !== true))
    return expression.source;
  const number = toNumber(expression);
  return `(${number} == null ? 0 : ${number})`;
}

/** Converts to a condition: not null, 0, false or an empty text. */
export function toCondition({ source, kind, value, isTight }: FlowExpression): string {
  if (value !== undefined) return value ? 'true' : 'false';
  const one = tight(source);
  if (kind === 'boolean') return isTight ? `${one} == true` : source;
  if (kind === 'object') return `${one} != null`;
  const empties = { text: [`''`], number: ['0'], unknown: [`''`, '0', 'false'] }[kind];
  return ['null', ...empties].map((empty) => `${one} != ${empty}`).join(' and ');
}

/** Adds parentheses where needed. */
export function tight(source: string): string {
  const isWord = /^(?:[\w.]+(?:\[\d+\])*|'(?:[^'\\]|\\.)*')$/.test(source);
  return isWord || isEnclosed(source) ? source : `(${source})`;
}

/** Whether the source is a single `name( … )` or `( … )`. */
function isEnclosed(source: string): boolean {
  const open = /^\w*\(/.exec(source)?.[0].length;
  if (open === undefined) return false;
  let depth = 0;
  let isQuoted = false;
  for (let at = open - 1; at < source.length; at++) {
    const sign = source[at];
    if (isQuoted && sign === '\\') at++;
    else if (sign === "'") isQuoted = !isQuoted;
    else if (!isQuoted && sign === '(') depth++;
    else if (!isQuoted && sign === ')' && --depth === 0) return at === source.length - 1;
  }
  return false;
}
