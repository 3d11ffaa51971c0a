// What expressions of Excellent become: an expression of a flow with the kind of its value, and conversions between kinds.

export type ValueKind = 'text' | 'number' | 'boolean' | 'object' | 'unknown';

/** An expression of a flow, and the kind of its value. */
export interface FlowExpression {
  readonly source: string;
  readonly kind: ValueKind;
  /** A constant, where it is one. */
  readonly value?: null | boolean | number | string;
  /** A name, a constant or a call: needs no parentheses. */
  readonly isTight?: boolean;
}

/** An expression of a flow, or why there is none. */
export type Translated = FlowExpression | { readonly why: string };

export interface Dialect {
  /** What a path such as `results.color.value` is here. */
  readonly resolve: (steps: readonly string[]) => Translated;
}

/** Ends the translation of an expression; its message is the reason. */
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

/** What is below `of` in its fields and items. */
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

/** A text in quotes, as expressions of flows have it. */
export function quote(text: string): string {
  const escaped = text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t');
  return `'${escaped}'`;
}

/** As a text; nothing is an empty one. */
export function toText(expression: FlowExpression): string {
  if (expression.value !== undefined) return quote(expression.value === null ? '' : String(expression.value));
  return expression.kind === 'text' && expression.isTight !== true
    ? `(${expression.source})`
    : `str(${expression.source})`;
}

/** As a number; null where it is none, which is neither greater nor less than anything. */
export function toNumber(expression: FlowExpression): string {
  if (expression.kind === 'number') return expression.source;
  if (typeof expression.value === 'string' && expression.value.trim() !== '' && !Number.isNaN(Number(expression.value)))
    return makeConstant(Number(expression.value)).source;
  return `num(${expression.source})`;
}

/** As a number to compute with: 0 where it is none, because computing with nothing ends a conversation. */
export function toAmount(expression: FlowExpression): string {
  if (expression.kind === 'number' && (expression.value !== undefined || expression.isTight !== true))
    return expression.source;
  const number = toNumber(expression);
  return `(${number} == null ? 0 : ${number})`;
}

/** As a condition: neither nothing, nor 0, nor false, nor an empty text. */
export function toCondition({ source, kind, value, isTight }: FlowExpression): string {
  if (value !== undefined) return value ? 'true' : 'false';
  const one = tight(source);
  if (kind === 'boolean') return isTight ? `${one} == true` : source;
  if (kind === 'object') return `${one} != null`;
  const empties = { text: [`''`], number: ['0'], unknown: [`''`, '0', 'false'] }[kind];
  return ['null', ...empties].map((empty) => `${one} != ${empty}`).join(' and ');
}

/** In parentheses, unless it is a single word, number, text or call, or stands in some already. */
export function tight(source: string): string {
  const isWord = /^(?:[\w.]+(?:\[\d+\])*|'(?:[^'\\]|\\.)*')$/.test(source);
  return isWord || isEnclosed(source) ? source : `(${source})`;
}

/** `name( … )` or `( … )` with nothing behind. */
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
