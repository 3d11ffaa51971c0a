// Explains what is at a position of a flow: keys of the format, screens, variables, functions, filters.

import { type Described, describeUse } from '../expression/described.ts';
import { FILTERS } from '../expression/filters.ts';
import { FUNCTIONS } from '../expression/functions.ts';
import { BINARY_OPERATORS, OTHER_OPERATORS } from '../expression/operators.ts';
import type { Flow, Screen, Text } from '../format/flow.ts';
import { schemaAt } from '../format/schema.ts';
import { pointerTo } from '../format/source.ts';
import type { LintContext } from '../lint/lint.ts';
import { type Contracts, findContract } from '../lint/shapes.ts';
import { findKind } from '../screens/kinds.ts';
import { type Cursor, readLoosely, sketchFlow } from './cursor.ts';
import { describeContract, describePart } from './words.ts';

export interface Explanation {
  /** Offsets of the explained token, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
  readonly title: string;
  /** Sentences, one per line. */
  readonly words: string;
}

/** Undefined when there is nothing to explain. Never throws. */
export function explainFlow(
  text: string,
  offset: number,
  { contracts }: Pick<LintContext, 'contracts'> = {},
): Explanation | undefined {
  const { cursor } = sketchFlow(text, offset);
  if (!cursor) return undefined;
  const flow = readLoosely(text);
  return (
    explainService(text, cursor, contracts) ||
    (cursor.kind === 'value' && flow && explainWord(flow, text, { cursor, offset })) ||
    explainPlace(text, cursor)
  );
}

// The name of a service, and its input keys.
function explainService(
  text: string,
  { kind, path, around, from, to }: Cursor,
  contracts: Contracts | undefined,
): Explanation | undefined {
  const word = text.slice(from, to);
  if (kind === 'value') {
    const contract = path.at(-1) === 'service' ? findContract(contracts, word) : undefined;
    return contract && { from, to, title: word, words: describeContract(contract) };
  }
  const { screens } = around as { screens?: { [id: string]: { service?: string } } };
  const contract =
    path.length === 3 && path[2] === 'with' ? findContract(contracts, screens?.[path[1]!]?.service ?? '') : undefined;
  const field = contract && Object.hasOwn(contract.input, word) ? contract.input[word] : undefined;
  return field && { from, to, title: `${word}: ${field.kind}`, words: field.about };
}

function explainPlace(text: string, { kind, path, around, from, to }: Cursor): Explanation | undefined {
  const steps = kind === 'key' ? [...path, text.slice(from, to)] : path;
  const words = describePart(schemaAt(pointerTo(...steps), around));
  return words === '' ? undefined : { from, to, title: steps.at(-1) ?? 'flow', words };
}

const WORD_BEFORE = /[A-Za-z_]\w*$/;
const WORD_AFTER = /^\w*/;

// A word in an expression or placeholder, or a whole value that is a name.
function explainWord(
  flow: Pick<Flow, 'vars' | 'screens'>,
  text: string,
  { cursor, offset }: { cursor: Cursor; offset: number },
) {
  const { from, to, path } = cursor;
  const whole = text.slice(from, to);
  const screen = Object.hasOwn(flow.screens, whole) ? flow.screens[whole] : undefined;
  if (screen && path.length > 0) return { from, to, title: `${whole}: ${screen.type}`, words: describeScreen(screen) };
  const isCode = whole.startsWith('=') || whole.includes('{{') || path.at(-1) === 'when' || path.at(-1) === 'items';
  const isName = path.at(-1) === 'save';
  if (!isCode && !isName) return undefined;
  const before = WORD_BEFORE.exec(text.slice(from, offset))?.[0] ?? '';
  const start = offset - before.length;
  const word = before + WORD_AFTER.exec(text.slice(offset, to))![0];
  const isFilter = /\|\s*$/.test(text.slice(from, start));
  const isExpression = !whole.includes('{{');
  const description = isFilter ? describeFilter(word) : describeName(flow, word, isExpression);
  return description && { from: start, to: start + word.length, ...description };
}

type ExplanationText = Pick<Explanation, 'title' | 'words'> | undefined;

function describeFilter(name: string): ExplanationText {
  const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  return filter && describeNamed(filter);
}

function describeName({ vars = {} }: Pick<Flow, 'vars'>, name: string, isExpression: boolean): ExplanationText {
  const variable = Object.hasOwn(vars, name) ? vars[name] : undefined;
  if (variable) {
    const { type, secret, private: isPrivate, max, sample, default: initial } = variable;
    const parts = [
      secret === true && 'Secret: it lives within one answer only.',
      isPrivate === true && 'Private: stored sealed, masked for those who watch.',
      max !== undefined && `At most ${max} long.`,
      initial !== undefined && `At first: ${JSON.stringify(initial)}`,
      sample !== undefined && secret !== true && `Sample: ${JSON.stringify(sample).slice(0, 400)}`,
    ];
    return { title: `${name}: ${type}`, words: parts.filter(Boolean).join('\n') };
  }
  const entry = isExpression && Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
  return entry && describeNamed(entry);
}

const WORDS: { readonly [word: string]: Described } = { ...FUNCTIONS, ...BINARY_OPERATORS, ...OTHER_OPERATORS };

const describeNamed = (description: Described) => ({ title: description.usage, words: describeUse(description) });

/** The text or action of a screen, in a line or two. */
export function describeScreen(screen: Screen): string {
  if ('text' in screen) return showText(screen.text);
  return findKind(screen).summary?.(screen) ?? '';
}

function showText(text: Text): string {
  if (typeof text === 'string') return text;
  return Object.entries(text)
    .map(([lang, words]) => `${lang}: ${words}`)
    .join('\n');
}
