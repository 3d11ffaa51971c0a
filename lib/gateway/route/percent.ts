// Percent-encoding in paths and queries, decoded once and strictly.

import { TwinlineError } from '../../errors.ts';

const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2}).{0,2}/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * Decodes a segment of a path, or with `multiple` several: then %2F stays, as slashes of its own are there. Throws
 * ERR_INPUT on broken escapes, text that is not UTF-8, and control characters.
 */
export function decodePath(text: string, multiple: boolean): string {
  const parts = multiple ? text.split(/(%2F)/i) : [text];
  const decoded = parts.map((part, at) => (at % 2 ? part : decode(part, 'path'))).join('');
  if (CONTROL.test(decoded)) throw refuse('The path', 'has a control character, such as %00');
  return decoded;
}

/** A name or a value of a query: plus is a space. Throws ERR_INPUT. */
export function decodeQuery(text: string): string {
  return decode(text.replaceAll('+', ' '), 'query');
}

function decode(text: string, where: 'path' | 'query'): string {
  if (!text.includes('%')) return text;
  const bad = BAD_ESCAPE.exec(text)?.[0];
  if (bad !== undefined) throw refuse(`The ${where}`, `has an invalid URL escape ${JSON.stringify(bad)}`);
  try {
    return decodeURIComponent(text);
  } catch {
    throw refuse(`The ${where}`, 'is not UTF-8 when it is decoded');
  }
}

function refuse(what: string, why: string): TwinlineError {
  return new TwinlineError(
    'ERR_INPUT',
    `${what} cannot be read: it ${why}. Encode each byte of UTF-8 as % and two hex digits.`,
  );
}
