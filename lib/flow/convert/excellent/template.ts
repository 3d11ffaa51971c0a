// Splits RapidPro texts with `@name` and `@(expression)` into parts.

import { type Parsed, parseExcellent } from './parse.ts';

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  /** As written, with its `@`. */
  | { readonly kind: 'slot'; readonly source: string; readonly parsed: Parsed };

const NAME = /[A-Za-z_]\w*(?:(?:\.\w+)|(?:\[\d+\]))*/y;
const CALL = /[A-Za-z_]\w*\(/y;
const SLOTS_MAX = 200;
/** Maximum number of unclosed expressions in a text; each is scanned to the end of the text. */
const UNCLOSED_MAX = 16;

/** The parts of a text. `@@` is `@`; a name that is not in `roots` is plain text, as in an email address. */
export function splitTemplate(text: string, roots: ReadonlySet<string>): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let plain = '';
  let slots = 0;
  let unclosed = 0;
  const push = (source: string, expression: string): void => {
    if (plain) parts.push({ kind: 'text', text: plain });
    plain = '';
    slots++;
    parts.push({ kind: 'slot', source, parsed: parseExcellent(expression) });
  };
  for (let at = 0; at < text.length; ) {
    const sign = text.indexOf('@', at);
    if (sign < 0 || slots >= SLOTS_MAX) {
      plain += text.slice(at);
      break;
    }
    plain += text.slice(at, sign);
    at = sign + 1;
    if (text[at] === '@') {
      plain += '@';
      at++;
      continue;
    }
    const call = unclosed >= UNCLOSED_MAX ? undefined : text[at] === '(' ? '' : matchAt(CALL, text, at);
    const close = call === undefined ? -1 : findClose(text, at + call.length - (call ? 1 : 0));
    const name = matchAt(NAME, text, at);
    if (close > 0) {
      push(text.slice(sign, close + 1), call ? text.slice(at, close + 1) : text.slice(at + 1, close));
      at = close + 1;
      continue;
    }
    if (call !== undefined) unclosed++;
    if (name !== undefined && roots.has(name.split(/[.[]/)[0]!.toLowerCase())) {
      push(`@${name}`, name);
      at += name.length;
    } else plain += '@';
  }
  if (plain) parts.push({ kind: 'text', text: plain });
  return parts;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** The offset of the parenthesis that closes the one at `open`, ignoring quoted text; -1 if there is none. */
function findClose(text: string, open: number): number {
  let depth = 0;
  let isQuoted = false;
  for (let at = open; at < text.length; at++) {
    const sign = text[at]!;
    if (isQuoted && sign === '\\') at++;
    else if (sign === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (sign === '(') depth++;
    else if (sign === ')' && --depth === 0) return at;
  }
  return -1;
}
