// The contracts of the services that call others over HTTP, and what a contract is.

import type { ErrorCode } from '../../lib/errors.ts';
import { FLOW_LIMITS } from '../../lib/flow/limits.ts';
import type { ContractFields, ServiceContract } from '../../lib/flow/lint/shapes.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';

/** One call and what comes of it. */
export interface ServiceExample {
  /** What the case is: `the PIN is wrong`. */
  readonly title: string;
  /** Calls that were made before it, in order; `times` each, once without it. */
  readonly after?: readonly { readonly service: string; readonly with: JsonObject; readonly times?: number }[];
  /** Of the session that calls. @default none */
  readonly phoneNumber?: string;
  readonly with: JsonObject;
  /** What the other side of an HTTP call gets, and what it answers. */
  readonly http?: { readonly request: string; readonly status: number; readonly answer: Json };
  readonly gives: { readonly answer: Json } | { readonly fails: ErrorCode };
}

export interface DocumentedService extends ServiceContract {
  readonly answer: ContractFields;
  /** When `fail` is taken, by the code of the error. */
  readonly errors: { readonly [code in ErrorCode]?: string };
  readonly examples: readonly ServiceExample[];
}

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
const ASKED = { input: HTTP, answer: HTTP_ANSWER, errors: HTTP_ERRORS } as const;
const SENT = { ...ASKED, input: { ...HTTP, body: { kind: 'any', about: 'any JSON' } } } as const;

/** By the name of the service. */
export const HTTP_CONTRACTS: { readonly [service: string]: DocumentedService } = {
  'http.get': {
    doc: 'Asks another server over HTTP.',
    ...ASKED,
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
    ...SENT,
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
    ...SENT,
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
    ...SENT,
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
    ...ASKED,
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
  'sms.send': {
    doc: `Sends an SMS by the gateway of SMS_URL. A text of more than ${FLOW_LIMITS.smsSeptets} characters, or ${FLOW_LIMITS.smsUcs2Units} when one of them is not in the alphabet of phones, is sent in parts, at most ${FLOW_LIMITS.smsParts}. A simulated phone sends none.`,
    input: {
      text: { kind: 'text', about: 'what the SMS says', required: true },
      to: { kind: 'text', about: 'E.164 with +; without it the caller’s own number' },
      from: { kind: 'text', about: 'the sender, instead of SMS_FROM' },
    },
    answer: {
      id: { kind: 'text', about: 'by which the gateway knows the message; null when it says none' },
      encoding: { kind: 'text', about: '`gsm7`, or `ucs2` when a character is not in GSM 7-bit' },
      parts: { kind: 'number', about: 'messages that are sent, and paid for' },
    },
    errors: {
      ERR_INPUT: `the number is none, or the text is empty or takes more than ${FLOW_LIMITS.smsParts} parts`,
      ERR_SERVICE:
        'the gateway does not accept the message, or there is none. `retry` tries again after 5xx, 429 and broken connections',
      ERR_TIMEOUT: 'there was no answer within `timeout`: the message may have been sent',
    },
    examples: [
      {
        title: 'the gateway takes it',
        with: { to: '+260971230001', text: 'We come for 3 bags.' },
        http: {
          request: 'POST /sms {"to":"+260971230001","text":"We come for 3 bags."}',
          status: 200,
          answer: { id: 'm-17' },
        },
        gives: { answer: { id: 'm-17', encoding: 'gsm7', parts: 1 } },
      },
      {
        title: 'it refuses',
        with: { to: '+260971230001', text: 'Hello' },
        http: { request: 'POST /sms {"to":"+260971230001","text":"Hello"}', status: 402, answer: null },
        gives: { fails: 'ERR_SERVICE' },
      },
      { title: 'the number is none', with: { to: '0971', text: 'Hello' }, gives: { fails: 'ERR_INPUT' } },
    ],
  },
};
