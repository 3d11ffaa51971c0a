// What the services that come with Twinline take and answer: for lint, proposals and documentation. Tests call the services with
// the examples.

import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import type { ServiceContract } from '../../lib/flow/lint/shapes.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';

/** One call and what comes of it. */
export interface ServiceExample {
  /** What the case is: `the PIN is wrong`. */
  readonly title: string;
  /** Calls that were made before it, in order; `times` each, once without it. */
  readonly after?: readonly { readonly service: string; readonly with: JsonObject; readonly times?: number }[];
  readonly with: JsonObject;
  /** What the other side of an HTTP call gets, and what it answers. */
  readonly http?: { readonly request: string; readonly status: number; readonly answer: Json };
  readonly gives: { readonly answer: Json } | { readonly fails: ErrorCode };
}

export interface DocumentedService extends ServiceContract {
  /** When `fail` is taken, by the code of the error. */
  readonly errors: { readonly [code in ErrorCode]?: string };
  readonly examples: readonly ServiceExample[];
}

const PHONE = {
  phone: { kind: 'text', about: 'E.164 with +; without it the caller’s own number' },
  phoneNumber: { kind: 'text', about: 'the same as `phone`' },
  msisdn: { kind: 'text', about: 'the same as `phone`' },
} as const;
const PIN = { kind: 'text', about: 'digits; of a secret variable', required: true } as const;

const OK = { kind: 'boolean', about: 'whether it did what it was asked for' } as const;
const CUSTOMER = { kind: 'text', about: 'the id of the owner, where `ok` is true' } as const;
const REFUSED = {
  remaining: { kind: 'number', about: 'tries that are left before the account is locked, with `wrong`' },
  lockedUntil: {
    kind: 'number',
    about: 'with `locked`: when the lock ends, in milliseconds since 1970; missing where an operator must unlock',
  },
  minutes: { kind: 'number', about: 'with `locked`: minutes until then, rounded up' },
} as const;
const WRONG = '`wrong`, also for a number without an account; `locked` after too many wrong PINs';
const WEAK =
  '`bad-pin` for a PIN of another length or of other signs than digits, `weak-pin` for one that is easy to guess';

const ACCOUNT_ERRORS = {
  ERR_INPUT: 'a value of `with` is missing, no text, too long, or no phone number',
  ERR_STORE: 'the store of accounts does not answer',
} as const;
const PIN_ERRORS = {
  ...ACCOUNT_ERRORS,
  ERR_BUSY: 'too many PINs are checked at once, or many guesses are made all over; later it works',
} as const;

const HTTP = {
  url: { kind: 'text', about: 'an address of SERVICE_HTTP_HOSTS', required: true },
  query: { kind: 'object', about: 'parameters; null ones are left out, lists repeat the name' },
  headers: { kind: 'object', about: 'headers by name; credentials belong into SERVICE_HTTP_HEADERS' },
} as const;
const HTTP_ANSWER = {
  status: { kind: 'number', about: '200 to 299; any other status is an error' },
  body: { kind: 'any', about: 'the JSON of the answer, its text when it is none, or null when it is empty' },
} as const;
const HTTP_ERRORS = {
  ERR_INPUT: 'a value of `with` is missing, unknown or malformed',
  ERR_SERVICE:
    'the host is not one of SERVICE_HTTP_HOSTS, or leads to a private address; the answer is not 2xx, too large or broken. `retry` tries again after 5xx, 429 and broken connections',
  ERR_TIMEOUT: 'there was no answer within `timeout`',
} as const;

const ANN = '+260971230001';
const OPEN = { service: 'account.create', with: { phone: ANN, pin: '48291', name: 'Ann', lang: 'en' } } as const;
const GUESS = { service: 'account.verifyPin', with: { phone: ANN, pin: '60417' } } as const;

/** By the name of the service. */
export const CONTRACTS: { readonly [service: string]: DocumentedService } = {
  'account.exists': {
    doc: 'Whether a phone number has an account.',
    input: PHONE,
    answer: { ok: { kind: 'boolean', about: 'always true' }, exists: { kind: 'boolean', about: 'whether it has one' } },
    errors: ACCOUNT_ERRORS,
    examples: [
      {
        title: 'the number has an account',
        after: [OPEN],
        with: { phone: ANN },
        gives: { answer: { ok: true, exists: true } },
      },
      { title: 'it has none', with: { phone: ANN }, gives: { answer: { ok: true, exists: false } } },
      { title: 'it is no international number', with: { phone: '0971' }, gives: { fails: 'ERR_INPUT' } },
    ],
  },
  'account.create': {
    doc: `Opens an account with a PIN of ${ACCOUNT_LIMITS.pinDigitsMin} to ${ACCOUNT_LIMITS.pinDigitsMax} digits.`,
    input: {
      ...PHONE,
      pin: PIN,
      name: { kind: 'text', about: `of the owner, at most ${ACCOUNT_LIMITS.accountNameChars} characters` },
      lang: { kind: 'text', about: 'the language that the owner reads, such as en or sn-ZW' },
    },
    answer: {
      ok: OK,
      created: { kind: 'boolean', about: 'the same as `ok`' },
      customerId: CUSTOMER,
      reason: { kind: 'text', about: `why not: \`exists\`; ${WEAK}` },
    },
    errors: PIN_ERRORS,
    examples: [
      {
        title: 'the account is opened',
        with: { phone: ANN, pin: '48291', name: 'Ann', lang: 'en' },
        gives: { answer: { ok: true, created: true, customerId: 'C7K2M9QD' } },
      },
      {
        title: 'the number has an account already',
        after: [OPEN],
        with: { phone: ANN, pin: '59302' },
        gives: { answer: { ok: false, created: false, reason: 'exists' } },
      },
      {
        title: 'the PIN is easy to guess',
        with: { phone: ANN, pin: '1234' },
        gives: { answer: { ok: false, created: false, reason: 'weak-pin' } },
      },
      {
        title: 'the PIN is none',
        with: { phone: ANN, pin: '12' },
        gives: { answer: { ok: false, created: false, reason: 'bad-pin' } },
      },
      { title: 'there is no PIN', with: { phone: ANN }, gives: { fails: 'ERR_INPUT' } },
    ],
  },
  'account.verifyPin': {
    doc: `Checks a PIN. ${ACCOUNT_LIMITS.pinFailuresToLock} wrong ones in a row lock the account for some minutes.`,
    input: { ...PHONE, pin: PIN },
    answer: {
      ok: { kind: 'boolean', about: 'whether the PIN is right' },
      customerId: CUSTOMER,
      name: { kind: 'text', about: 'of the owner; empty when none was given' },
      lang: { kind: 'text', about: 'the language of the owner; null when none was given' },
      simChanged: {
        kind: 'boolean',
        about: 'true while the number has a new SIM card: ask an agent before money moves',
      },
      reason: { kind: 'text', about: `why not: ${WRONG}` },
      ...REFUSED,
    },
    errors: PIN_ERRORS,
    examples: [
      {
        title: 'the PIN is right',
        after: [OPEN],
        with: { phone: ANN, pin: '48291' },
        gives: { answer: { ok: true, customerId: 'C7K2M9QD', name: 'Ann', lang: 'en' } },
      },
      {
        title: 'the PIN is wrong',
        after: [OPEN],
        with: { phone: ANN, pin: '60417' },
        gives: { answer: { ok: false, reason: 'wrong', remaining: 2 } },
      },
      {
        title: 'it was wrong three times before',
        after: [OPEN, { ...GUESS, times: 3 }],
        with: { phone: ANN, pin: '48291' },
        gives: { answer: { ok: false, reason: 'locked', lockedUntil: 1700000900000, minutes: 15 } },
      },
      { title: 'there is no PIN', with: { phone: ANN }, gives: { fails: 'ERR_INPUT' } },
    ],
  },
  'account.changePin': {
    doc: 'Checks the PIN as `account.verifyPin` does, then sets a new one.',
    input: { ...PHONE, pin: PIN, newPin: PIN },
    answer: {
      ok: OK,
      changed: { kind: 'boolean', about: 'the same as `ok`' },
      reason: {
        kind: 'text',
        about: `why not: ${WRONG}; ${WEAK}; \`sim-changed\` while the number has a new SIM card`,
      },
      ...REFUSED,
    },
    errors: PIN_ERRORS,
    examples: [
      {
        title: 'the PIN is changed',
        after: [OPEN],
        with: { phone: ANN, pin: '48291', newPin: '59302' },
        gives: { answer: { ok: true, changed: true } },
      },
      {
        title: 'the new one is easy to guess',
        after: [OPEN],
        with: { phone: ANN, pin: '48291', newPin: '22222' },
        gives: { answer: { ok: false, changed: false, reason: 'weak-pin' } },
      },
      {
        title: 'the old one is wrong',
        after: [OPEN],
        with: { phone: ANN, pin: '60417', newPin: '59302' },
        gives: { answer: { ok: false, changed: false, reason: 'wrong', remaining: 2 } },
      },
      {
        title: 'there is no new PIN',
        after: [OPEN],
        with: { phone: ANN, pin: '48291' },
        gives: { fails: 'ERR_INPUT' },
      },
    ],
  },
  'http.get': {
    doc: 'Asks another server over HTTP.',
    input: HTTP,
    answer: HTTP_ANSWER,
    errors: HTTP_ERRORS,
    examples: [
      {
        title: 'the server answers JSON',
        with: { url: 'https://prices.example/crops', query: { crop: 'maize', day: null } },
        http: { request: 'GET /crops?crop=maize', status: 200, answer: { price: 145.5 } },
        gives: { answer: { status: 200, body: { price: 145.5 } } },
      },
      {
        title: 'it does not know what it is asked for',
        with: { url: 'https://prices.example/crops/gold' },
        http: { request: 'GET /crops/gold', status: 404, answer: null },
        gives: { fails: 'ERR_SERVICE' },
      },
      { title: 'the address is none', with: { url: 'prices' }, gives: { fails: 'ERR_INPUT' } },
    ],
  },
  'http.post': {
    doc: 'Sends JSON to another server over HTTP. Every try of one call has the same `Idempotency-Key`, so that the server can act once.',
    input: { ...HTTP, body: { kind: 'any', about: 'any JSON' } },
    answer: HTTP_ANSWER,
    errors: HTTP_ERRORS,
    examples: [
      {
        title: 'the server takes an order',
        with: { url: 'https://orders.example/orders', body: { crop: 'maize', bags: 3 } },
        http: { request: 'POST /orders {"crop":"maize","bags":3}', status: 201, answer: { id: 'o-17' } },
        gives: { answer: { status: 201, body: { id: 'o-17' } } },
      },
      {
        title: 'it is in trouble',
        with: { url: 'https://orders.example/orders', body: { crop: 'maize', bags: 3 } },
        http: { request: 'POST /orders {"crop":"maize","bags":3}', status: 503, answer: null },
        gives: { fails: 'ERR_SERVICE' },
      },
    ],
  },
  'http.put': {
    doc: 'Puts JSON in the place of what is there, as `http.post` sends it.',
    input: { ...HTTP, body: { kind: 'any', about: 'any JSON' } },
    answer: HTTP_ANSWER,
    errors: HTTP_ERRORS,
    examples: [
      {
        title: 'the server keeps it',
        with: { url: 'https://orders.example/orders/o-17', body: { bags: 4 } },
        http: { request: 'PUT /orders/o-17 {"bags":4}', status: 200, answer: { id: 'o-17' } },
        gives: { answer: { status: 200, body: { id: 'o-17' } } },
      },
      {
        title: 'there is none',
        with: { url: 'https://orders.example/orders/o-18', body: { bags: 4 } },
        http: { request: 'PUT /orders/o-18 {"bags":4}', status: 404, answer: null },
        gives: { fails: 'ERR_SERVICE' },
      },
    ],
  },
  'http.patch': {
    doc: 'Changes part of what is there, as `http.post` sends it.',
    input: { ...HTTP, body: { kind: 'any', about: 'any JSON' } },
    answer: HTTP_ANSWER,
    errors: HTTP_ERRORS,
    examples: [
      {
        title: 'the server changes it',
        with: { url: 'https://orders.example/orders/o-17', body: { bags: 5 } },
        http: { request: 'PATCH /orders/o-17 {"bags":5}', status: 200, answer: null },
        gives: { answer: { status: 200, body: null } },
      },
      {
        title: 'there is none',
        with: { url: 'https://orders.example/orders/o-18', body: { bags: 5 } },
        http: { request: 'PATCH /orders/o-18 {"bags":5}', status: 404, answer: null },
        gives: { fails: 'ERR_SERVICE' },
      },
    ],
  },
  'http.delete': {
    doc: 'Removes what is there; with an `Idempotency-Key`, as `http.post`.',
    input: HTTP,
    answer: HTTP_ANSWER,
    errors: HTTP_ERRORS,
    examples: [
      {
        title: 'the server removes it',
        with: { url: 'https://orders.example/orders/o-17' },
        http: { request: 'DELETE /orders/o-17', status: 204, answer: null },
        gives: { answer: { status: 204, body: null } },
      },
      {
        title: 'there is none',
        with: { url: 'https://orders.example/orders/o-18' },
        http: { request: 'DELETE /orders/o-18', status: 404, answer: null },
        gives: { fails: 'ERR_SERVICE' },
      },
    ],
  },
};
