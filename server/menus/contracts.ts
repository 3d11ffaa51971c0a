// What the services that come with Twinline take and answer: for lint, proposals and documentation.

import type { ServiceContract } from '../../lib/flow/lint/shapes.ts';

const PHONE = {
  phone: { kind: 'text', about: 'E.164 with +; without it the caller’s own number' },
  phoneNumber: { kind: 'text', about: 'the same' },
  msisdn: { kind: 'text', about: 'the same' },
} as const;
const PIN = { kind: 'text', about: 'digits; of a secret variable', required: true } as const;
const REFUSED = { reason: 'text', remaining: 'number', lockedUntil: 'number', minutes: 'number' } as const;
const HTTP = {
  url: { kind: 'text', about: 'an address of SERVICE_HTTP_HOSTS', required: true },
  query: { kind: 'object', about: 'parameters; null ones are left out, lists repeat the name' },
  headers: { kind: 'object', about: 'headers by name' },
} as const;
const HTTP_ANSWER = { status: 'number', body: 'any' } as const;

/** By the name of the service. */
export const CONTRACTS: { readonly [service: string]: ServiceContract } = {
  'account.exists': { input: PHONE, answer: { ok: 'boolean', exists: 'boolean' } },
  'account.create': {
    input: {
      ...PHONE,
      pin: PIN,
      name: { kind: 'text', about: 'of the owner' },
      lang: { kind: 'text', about: 'the language that the owner reads' },
    },
    answer: { ok: 'boolean', created: 'boolean', customerId: 'text', reason: 'text' },
  },
  'account.verifyPin': {
    input: { ...PHONE, pin: PIN },
    answer: { ok: 'boolean', customerId: 'text', name: 'text', lang: 'text', simChanged: 'boolean', ...REFUSED },
  },
  'account.changePin': {
    input: { ...PHONE, pin: PIN, newPin: PIN },
    answer: { ok: 'boolean', changed: 'boolean', ...REFUSED },
  },
  'http.get': { input: HTTP, answer: HTTP_ANSWER },
  'http.post': { input: { ...HTTP, body: { kind: 'any', about: 'any JSON' } }, answer: HTTP_ANSWER },
};
