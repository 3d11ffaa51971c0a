// Parses request bodies in the two forms that telecoms send: JSON and form-urlencoded.

import { flawOfNumbers } from '../json/reader.ts';
import { USSD_LIMITS } from './limits.ts';
import { refusal } from './request.ts';

/** Body fields by name; values may have any type. */
export type UssdFields = Readonly<Record<string, unknown>>;

const ENCODED = /[+%]/;

/**
 * Parses a JSON or form-urlencoded body. The first character decides, because gateways and curl mislabel bodies and no
 * valid form starts with `{`. Throws ERR_INPUT for malformed bodies, repeated names and `__proto__`.
 * @example
 * readFields('from=%2B260971234567&text=1'); // → { from: '+260971234567', text: '1' }
 * readFields('{"text":"1"}'); // → { text: '1' }
 */
export function readFields(body: string): UssdFields {
  if (body.length > USSD_LIMITS.ussdBodyBytes)
    throw refusal('the body', `at most ${USSD_LIMITS.ussdBodyBytes} bytes`, body);
  let at = 0;
  while (body.charCodeAt(at) <= 0x20) at++;
  return body.charCodeAt(at) === 0x7b ? jsonFields(body) : formFields(body);
}

/**
 * Like {@link readFields}, but returns no fields instead of throwing: for the response to a refused request.
 * @example
 * salvageFields('{"text":'); // → {}
 */
export function salvageFields(body: string): UssdFields {
  try {
    return readFields(body);
  } catch {
    return {};
  }
}

/**
 * The named fields, to be echoed in the response: short strings unchanged, anything else as ''.
 * @example
 * readEcho({ trace: 't7', other: 'x' }, ['trace']); // → { trace: 't7' }
 */
export function readEcho(fields: UssdFields, names: readonly string[]): Record<string, string> {
  const echo: Record<string, string> = {};
  for (const name of names) {
    const value = fields[name];
    echo[name] = typeof value === 'string' && value.length <= USSD_LIMITS.ussdSessionIdChars ? value : '';
  }
  return echo;
}

function jsonFields(body: string): UssdFields {
  let fields: UssdFields;
  try {
    fields = JSON.parse(body);
  } catch {
    // The parser's own message would quote the body, including a PIN.
    throw refusal('the body', 'one JSON object', body);
  }
  const names = Object.keys(fields);
  if (names.length !== countMembers(body)) throw refusal('the body', 'without repeated names', body);
  if (names.includes('__proto__')) throw refusal('the body', 'without __proto__', body);
  const flaw = flawOfNumbers(body);
  if (flaw) throw refusal(flaw.pointer.slice(1) || 'the body', 'a number that can be represented exactly', body);
  return fields;
}

/** Counts members of the outermost object, including repeated names, of which JSON.parse keeps only the last. */
function countMembers(json: string): number {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case 0x22: // "
        for (at++; at < json.length && json.charCodeAt(at) !== 0x22; at++) if (json.charCodeAt(at) === 0x5c) at++;
        break;
      case 0x7b: // {
      case 0x5b: // [
        depth++;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
        break;
      case 0x3a: // :
        if (depth === 1) members++;
    }
  }
  return members;
}

function formFields(body: string): UssdFields {
  const fields: Record<string, unknown> = Object.create(null);
  for (const pair of body.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeForm(equals === -1 ? pair : pair.slice(0, equals), false);
    if (name in fields) throw refusal('the body', 'without repeated names', body);
    if (name === '__proto__') throw refusal('the body', 'without __proto__', body);
    // Sending `phoneNumber=+254…` without %2B is the most common mistake, and no phone number contains a space.
    fields[name] = equals === -1 ? '' : decodeForm(pair.slice(equals + 1), name === 'phoneNumber');
  }
  return fields;
}

function decodeForm(part: string, plusIsPlus: boolean): string {
  if (!ENCODED.test(part)) return part;
  try {
    return decodeURIComponent(plusIsPlus ? part : part.replaceAll('+', ' '));
  } catch {
    throw refusal('the body', 'well-formed percent-encoding', part);
  }
}
