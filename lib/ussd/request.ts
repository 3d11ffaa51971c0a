// The common form of phone requests in all dialects, and the readers that validate their fields.

import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import { USSD_LIMITS } from './limits.ts';

/** `cumulative`: text is the whole history joined by `*`; `latest`: text is the last input only. */
export type TextMode = 'cumulative' | 'latest';

/** A request of a telecom gateway, in any dialect. */
export type UssdRequest = {
  /** The gateway's session id, 1 to 100 characters, no control characters. */
  sessionId: string;
  /**
   * `*digits#` or `*digits*digits…#`, with dialled extras if the dialect has them; for Hubtel's app the id of a service; ''
   * means unchanged since the session started.
   */
  serviceCode: string;
  /** E.164 with `+`; '' means unchanged since the start (only on `end` and `status` of dialects that do not repeat it). */
  phoneNumber: string;
  /** The input, at most 182 characters, without control characters. May contain PINs: never log or store it in clear. */
  text: string;
  /**
   * `turn`: the caller waits for a screen. `end`: the telecom reports the end of the session; nothing can be shown. `status`:
   * the telecom asks whether the session is alive; the kind of the NOTHING reply tells.
   */
  event: 'turn' | 'end' | 'status';
  mode: TextMode;
  /** Only on `end` without a phone number: the last screen the telecom saw, which must be the one we sent. */
  lastReply?: string;
  /** True when the dialect marks this request as the first of its session; text is then ''. */
  fresh?: boolean;
  /**
   * Only in dialects that do not reliably mark a first request: the service code this text dials if the session is unknown.
   * The text is then that code and not an answer.
   */
  dialled?: string;
  /** The dialect's message number within the session: in `latest` mode, a repeated number is a retry. */
  turnId?: string;
  /** The mobile network, as named by the gateway. */
  network?: string;
  /** The IMSI of the caller's SIM card; only a keyed hash is stored. */
  imsi?: string;
  /** Identifiers the dialect wants echoed in its response; only its adapter reads them. */
  echo?: Readonly<Record<string, string>>;
};

/** An HTTP request as adapters see it. */
export type RawRequest = {
  method: string;
  /** Decoded path segments after the adapter's base path. */
  path: readonly string[];
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
};

const PLAIN = /^[\x20-\x7e]*$/;
const CONTROL = /\p{Cc}/u;
const CONTROLS = /\p{Cc}/gu;
const LONE_SURROGATE = /\p{Cs}/u;
const SERVICE_CODE = /^\*\d+(?:\*\d+)*#$/;
const DIALLED = /^\*?(\d+(?:[*#]\d+)*)#?$/;
const E164 = /^\+[1-9]\d{6,14}$/;
const MSISDN = /^\+?([1-9]\d{6,14})$/;
const IMSI = /^[1-9]\d{9,14}$/;
const NETWORK = /^[\x20-\x7e]{1,40}$/;

/**
 * The error for a refused request. Names the field and the rule, never the value, which may contain a PIN.
 * @example
 * refusal('text', 'a text of at most 182 characters', 7).code; // → 'ERR_INPUT'
 */
export function refusal(field: string, rule: string, value?: unknown): TwinlineError {
  const got = typeof value === 'string' ? `a string of ${value.length} characters` : describe(value);
  return new TwinlineError(
    'ERR_INPUT',
    `Cannot read the USSD request: ${field} must be ${rule}, but is ${got}. Check what the gateway sends.`,
  );
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `of type ${typeof value}`;
}

/**
 * Session id: a string of 1 to 100 characters without control characters. Throws ERR_INPUT.
 * @example
 * readSessionId('ATUid_1'); // → 'ATUid_1'
 * readSessionId(''); // throws ERR_INPUT
 */
export function readSessionId(value: unknown, field = 'sessionId'): string {
  if (typeof value === 'string' && value !== '' && !exceeds(value, USSD_LIMITS.ussdSessionIdChars)) {
    if (PLAIN.test(value) || !(CONTROL.test(value) || LONE_SURROGATE.test(value))) return value;
  }
  throw refusal(field, `1 to ${USSD_LIMITS.ussdSessionIdChars} characters, none of them control characters`, value);
}

/**
 * Service code: `*digits#` or `*digits*digits…#`. Throws ERR_INPUT.
 * @example
 * readServiceCode('*384*7#'); // → '*384*7#'
 */
export function readServiceCode(value: unknown, field = 'serviceCode'): string {
  if (typeof value === 'string' && value.length <= COMMON_LIMITS.ussdTextChars && SERVICE_CODE.test(value))
    return value;
  throw refusal(field, '*digits# or *digits*digits#', value);
}

/**
 * Phone number in E.164 with its plus sign. Throws ERR_INPUT.
 * @example
 * readPhoneNumber('+260971234567'); // → '+260971234567'
 * readPhoneNumber('0971'); // throws ERR_INPUT
 */
export function readPhoneNumber(value: unknown, field = 'phoneNumber'): string {
  if (typeof value === 'string' && E164.test(value)) return value;
  throw refusal(field, 'E.164: +, then 7 to 15 digits that do not start with 0', value);
}

/**
 * Phone number with or without the plus sign, as many gateways send it; returns E.164. Throws ERR_INPUT.
 * @example
 * readMsisdn('260971234567', 'from'); // → '+260971234567'
 */
export function readMsisdn(value: unknown, field: string): string {
  const digits = typeof value === 'string' ? MSISDN.exec(value)?.[1] : undefined;
  if (digits !== undefined) return `+${digits}`;
  throw refusal(field, '7 to 15 digits in international form that do not start with 0', value);
}

/**
 * User input: at most 182 characters as sent; removes control characters. Throws ERR_INPUT.
 * @example
 * readText('1*2'); // → '1*2'
 * readText('x'.repeat(183)); // throws ERR_INPUT
 */
export function readText(value: unknown, field = 'text'): string {
  const rule = `a string of at most ${COMMON_LIMITS.ussdTextChars} characters`;
  if (typeof value !== 'string') throw refusal(field, rule, value);
  if (exceeds(value, COMMON_LIMITS.ussdTextChars)) {
    const advice =
      'Where each request repeats all answers, ask for less in one dialogue, or let the gateway send the last answer only.';
    throw new TwinlineError('ERR_INPUT', `${refusal(field, rule, value).message} ${advice}`, { cause: TEXT_TOO_LONG });
  }
  if (PLAIN.test(value)) return value;
  if (LONE_SURROGATE.test(value)) throw refusal(field, 'well-formed Unicode', value);
  return value.replace(CONTROLS, '');
}

const TEXT_TOO_LONG = { reason: 'text-too-long' } as const;

/** Whether a request was refused because of the length of its text. */
export function isTextTooLong(error: unknown): boolean {
  return error instanceof TwinlineError && error.cause === TEXT_TOO_LONG;
}

/**
 * The service code in a dialled string, with or without the leading `*` and closing `#` (`920*1`, `*920*1#`, `*123#1#`);
 * undefined when there is none.
 * @example
 * readDialled('*123*7#'); // → '*123*7#'
 */
export function readDialled(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > COMMON_LIMITS.ussdTextChars) return undefined;
  const digits = DIALLED.exec(value)?.[1];
  return digits === undefined ? undefined : `*${digits.replaceAll('#', '*')}#`;
}

/**
 * A boolean, or its name as a string. Throws ERR_INPUT.
 * @example
 * readFlag('true', 'end'); // → true
 * readFlag('maybe', 'end'); // throws ERR_INPUT
 */
export function readFlag(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  throw refusal(field, 'true or false', value);
}

/**
 * The network's name, to spread into a request. An invalid name is dropped, because nothing depends on it.
 * @example
 * readNetwork('MTN'); // → { network: 'MTN' }
 */
export function readNetwork(value: unknown): { network?: string } {
  return typeof value === 'string' && NETWORK.test(value) ? { network: value } : {};
}

/**
 * The IMSI of the SIM card, to spread into a request. Invalid values are dropped, because gateways fill the field freely.
 * @example
 * readImsi('645010000000001'); // → { imsi: '645010000000001' }
 * readImsi(''); // → {}
 */
export function readImsi(value: unknown): { imsi?: string } {
  return typeof value === 'string' && IMSI.test(value) ? { imsi: value } : {};
}

// Counts code points, as people and JSON Schema do: an emoji is one character but two UTF-16 units.
function exceeds(value: string, limit: number): boolean {
  if (value.length <= limit) return false;
  if (value.length > 2 * limit) return true;
  let characters = 0;
  for (const _ of value) characters++;
  return characters > limit;
}
