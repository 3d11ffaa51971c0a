// What the services that come with Twinline take and answer: for lint, proposals and documentation. Tests call the services with
// the examples.

import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';
import { type DocumentedService, HTTP_CONTRACTS } from './http-contracts.ts';

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
  'caller.forget': {
    doc: 'Forgets what the flow that was dialled keeps of its caller, in all variables with `keep`. Variables of this session stay as they are: set them to null, or they are kept again when they change.',
    input: {},
    answer: {
      ok: { kind: 'boolean', about: 'always true' },
      forgotten: { kind: 'boolean', about: 'whether anything was kept' },
    },
    errors: { ERR_INPUT: 'the session has no phone number', ERR_STORE: 'the store of documents does not answer' },
    examples: [
      {
        title: 'nothing was kept',
        phoneNumber: ANN,
        with: {},
        gives: { answer: { ok: true, forgotten: false } },
      },
      { title: 'a chat has no phone number', with: {}, gives: { fails: 'ERR_INPUT' } },
    ],
  },
  ...HTTP_CONTRACTS,
};
