// Converts texts with `@` to templates and values. What a template cannot print, such as a sum, is computed into a variable first; what
// has no equivalent is dropped and reported.

import { findBorder } from '../../expression/values.ts';
import type { Value, Values } from '../../format/flow.ts';
import { FLOW_LIMITS } from '../../limits.ts';
import type { Words, WordsWithValues } from '../steps/step.ts';
import type { Variables } from '../steps/variables.ts';
import { type Dialect, type FlowExpression, joinTexts, makeConstant } from './made.ts';
import type { ExcellentNode } from './parse.ts';
import { splitTemplate, type TemplatePart } from './template.ts';
import { translateTree } from './translate.ts';

export interface Language extends Dialect {
  /** Names that `@name` may start with; others are plain text. */
  readonly roots: ReadonlySet<string>;
  readonly variables: Variables;
  readonly onNote: (node: string, what: string, reason: string) => void;
}

/** Maximum length of a text. */
const TEXT_CHARS = FLOW_LIMITS.templateChars - 200;
const PATH = /^[A-Za-z]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*$/;

/** The text of a node in each language. */
export function translateWords(texts: Words, node: string, language: Language): WordsWithValues {
  const words: Record<string, string> = {};
  const values: Record<string, Value> = {};
  for (const [lang, text] of Object.entries(texts)) {
    const parts = splitTemplate(shortenText(text, node, language), language.roots);
    words[lang] = parts.map((part) => (part.kind === 'text' ? escapeBraces(part.text) : print(part, node))).join('');
  }
  return { words, values };

  function print(slot: TemplatePart & { kind: 'slot' }, at: string): string {
    const root = 'root' in slot.parsed ? slot.parsed.root : undefined;
    const filtered = root && translateFilter(root, language);
    if (filtered) return filtered;
    const result = translateSlot(slot, at, language);
    if (!result) return '';
    if (result.value !== undefined) return escapeBraces(result.value === null ? '' : String(result.value));
    if (PATH.test(result.source)) return `{{${result.source}}}`;
    const value = `=${result.source}`;
    const existing = Object.keys(values).find((one) => values[one] === value);
    const name = existing ?? language.variables.compute(result.kind);
    values[name] = value;
    return `{{${name}}}`;
  }
}

/** The value of a text with `@`; undefined if a part of it cannot be converted. */
export function translateValue(text: string, node: string, language: Language): Value | undefined {
  const result = translateTemplate(text, node, language);
  if (!result) return undefined;
  if (typeof result.value === 'string') return result.value.startsWith('=') ? `=${result.source}` : result.value;
  return result.value !== undefined ? result.value : `=${result.source}`;
}

/** The value as a text, even if it looks like a number. */
export function toTextValue(value: Value): Value {
  return typeof value === 'string' && value.startsWith('=') ? `=str(${value.slice(1)})` : String(value ?? '');
}

/** The expression for a text with `@`; undefined if a part of it cannot be converted. */
export function translateTemplate(text: string, node: string, language: Language): FlowExpression | undefined {
  const parts = splitTemplate(shortenText(text, node, language), language.roots);
  const results = parts.map((part) =>
    part.kind === 'text' ? makeConstant(part.text) : translateSlot(part, node, language),
  );
  if (results.some((one) => one === undefined)) return undefined;
  if (results.length === 0) return makeConstant('');
  const joined = results.length === 1 ? results[0]! : joinTexts(results as FlowExpression[]);
  if (joined.source.length <= FLOW_LIMITS.expressionChars) return joined;
  language.onNote(
    node,
    text,
    `It becomes an expression of more than ${FLOW_LIMITS.expressionChars} characters, and is left out.`,
  );
  return undefined;
}

/** The expression of a slot; undefined, and reported, if it cannot be converted. */
export function translateSlot(
  { source, parsed }: TemplatePart & { readonly kind: 'slot' },
  node: string,
  language: Language,
): FlowExpression | undefined {
  const result = 'why' in parsed ? parsed : translateTree(parsed.root, language);
  if (!('why' in result)) return result;
  language.onNote(node, source, `It has no counterpart: ${result.why}. It is left out.`);
  return undefined;
}

type FilterWriter = (args: readonly ExcellentNode[]) => string | undefined;

const FILTERS: { readonly [call: string]: FilterWriter } = {
  upper: () => 'upper',
  lower: () => 'lower',
  format_number: ([, places]) => (places ? withNumber('number', places) : 'number'),
  if: orElse,
  default: ([, other]) => (other?.kind === 'value' ? `default:'${escapeQuotes(String(other.value))}'` : undefined),
};

/** Recognizes `IF(x = NULL, "none", x)` as the filter `default`. */
function orElse([test, other, value]: readonly ExcellentNode[]): string | undefined {
  if (test?.kind !== 'binary' || test.sign !== '=' || other?.kind !== 'value' || value?.kind !== 'path')
    return undefined;
  const isSame = test.left.kind === 'path' && test.left.steps.join('.') === value.steps.join('.');
  const isNull = test.right.kind === 'value' && test.right.value === null;
  return isSame && isNull ? `default:'${escapeQuotes(String(other.value))}'` : undefined;
}

function withNumber(filter: string, node: ExcellentNode): string | undefined {
  return node.kind === 'value' && Number.isInteger(node.value) && Number(node.value) >= 0 && Number(node.value) <= 9
    ? `${filter}:${node.value}`
    : undefined;
}

/** `{{name|upper}}` for `upper(name)`. */
function translateFilter(root: ExcellentNode, language: Language): string | undefined {
  if (root.kind !== 'call' || !Object.hasOwn(FILTERS, root.name)) return undefined;
  const of = root.name === 'if' ? root.args[2] : root.args[0];
  if (of?.kind !== 'path') return undefined;
  const filter = FILTERS[root.name]!(root.args);
  const result = filter === undefined ? undefined : translateTree(of, language);
  return result && 'source' in result && result.value === undefined && PATH.test(result.source)
    ? `{{${result.source}|${filter}}}`
    : undefined;
}

function shortenText(text: string, node: string, { onNote }: Language): string {
  if (text.length <= TEXT_CHARS) return text;
  onNote(node, text, `The text has ${text.length} characters; only the first ${TEXT_CHARS} are kept.`);
  return text.slice(0, findBorder(text, TEXT_CHARS));
}

function escapeBraces(text: string): string {
  return text.replace(/(\\*)\{\{/g, (_, slashes: string) => `${slashes}${slashes}\\{{`);
}

function escapeQuotes(text: string): string {
  return text.replace(/[\\']/g, '\\$&');
}

/** Converts several values; drops those that cannot be converted. */
export function translateValues(texts: { readonly [name: string]: string }, node: string, language: Language): Values {
  const entries = Object.entries(texts).flatMap(([name, text]) => {
    const value = translateValue(text, node, language);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}
