// The account services for flows: `account.exists`, `account.create`, `account.verifyPin`, `account.changePin`.

import { COMMON_LIMITS } from '../common-limits.ts';
import type { Service, ServiceCall, Services } from '../engine/service.ts';
import { TwinlineError } from '../errors.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { Accounts } from './account.ts';
import { ACCOUNT_LIMITS } from './limits.ts';

export interface AccountServicesOptions {
  /** Accounts of simulated phones. @default the callers' accounts */
  readonly simulated?: Accounts;
}

/**
 * The account services. Input: `phone` (or `phoneNumber`, `msisdn`; default: the caller's own), `pin`, `newPin`, `name`
 * (at most ACCOUNT_LIMITS.accountNameChars), `lang`. Every result has `ok`, so that a flow can branch on it:
 * - exists: `{ok:true, exists}`
 * - create: `{ok:true, created:true, customerId}` or `{ok:false, created:false, reason:"exists"|"weak-pin"|"bad-pin"}`
 * - verifyPin: `{ok:true, customerId, name, lang, simChanged?}` or `{ok:false, reason:"wrong", remaining}` or
 *   `{ok:false, reason:"locked", lockedUntil?, minutes?}`; `simChanged:true` when the number has a new SIM
 * - changePin: `{ok:true, changed:true}` or `{ok:false, changed:false, …}` with a reason as above, `weak-pin`, `bad-pin` or
 *   `sim-changed`
 *
 * Malformed input rejects with ERR_INPUT, which names the field but never its value.
 */
export function accountServices(
  callers: Accounts,
  { simulated: simulatedAccounts = callers }: AccountServicesOptions = {},
): Services {
  const service = (name: string, act: Act): Service => {
    // Async, so that bad input rejects instead of throwing synchronously.
    return async (input, call) => {
      const read = reader(name, input, call);
      return act(read, {
        accounts: call.session.simulated ? simulatedAccounts : callers,
        idempotencyKey: call.idempotencyKey,
      });
    };
  };
  return {
    'account.exists': service('account.exists', async (read, { accounts }) => {
      return { ok: true, exists: await accounts.exists(read.phone()) };
    }),
    'account.create': service('account.create', async (read, { accounts, idempotencyKey }) => {
      const name = read.optional('name', cleanName);
      const lang = read.optional('lang', cleanLanguage);
      const profile = { ...(name !== undefined && { name }), ...(lang !== undefined && { lang }) };
      const [phone, pin] = [read.phone(), read.digits('pin')];
      const outcome = await accounts.create({ phone, pin, idempotencyKey, sim: read.sim(phone), ...profile });
      return { ok: outcome.created, ...outcome };
    }),
    'account.verifyPin': service('account.verifyPin', (read, { accounts, idempotencyKey }) => {
      const [phone, pin] = [read.phone(), read.digits('pin')];
      return accounts.verifyPin({ phone, pin, idempotencyKey, sim: read.sim(phone) });
    }),
    'account.changePin': service('account.changePin', async (read, { accounts, idempotencyKey }) => {
      const [phone, pin, newPin] = [read.phone(), read.digits('pin'), read.digits('newPin')];
      const outcome = await accounts.changePin({ phone, pin, newPin, idempotencyKey, sim: read.sim(phone) });
      return { ok: outcome.changed, ...outcome };
    }),
  };
}

interface InputReader {
  phone(): string;
  /** Text entered as a PIN; the accounts decide whether it is one. */
  digits(field: string): string;
  optional(field: string, parse: (text: string) => string | undefined): string | undefined;
  /** The caller's SIM, when `phone` is the number they call from. */
  sim(phone: string): string | undefined;
}

type Act = (read: InputReader, call: { readonly accounts: Accounts; readonly idempotencyKey: string }) => Promise<Json>;

const PHONE_FIELDS = ['phone', 'phoneNumber', 'msisdn'];

function reader(service: string, input: JsonObject, { session }: ServiceCall): InputReader {
  const refuse = (field: string, why: string) =>
    new TwinlineError('ERR_INPUT', `${service}: "${field}" ${why}. Change the "with" of the screen that calls it.`);
  // An unset variable arrives as null.
  const text = (field: string): string | undefined => {
    const value = Object.hasOwn(input, field) ? (input[field] ?? undefined) : undefined;
    if (value !== undefined && typeof value !== 'string')
      throw refuse(field, `must be a string, not ${nameKind(value)}`);
    return value;
  };
  return {
    phone: () => {
      const field = PHONE_FIELDS.find((name) => text(name) !== undefined);
      const value = field === undefined ? session.phoneNumber : text(field);
      if (value === undefined) throw refuse('phone', 'is missing, and this session has no phone number of its own');
      const phone = readPhone(value);
      if (phone === undefined) throw refuse(field ?? 'phone', 'must be an international number such as +263771234567');
      return phone;
    },
    digits: (field) => {
      const value = text(field);
      if (value === undefined) throw refuse(field, 'is missing');
      if (value.length > COMMON_LIMITS.ussdTextChars)
        throw refuse(field, `is longer than ${COMMON_LIMITS.ussdTextChars} characters`);
      return value;
    },
    optional: (field, parse) => {
      const value = text(field);
      const parsed = value === undefined ? '' : parse(value);
      if (parsed === undefined) throw refuse(field, RULES[field] ?? 'is malformed');
      return value === undefined ? undefined : parsed;
    },
    sim: (phone) => (phone === session.phoneNumber ? session.sim : undefined),
  };
}

/** E.164 with its plus sign, which MSISDNs often omit; undefined when it is not an international number. */
export function readPhone(text: string): string | undefined {
  const digits = /^\+?([1-9][0-9]{4,14})$/.exec(text)?.[1];
  return digits === undefined ? undefined : `+${digits}`;
}

const RULES: Readonly<Record<string, string>> = {
  name: `must have at most ${ACCOUNT_LIMITS.accountNameChars} characters`,
  lang: 'must be a language tag such as en or sn-ZW',
};

// Control characters, bidi marks and lone surrogates could forge screens and log lines.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function cleanName(text: string): string | undefined {
  const name = text.normalize('NFC').replace(UNPRINTABLE, '').trim();
  return [...name].length <= ACCOUNT_LIMITS.accountNameChars ? name : undefined;
}

function cleanLanguage(text: string): string | undefined {
  return /^[a-z]{2,8}(-[a-z0-9]{1,8}){0,3}$/i.test(text) ? text : undefined;
}

function nameKind(value: Json): string {
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
