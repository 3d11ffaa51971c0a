// What stands at a place of a flow, in words: keys of the format, screens, variables, functions, filters.

import { FILTERS } from '../expression/filters.ts';
import { FUNCTIONS } from '../expression/functions.ts';
import type { Flow, Screen, Text } from '../format/flow.ts';
import { schemaAt } from '../format/schema.ts';
import { pointerTo } from '../format/source.ts';
import { describePart } from './completion.ts';
import { type Cursor, readLoosely, sketchFlow } from './cursor.ts';

export interface Explanation {
  /** Offsets of what is explained, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
  readonly title: string;
  /** Sentences, one thing in a line. */
  readonly words: string;
}

/** Undefined where there is nothing to say. Never throws. */
export function explainFlow(text: string, offset: number): Explanation | undefined {
  const { cursor } = sketchFlow(text, offset);
  if (!cursor) return undefined;
  const flow = readLoosely(text);
  return (cursor.kind === 'value' && flow && explainWord(flow, text, { cursor, offset })) || explainPlace(text, cursor);
}

function explainPlace(text: string, { kind, path, around, from, to }: Cursor): Explanation | undefined {
  const steps = kind === 'key' ? [...path, text.slice(from, to)] : path;
  const words = describePart(schemaAt(pointerTo(...steps), around));
  return words === '' ? undefined : { from, to, title: steps.at(-1) ?? 'flow', words };
}

const WORD_BEFORE = /[A-Za-z_]\w*$/;
const WORD_AFTER = /^\w*/;

// A word in an expression or a placeholder, or a whole value that is a name.
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
  const found = isFilter ? describeFilter(word) : describeName(flow, word);
  return found && { from: start, to: start + word.length, ...found };
}

type Found = Pick<Explanation, 'title' | 'words'> | undefined;

function describeFilter(name: string): Found {
  const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  return filter && { title: filter.usage, words: filter.doc };
}

function describeName({ vars = {} }: Pick<Flow, 'vars'>, name: string): Found {
  const variable = Object.hasOwn(vars, name) ? vars[name] : undefined;
  if (variable) {
    const { type, secret, max, sample, default: initial } = variable;
    const parts = [
      secret === true && 'Secret: it lives within one answer only.',
      max !== undefined && `At most ${max} long.`,
      initial !== undefined && `At first: ${JSON.stringify(initial)}`,
      sample !== undefined && secret !== true && `Sample: ${JSON.stringify(sample).slice(0, 400)}`,
    ];
    return { title: `${name}: ${type}`, words: parts.filter(Boolean).join('\n') };
  }
  const known = (FUNCTIONS as { readonly [name: string]: { usage: string; doc: string } | undefined })[name];
  return known && { title: known.usage, words: known.doc };
}

function describeScreen(screen: Screen): string {
  if ('text' in screen) return showText(screen.text);
  if (screen.type === 'call') return `Calls ${screen.service}.`;
  return screen.type === 'flow' ? `Runs the flow ${screen.flow}.` : 'Goes on by the first condition that holds.';
}

function showText(text: Text): string {
  if (typeof text === 'string') return text;
  return Object.entries(text)
    .map(([lang, words]) => `${lang}: ${words}`)
    .join('\n');
}
