// The possible lengths of texts that a regular expression matches completely.

/** An inclusive range. */
export interface Lengths {
  readonly least: number;
  readonly most: number;
}

export const EVERY_LENGTH: Lengths = { least: 0, most: Number.POSITIVE_INFINITY };
const NOTHING: Lengths = { least: 0, most: 0 };
const ONE: Lengths = { least: 1, most: 1 };
/** The lengths of a pattern that matches nothing. */
const NEVER: Lengths = { least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY };

/** The intersection; `least` is greater than `most` if it is empty. */
export function meetLengths(one: Lengths, other: Lengths): Lengths {
  return { least: Math.max(one.least, other.least), most: Math.min(one.most, other.most) };
}

/** Lengths that a pattern can match, optionally with digits only. Any length if the pattern uses syntax not handled here. */
export function patternLengths(pattern: string, among: 'characters' | 'digits' = 'characters'): Lengths {
  const reader: Reader = { pattern, among, at: 0 };
  const lengths = readChoice(reader);
  return lengths && reader.at === pattern.length ? lengths : EVERY_LENGTH;
}

interface Reader {
  readonly pattern: string;
  readonly among: 'characters' | 'digits';
  at: number;
}

// Undefined for syntax not handled here.
function readChoice(reader: Reader): Lengths | undefined {
  let whole = readSequence(reader);
  while (whole && take(reader, /\|/y)) {
    const other = readSequence(reader);
    whole = other && { least: Math.min(whole.least, other.least), most: Math.max(whole.most, other.most) };
  }
  return whole;
}

function readSequence(reader: Reader): Lengths | undefined {
  let whole = NOTHING;
  while (reader.at < reader.pattern.length && !/[|)]/.test(reader.pattern[reader.at]!)) {
    const one = readAtom(reader);
    const times = one && readTimes(reader);
    if (!one || !times) return undefined;
    const least = times.least === 0 ? 0 : one.least * times.least;
    const most = one.most === 0 || times.most === 0 || (times.least === 0 && one.most < 0) ? 0 : one.most * times.most;
    whole = least > most ? NEVER : { least: whole.least + least, most: whole.most + most };
  }
  return whole;
}

function readAtom(reader: Reader): Lengths | undefined {
  if (take(reader, /\^|\$|\\[bBAz]/y)) return NOTHING;
  if (take(reader, /\((?:\?:|\?P?<\w+>|(?!\?))/y)) {
    const inside = readChoice(reader);
    return inside && take(reader, /\)/y) ? inside : undefined;
  }
  const one = take(reader, /\\[dDwWsS.\\^$|?*+()[\]{}/-]|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|[^\\()[\]{}*+?|]/y);
  if (one === undefined) return undefined;
  return reader.among === 'characters' || one.includes('[:') || matchesDigit(one) ? ONE : NEVER;
}

// A character or class, with the same syntax in RE2 and JavaScript.
function matchesDigit(one: string): boolean {
  const sign = new RegExp(`^(?:${one})$`);
  return [...'0123456789'].some((digit) => sign.test(digit));
}

const TIMES: { readonly [sign: string]: Lengths } = {
  '?': { least: 0, most: 1 },
  '*': EVERY_LENGTH,
  '+': { least: 1, most: Number.POSITIVE_INFINITY },
};

function readTimes(reader: Reader): Lengths {
  const sign = take(reader, /[?*+]\??/y);
  if (sign) return TIMES[sign[0]!]!;
  const range = take(reader, /\{\d+(?:,\d*)?\}\??/y);
  if (!range) return ONE;
  const [least, most] = /\{(\d+)(?:,(\d*))?\}/.exec(range)!.slice(1);
  if (most === undefined)
    return { least: Number(least), most: range.includes(',') ? Number.POSITIVE_INFINITY : Number(least) };
  return { least: Number(least), most: most === '' ? Number.POSITIVE_INFINITY : Number(most) };
}

function take(reader: Reader, sign: RegExp): string | undefined {
  sign.lastIndex = reader.at;
  const match = sign.exec(reader.pattern)?.[0];
  if (match !== undefined) reader.at += match.length;
  return match;
}
