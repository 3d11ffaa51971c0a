// Syntax of expressions, including operators of other languages, and missing syntax, such as "=" before an expression or braces around a
// path.

import { FUNCTIONS, type FunctionName } from '../../expression/functions.ts';
import { type Node, parseExpression } from '../../expression/parse.ts';
import { findNearest } from '../../expression/suggest.ts';
import { capitalize, describePlace, type Mend, showValue } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { readSample } from '../printed.ts';
import type { Lint, LintRule, RuleFinding } from '../rule.ts';
import { readOffset } from './texts.ts';

type Expressions = Lint['parts']['expressions'];
type Literals = Lint['parts']['literals'];
type Wordings = Lint['parts']['wordings'];

export const signRules: readonly LintRule[] = [
  {
    code: 'expr',
    severity: 'error',
    means: 'an expression has a syntax error',
    *find({ flow, parts }) {
      for (const part of parts.expressions)
        if (!part.compiled.ok) yield unreadableExpression(part, part.compiled.error);
      for (const [version, { set = {} }] of Object.entries(flow.migrate ?? {})) {
        for (const [name, value] of Object.entries(set)) {
          if (typeof value !== 'string' || !value.startsWith('=')) continue;
          const message = `Migration "${version}" sets "${name}" to "${value}", and expressions are not evaluated there.`;
          yield {
            pointer: pointerTo('migrate', version, 'set', name),
            message,
            fix: `Write a plain value for "${name}".`,
          };
        }
      }
    },
  },
  {
    code: 'missing-equals',
    severity: 'warning',
    means: 'a value is a plain text that looks like an expression',
    *find(lint) {
      for (const part of lint.parts.literals) {
        const finding = missingEquals(lint, part);
        if (finding) yield finding;
      }
    },
  },
  {
    code: 'single-braces',
    severity: 'warning',
    means: 'a placeholder has single braces, so the text prints the name of the variable',
    *find(lint) {
      for (const part of lint.parts.wordings) {
        for (const match of part.source.matchAll(SINGLE_BRACES)) {
          const [written, dollar, inside, path, root] = match as unknown as [string, string, string, string, string];
          if (!isKnown(lint, part, root)) continue;
          const place = capitalize(describePlace(part.pointer));
          const [braced, at] = [`{${inside}}`, match.index];
          const message = `${place} prints ${written} as it stands: single braces mean nothing.`;
          const isAmount = dollar !== '' && lint.vars.get(path)?.type !== 'string';
          const isCertain = !isAmount && prints(lint, path);
          const fix = dollar
            ? `Write {${braced}} to print the value of "${path}", or \${${braced}} for a dollar sign before it.`
            : `Write {${braced}} to print the value of "${path}".`;
          yield {
            pointer: part.pointer,
            at,
            message,
            fix,
            ...(isCertain && { mend: { old: written, text: `{${braced}}` } }),
          };
        }
      }
    },
  },
  {
    code: 'missing-braces',
    severity: 'warning',
    means:
      'a text prints the name of a variable instead of its value, with or without the placeholder syntax of another language',
    *find(lint) {
      for (const part of lint.parts.wordings) yield* missingBraces(lint, part);
    },
  },
];

function unreadableExpression({ pointer, shift, source, role }: Expressions[number], error: Error): RuleFinding {
  const offset = readOffset(error);
  const place = { pointer, at: shift + offset };
  const extra = /^\s*=(?!=)/.exec(source)?.[0];
  if (extra !== undefined) {
    const [what, first] =
      role === 'value' ? ['a second "="', '"="'] : ['"="', `"${role === 'items' ? 'items' : 'when'}"`];
    const message = `${capitalize(describePlace(pointer))} has ${what}, which does not belong there: what follows ${first} is an expression already.`;
    const fix = `Remove the "=": ${showValue((shift ? '=' : '') + source.slice(extra.length))}.`;
    return { ...place, message, fix, mend: { old: extra, text: '' } };
  }
  const mend = mendSign(source, offset);
  const fix = mend
    ? `Write ${mend.text.trim() === '' ? `it without ${mend.old}` : mend.text.trim()} for ${mend.old.trim()}.`
    : `Write for example: balance >= 1 and lang == 'en'. Functions: ${Object.keys(FUNCTIONS).join(', ')}.`;
  return { ...place, message: error.message, fix, ...(mend && { mend }) };
}

const PATH = '([A-Za-z]\\w*)(?:\\.[A-Za-z_]\\w*|\\[\\d{1,6}\\])*';

// Operators and keywords of other languages, and their equivalents; `$1` is the captured part.
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/^={3}/, '=='],
  [/^!={2}/, '!='],
  [/^=>/, '>='],
  [/^=</, '<='],
  [/^<>/, '!='],
  [/^=(?!=)/, '=='],
  [/^&&?/, 'and'],
  [/^\|\|/, 'or'],
  [/^!(?!=)/, 'not'],
  [/^\?\./, '.'],
  [/^(and|or|not|in|true|false|null)\b/i, '$1'],
  [new RegExp(`^\\$?\\{\\{?\\s*(${PATH})\\s*\\}?\\}`), '$1'],
  [/^\$(?=[A-Za-z])/, ''],
  [/^[‘’“”`]([^‘’“”`'"\\]*)[‘’“”`]/, "'$1'"],
];

// An unclosed quote before the last word of an expression. Before more than a word, it could be closed anywhere.
const OPEN_TEXT = /^'[\w-]+$/;

/** Functions of other languages, in lower case, and our equivalents. */
const SAME_FUNCTIONS: ReadonlyMap<string, FunctionName> = new Map(
  Object.entries({
    num: ['number', 'tonumber', 'parseint', 'parsefloat', 'int', 'float', 'value'],
    str: ['string', 'tostring', 'text'],
    len: ['length', 'size', 'count'],
    lower: ['lowercase', 'tolowercase', 'tolower'],
    upper: ['uppercase', 'touppercase', 'toupper'],
    title: ['proper', 'titlecase', 'capitalize'],
    contains: ['includes', 'has'],
  } satisfies { readonly [name in FunctionName]?: readonly string[] }).flatMap(([ours, others]) =>
    others.map((other) => [other, ours as FunctionName] as const),
  ),
);

type SignMend = Required<Pick<Mend, 'old' | 'text'>>;

/** Foreign syntax at an offset, and its replacement. */
function mendSign(source: string, offset: number): SignMend | undefined {
  const rest = source.slice(offset);
  for (const [sign, instead] of SIGNS) {
    const match = sign.exec(rest);
    if (!match) continue;
    const old = match[0];
    const text = instead === '$1' ? match[1]! : instead.replace('$1', () => match[1] ?? '');
    const word = /^[a-z]+$/i.test(old) ? text.toLowerCase() : text;
    if (word === old) return undefined;
    const isWord = /^[a-z]+$/.test(word) && !/^[\w${]/.test(old);
    const before = isWord && /\w$/.test(source.slice(0, offset)) ? ' ' : '';
    const after = isWord && /^[\w'"]/.test(rest.slice(old.length)) ? ' ' : '';
    return { old, text: before + word + after };
  }
  const open = OPEN_TEXT.exec(rest)?.[0];
  if (open !== undefined) return { old: open, text: open + open[0] };
  const [, name] = /^([A-Za-z_]\w*)\s*\(/.exec(rest) ?? [];
  const same = name === undefined ? undefined : SAME_FUNCTIONS.get(name.toLowerCase());
  if (same !== undefined && !Object.hasOwn(FUNCTIONS, name!)) return { old: name!, text: same };
  const similar =
    name === undefined || Object.hasOwn(FUNCTIONS, name) ? undefined : findNearest(name, Object.keys(FUNCTIONS));
  return similar?.isAlone ? { old: name!, text: similar.name } : undefined;
}

const WHOLE_PATH = new RegExp(`^${PATH}$`);
const WHOLE_SLOT = new RegExp(`^\\$?\\{{1,3}\\s*(${PATH})\\s*\\}{1,3}$`);
const ANY_SLOT = new RegExp(`\\{\\{\\s*(${PATH})[^{}]*\\}\\}`, 'g');

function missingEquals(lint: Lint, part: Literals[number]): RuleFinding | undefined {
  const { pointer, source } = part;
  const place = capitalize(describePlace(pointer));
  const root = WHOLE_PATH.exec(source)?.[1];
  if (root !== undefined && isKnown(lint, part, root)) {
    const message = `${place} is the text "${source}", not the value of that variable.`;
    const fix = `Write "=${source}" for its value, or "='${source}'" if the text itself is meant.`;
    return { pointer, message, fix, mend: { old: source, text: `=${source}` } };
  }
  const [, path, slot] = WHOLE_SLOT.exec(source) ?? [];
  if (path !== undefined && isKnown(lint, part, slot!)) {
    const message = `${place} is the text "${source}": braces print values in texts of screens only.`;
    return { pointer, message, fix: `Write "=${path}" for its value.`, mend: { old: source, text: `=${path}` } };
  }
  const inside = [...source.matchAll(ANY_SLOT)].find((match) => isKnown(lint, part, match[2]!));
  if (inside) {
    const message = `${place} passes ${inside[0]} on as it stands: braces print values in texts of screens only.`;
    return { pointer, message, fix: `Join texts with an expression: "${joinTexts(source)}".` };
  }
  if (!isExpression(lint, part)) return undefined;
  const message = `${place} is the text "${source}", which is passed on and never computed.`;
  const fix = `Write "=${source}" for what it gives, or "='...'" if the text itself is meant.`;
  return { pointer, message, fix, ...(isCertain(source) && { mend: { old: source, text: `=${source}` } }) };
}

/** `='Dear ' + name` for `Dear {{name}}`. */
function joinTexts(source: string): string {
  const parts: string[] = [];
  let at = 0;
  const addText = (text: string) => text && parts.push(`'${text.replace(/['\\]/g, '\\$&')}'`);
  for (const { 0: whole, 1: path, index } of source.matchAll(ANY_SLOT)) {
    addText(source.slice(at, index));
    parts.push(path!);
    at = index + whole.length;
  }
  addText(source.slice(at));
  return `=${parts.join(' + ')}`;
}

/** Whether a plain text is an expression over variables. */
function isExpression(lint: Lint, part: Literals[number]): boolean {
  // A single word, such as a date or a code, is not an expression.
  if (/^[\w./-]*$/.test(part.source) || !/[A-Za-z]/.test(part.source)) return false;
  try {
    const { root, names } = parseExpression(part.source);
    return names.length > 0 && computes(root) && names.every((name) => isKnown(lint, part, name));
  } catch {
    return false;
  }
}

function computes(node: Node): boolean {
  return node.kind === 'call' || node.kind === 'binary' || node.kind === 'choice';
}

// `name or phone` may be prose; function calls and arithmetic are not.
const isCertain = (source: string) => /[*+%<>=(]/.test(source);

const SINGLE_BRACES = new RegExp(`(?<![{\\\\$])(\\$?)\\{(\\s*(${PATH})\\s*(?:\\|[^{}]*)?)\\}(?!\\})`, 'g');
const EQUALS_PATH = new RegExp(`^=\\s*(${PATH})\\s*$`);
const OTHER_SIGNS = new RegExp(`%(${PATH})%|(?<![\\w$\\\\])\\$(${PATH})`, 'g');
const DOTTED = /(?<![\w.{$@/=-])[A-Za-z]\w*(?:\.[A-Za-z_]\w*)+(?![\w(}@/-])/g;

function* missingBraces(lint: Lint, part: Wordings[number]): Iterable<RuleFinding> {
  const { pointer, source } = part;
  // Other rules report syntax errors.
  if (!part.compiled.ok) return;
  const place = capitalize(describePlace(pointer));
  const find = (text: string, path: string, at: number): RuleFinding => ({
    pointer,
    at,
    message: `${place} prints ${showValue(text)} as it stands, not the value of "${path}".`,
    fix: `Write {{${path}}} to print the value of "${path}".`,
    ...(prints(lint, path) && { mend: { old: text, text: `{{${path}}}` } }),
  });
  const [whole, equal, root] = EQUALS_PATH.exec(source) ?? [];
  if (whole !== undefined && isKnown(lint, part, root!)) yield find(whole, equal!, 0);
  else if (source.startsWith('=') && isExpression(lint, { ...part, source: source.slice(1).trim() })) {
    const message = `${place} begins with "=": texts print variables, and compute nothing.`;
    const fix = `Compute it with "set" on the way here, and print that variable: {{name}}.`;
    yield { pointer, at: 0, message, fix };
  } else {
    for (const { 0: written, 1: percent, 3: dollar, index } of source.matchAll(OTHER_SIGNS)) {
      const path = percent ?? dollar!;
      const type = lint.vars.get(/^\w+/.exec(path)![0])?.type;
      if (type === 'string' || (type === 'object' && path.includes('.'))) yield find(written, path, index);
    }
    for (const { 0: path, index } of source.matchAll(DOTTED)) {
      const sample = readSample(lint.vars, path);
      // Only fields that the sample has: a dot may also end a sentence.
      if (sample !== undefined && typeof sample !== 'object') yield find(path, path, index);
    }
  }
}

/** Whether a text may print a path: not a secret, and not a whole list or object. */
function prints({ vars }: Lint, path: string): boolean {
  const variable = vars.get(/^\w+/.exec(path)![0]);
  if (!variable) return true;
  const isWhole = /^\w+$/.test(path);
  return !variable.secret && !(isWhole && (variable.type === 'array' || variable.type === 'object'));
}

function isKnown({ vars }: Lint, { also }: Pick<Wordings[number], 'also'>, name: string): boolean {
  return vars.has(name) || also.includes(name);
}
