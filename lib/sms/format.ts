// What gateways of SMS get and answer, as data: one form for all of them, and the formats of the common ones in it.

import { isObject } from '../given.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { parsePointer } from '../json/patch.ts';

/** The format of a gateway: what its request holds, and what its answer says. */
export interface SmsFormat {
  /** The request is a form or JSON. */
  readonly type: 'form' | 'json';
  /**
   * The fields of the request. In their texts `{to}` is the number with `+`, `{digits}` the same without, `{text}` the message,
   * `{from}` the sender and `{key}` the same for every try. What holds a value that is missing is left out.
   */
  readonly body: JsonObject;
  /** JSON pointer to the id of the message in the answer. @default the answer is not read */
  readonly id?: string;
  /** JSON pointer to a status in the answer. @default every answer of 2xx accepts the message */
  readonly status?: string;
  /** The statuses that accept the message. */
  readonly accepted?: readonly (string | number)[];
  /** The statuses after which the same may be tried again. @default none */
  readonly busy?: readonly (string | number)[];
}

/** Formats by name. */
export const SMS_FORMATS = {
  json: { type: 'json', body: { to: '{to}', text: '{text}', from: '{from}' }, id: '/id' },
  africastalking: {
    type: 'form',
    body: { to: '{to}', message: '{text}', from: '{from}' },
    id: '/SMSMessageData/Recipients/0/messageId',
    status: '/SMSMessageData/Recipients/0/statusCode',
    accepted: [100, 101, 102],
    busy: [500, 501],
  },
  twilio: { type: 'form', body: { To: '{to}', Body: '{text}', From: '{from}' }, id: '/sid' },
  infobip: {
    type: 'json',
    body: { messages: [{ sender: '{from}', destinations: [{ to: '{digits}' }], content: { text: '{text}' } }] },
    id: '/messages/0/messageId',
    status: '/messages/0/status/groupName',
    accepted: ['PENDING', 'DELIVERED'],
  },
} as const satisfies { readonly [name: string]: SmsFormat };

const KEYS = ['type', 'body', 'id', 'status', 'accepted', 'busy'];

/** The format by its name or as it is; undefined when it is none. */
export function readSmsFormat(format: unknown): SmsFormat | undefined {
  if (typeof format === 'string')
    return Object.hasOwn(SMS_FORMATS, format) ? SMS_FORMATS[format as keyof typeof SMS_FORMATS] : undefined;
  if (!isObject(format)) return undefined;
  const { type, body, id, status, accepted, busy } = format;
  const isPointer = (value: unknown) =>
    value === undefined || (typeof value === 'string' && parsePointer(value) !== undefined);
  const isStatuses = (value: unknown) =>
    Array.isArray(value) && value.every((one) => typeof one === 'string' || typeof one === 'number');
  const isSound =
    (type === 'form' || type === 'json') &&
    isObject(body) &&
    (type === 'json' || Object.values(body).every((value) => typeof value !== 'object')) &&
    isPointer(id) &&
    isPointer(status) &&
    (status === undefined) === (accepted === undefined) &&
    (accepted === undefined || isStatuses(accepted)) &&
    (busy === undefined || isStatuses(busy)) &&
    Object.keys(format).every((key) => KEYS.includes(key));
  return isSound ? (format as unknown as SmsFormat) : undefined;
}

/** What the places of a format stand for. */
export interface SmsValues {
  readonly to: string;
  readonly digits: string;
  readonly text: string;
  readonly key: string;
  readonly from?: string | undefined;
}

const PLACE = /\{(to|digits|text|from|key)\}/g;

/** The fields with these values in their places; undefined where one is missing. */
export function fillIn(value: Json, values: SmsValues): Json | undefined {
  if (typeof value === 'string') {
    const names = [...value.matchAll(PLACE)].map(([, name]) => name as keyof SmsValues);
    return names.some((name) => values[name] === undefined)
      ? undefined
      : value.replace(PLACE, (_, name: keyof SmsValues) => values[name]!);
  }
  if (Array.isArray(value)) return value.flatMap((item) => fillIn(item, values) ?? []);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, part]) => [name, fillIn(part as Json, values)] as const);
  return Object.fromEntries(fields.filter(([, part]) => part !== undefined)) as JsonObject;
}
