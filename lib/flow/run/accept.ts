// The `accept` rules of input screens, compiled once to a check of the caller's text.
//
// All rules must hold. Text longer than a request can be is refused; the rest is trimmed. `number`, `oneOf`, `msisdn`, `date` and
// `check` convert it, so at most one of them may be used; the others keep it, with its digits as 0–9 where a rule needs those.

import { RE2JS } from 're2js';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { isKept } from '../expression/decimal.ts';
import { suggest } from '../expression/suggest.ts';
import { countCharacters, parseDecimal, toAsciiDigits, toPlainDecimal } from '../expression/values.ts';
import { FLOW_LIMITS } from '../limits.ts';
import {
  type AcceptCheck,
  type AcceptRule,
  type Caller,
  isComputed,
  type Refuse,
  readSettings,
} from './accept-rule.ts';
import { dateRule } from './date-rule.ts';
import { ID_CHECKS, readId } from './id-checks.ts';
import { isCallingCode, readPhoneNumber } from './phone-numbers.ts';

export interface Accept {
  /** The rules by name, joined with `+`: `digits`, `length+pattern`. */
  readonly name: string;
  /**
   * The value to save for the caller's text. `now` is in milliseconds since 1970, for rules with `today`.
   * @default `caller` English, in UTC
   */
  check(
    text: string,
    now: number,
    caller?: Caller,
  ): { readonly ok: true; readonly value: Json } | { readonly ok: false };
}

const ENGLISH: Caller = { lang: 'en' };

const RULES: { readonly [name: string]: AcceptRule } = {
  digits: (setting, refuse) => {
    const { min, max } = readRange(setting, 1, (problem) => refuse(`${problem}. ${DIGITS_HOW}`));
    return (text) => {
      const digits = toAsciiDigits(text);
      return digits.length >= min && digits.length <= max && /^[0-9]+$/.test(digits) ? digits : undefined;
    };
  },
  length: (setting, refuse) => {
    const { min, max } = readRange(setting, 0, (problem) => refuse(`${problem}. ${LENGTH_HOW}`));
    return (text) => {
      const length = countCharacters(text);
      return length >= min && length <= max ? text : undefined;
    };
  },
  number: numberRule,
  oneOf: oneOfRule,
  msisdn: msisdnRule,
  date: dateRule,
  pattern: patternRule,
  check: checkRule,
};

const DIGITS_HOW = 'Write "digits": 4 or "digits": {"min": 4, "max": 6}';
const LENGTH_HOW = 'Write "length": 20 or "length": {"min": 2, "max": 20}';
const CHANGES = ['number', 'oneOf', 'msisdn', 'date', 'check'];

/** The maximum length of an answer. */
export const TYPED_MOST = COMMON_LIMITS.ussdTextChars;

/** Names of the rules of {@link compileAccept}. */
export const ACCEPT_RULES: readonly string[] = Object.keys(RULES);

/** Compiles the `accept` of an input screen. Throws ERR_FLOW_INVALID, with advice, for an invalid rule. */
export function compileAccept(rule: JsonObject): Accept {
  const names = Object.keys(rule);
  const changing = names.filter((name) => CHANGES.includes(name));
  if (names.length === 0) throw acceptError('"accept" is empty', `Give one of: ${ACCEPT_RULES.join(', ')}`);
  if (changing.length > 1) {
    throw acceptError(`"accept" has ${changing.join(' and ')}`, 'Each gives another value to save; keep one of them');
  }
  // The rule that converts comes last: its value is saved.
  const checks = [...names.filter((name) => !CHANGES.includes(name)), ...changing].map((name): AcceptCheck => {
    const compile = Object.hasOwn(RULES, name) ? RULES[name] : undefined;
    if (!compile) {
      const known = `Rules: ${ACCEPT_RULES.join(', ')}`;
      throw acceptError(`there is no rule "${name}".${suggest(name, ACCEPT_RULES)}`, known);
    }
    return compile(rule[name] ?? null, (problem) => {
      throw acceptError(`the rule "${name}" got ${showSetting(rule[name] ?? null)}`, problem);
    });
  });
  const check: Accept['check'] = (input, now, caller = ENGLISH) => {
    if (input.length > TYPED_MOST) return REFUSED;
    const text = input.trim();
    let value: Json = text;
    for (const one of checks) {
      const result = one(text, now, caller);
      if (result === undefined) return REFUSED;
      if (result !== text) value = result;
    }
    return { ok: true, value };
  };
  return { name: names.join('+'), check };
}

const REFUSED = { ok: false } as const;

function readRange(setting: Json, least: number, refuse: Refuse): { readonly min: number; readonly max: number } {
  const most = COMMON_LIMITS.ussdTextChars;
  const given =
    typeof setting === 'number' ? { min: setting, max: setting } : readSettings(setting, ['min', 'max'], refuse);
  const { min = least, max = most } = given;
  const isWholeNumber = (value: Json): value is number => Number.isInteger(value) && Number(value) >= least;
  if (!isWholeNumber(min) || !isWholeNumber(max) || min > max || max > most) {
    return refuse(`It needs whole numbers from ${least} to ${most}, the smaller as "min"`);
  }
  return { min, max };
}

function numberRule(setting: Json, refuse: Refuse): AcceptCheck {
  const known = ['min', 'max', 'integer', 'decimals'];
  const { min = null, max = null, integer = false, decimals = null } = readSettings(setting, known, refuse);
  const isBound = (value: Json) => value === null || typeof value === 'number' || isComputed(value);
  if (!isBound(min) || !isBound(max)) return refuse('"min" and "max" are numbers, or expressions as in "=balance"');
  if (typeof min === 'number' && typeof max === 'number' && min > max)
    return refuse('"min" is larger than "max", so no number fits');
  if (typeof integer !== 'boolean') return refuse('"integer" is true or false');
  if (decimals !== null && !(Number.isInteger(decimals) && Number(decimals) >= 0 && Number(decimals) <= 9)) {
    return refuse('"decimals" is 0 to 9');
  }
  const places = integer ? 0 : Number(decimals ?? 40);
  const findLeast = readNumberBound(min, Number.NEGATIVE_INFINITY);
  const findMost = readNumberBound(max, Number.POSITIVE_INFINITY);
  return (text, _, { lang, bounds }) => {
    const plain = toPlainDecimal(text, lang) ?? '';
    const value = parseDecimal(plain);
    if (value === undefined || !isKept(plain)) return undefined;
    // An expression that gives no number refuses every answer.
    if (!(value >= findLeast(bounds?.min) && value <= findMost(bounds?.max))) return undefined;
    const point = plain.indexOf('.');
    return point < 0 || plain.length - point - 1 <= places ? value : undefined;
  };
}

function readNumberBound(setting: Json, none: number): (given: Json | undefined) => number {
  if (!isComputed(setting)) return () => Number(setting ?? none);
  return (given) => (given === undefined ? none : typeof given === 'number' ? given : Number.NaN);
}

function oneOfRule(setting: Json, refuse: Refuse): AcceptCheck {
  const how = 'Write a list of different texts, as in "oneOf": ["yes", "no"]';
  if (!Array.isArray(setting) || setting.length === 0) return refuse(how);
  const canonical = new Map<string, string>();
  for (const choice of setting) {
    if (typeof choice !== 'string' || choice.trim() === '' || choice.length > COMMON_LIMITS.ussdTextChars)
      return refuse(how);
    const key = toAsciiDigits(choice.trim().toLowerCase());
    if (canonical.has(key)) return refuse(`It has "${choice}" twice (large and small letters are the same). ${how}`);
    canonical.set(key, choice);
  }
  return (text) => canonical.get(toAsciiDigits(text.toLowerCase()));
}

function msisdnRule(setting: Json, refuse: Refuse): AcceptCheck {
  const { country = null } = readSettings(setting, ['country'], refuse);
  if (country === null) return (text) => readPhoneNumber(text);
  if (!(typeof country === 'string' && /^[1-9][0-9]{0,2}$/.test(country)))
    return refuse('"country" is a calling code in quotes, without +, as in {"country": "263"}');
  if (!isCallingCode(country)) return refuse(`No country has the calling code ${country}`);
  return (text) => readPhoneNumber(text, country);
}

function checkRule(setting: Json, refuse: Refuse): AcceptCheck {
  const known = Object.keys(ID_CHECKS);
  const id = typeof setting === 'string' && Object.hasOwn(ID_CHECKS, setting) ? ID_CHECKS[setting] : undefined;
  if (!id) return refuse(`There is no such check.${suggest(String(setting), known)} Checks: ${known.join(', ')}`);
  return (text) => readId(id, toAsciiDigits(text));
}

function patternRule(setting: Json, refuse: Refuse): AcceptCheck {
  if (typeof setting !== 'string' || setting === '')
    return refuse('Write a regular expression, as in "[A-Z]{2}[0-9]{6}"');
  if (setting.length > FLOW_LIMITS.patternChars)
    return refuse(`It is longer than ${FLOW_LIMITS.patternChars} characters`);
  const pattern = parsePattern(setting, refuse);
  if (pattern.programSize() > FLOW_LIMITS.patternSteps) {
    return refuse('Its repetitions multiply to too many steps. Use smaller counts, or "length" beside it');
  }
  return (text) => {
    if (pattern.matches(text)) return text;
    const plain = toAsciiDigits(text);
    return plain !== text && pattern.matches(plain) ? plain : undefined;
  };
}

function parsePattern(source: string, refuse: Refuse): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (/\(\?(?:[=!]|<[=!])/.test(source)) return refuse('Look-ahead and look-behind are not supported. Use two rules');
    if (/\\(?:[1-9]|k)/.test(source)) return refuse('Back-references are not supported. Write the part out');
    return refuse(`It cannot be read: ${(error as Error).message}. Repetition counts go up to 1000`);
  }
}

function showSetting(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function acceptError(problem: string, fix: string): TwinlineError {
  return new TwinlineError('ERR_FLOW_INVALID', `Cannot use this "accept": ${problem}. ${fix}.`);
}
