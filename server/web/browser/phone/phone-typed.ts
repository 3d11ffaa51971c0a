// What was typed into a phone: as the telecom sends it, as people may see it, and as a test may keep it.

import type { TextMode } from '../../../../lib/ussd/request.ts';

export interface Typed {
  readonly text: string;
  /** It answered a screen that asks for a secret, or for nobody knows what. */
  readonly secret: boolean;
}

const HIDDEN = '••••';

/** The field `text` of a request; '' when nothing was typed yet. */
export function sentText(typed: readonly Typed[], mode: TextMode): string {
  return mode === 'latest' ? (typed.at(-1)?.text ?? '') : typed.map(({ text }) => text).join('*');
}

/** The same without its secrets; not even their length is told. */
export function shownText(typed: readonly Typed[], mode: TextMode): string {
  const shown = typed.map(({ text, secret }) => ({ text: secret ? HIDDEN : text, secret }));
  return sentText(shown, mode);
}

/** The inputs with another secret in the place of each: as long, of as many digits, and the same wherever it is the same. */
export function withoutSecrets(typed: readonly Typed[]): string[] {
  const others = new Map<string, string>();
  const taken = new Set(typed.map(({ text }) => text));
  return typed.map(({ text, secret }) => {
    if (!secret || text === '') return text;
    const other = others.get(text) ?? firstOther(text, taken);
    others.set(text, other);
    taken.add(other);
    return other;
  });
}

// One that was typed as well would be a secret again, and short ones are soon all taken.
function firstOther(text: string, taken: ReadonlySet<string>): string {
  for (let start = 0; start < 100; start++) {
    const other = [...text].map((letter, at) => standIn(letter, start + at)).join('');
    if (!taken.has(other)) return other;
  }
  return [...text].map((letter) => (/\d/.test(letter) ? '0' : 'x')).join('');
}

// Neighbours differ by three, so that nobody calls it a PIN that is easy to guess.
function standIn(letter: string, at: number): string {
  if (/\d/.test(letter)) return String((1 + 3 * at + Math.floor(at / 10)) % 10);
  return /\p{L}/u.test(letter) ? String.fromCharCode(97 + ((3 * at) % 26)) : letter;
}
