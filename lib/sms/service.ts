// The service `sms.send`: one message, by a gateway over HTTP.

import type { Service, ServiceCall, Services } from '../engine/service.ts';
import { TwinlineError } from '../errors.ts';
import { FLOW_LIMITS } from '../flow/limits.ts';
import { measureSms } from '../flow/run/sms-parts.ts';
import { type HttpRequest, httpExchange, httpFailure } from '../http/client.ts';
import { parseHosts } from '../http/host-list.ts';
import { guardedLookup, type Resolve, systemResolve } from '../http/hosts.ts';
import { type HeadersByOrigin, originHeaders } from '../http/service.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { childAt, isContainer, parsePointer } from '../json/patch.ts';
import { fillIn, type SmsFormat } from './format.ts';

/** The gateway of `sms.send`. */
export interface SmsGateway {
  readonly url: string;
  readonly format: SmsFormat;
  /** The sender of messages that name none. @default the gateway's own */
  readonly from?: string | undefined;
  /** Further fields of each request, such as a user name. */
  readonly fields?: JsonObject | undefined;
  /** Headers by origin, for credentials: see `httpServices`. */
  readonly headers?: HeadersByOrigin | undefined;
  /** Resolves a host name to all its addresses. @default the system resolver */
  readonly lookup?: Resolve;
}

/**
 * The service `sms.send`. Input: `{text, to?, from?}`; `to` is an international number, @default the caller's own. Output:
 * `{id, encoding, parts}`, where `id` is the gateway's, or null when it says none. A simulated phone sends nothing: its id is null.
 *
 * Rejects with ERR_INPUT for a number or text that is none, and a text of more than FLOW_LIMITS.smsParts parts; with ERR_SERVICE without a
 * gateway, and when that does not accept the message; with ERR_TIMEOUT when the call's signal aborts. The `retry` of an ERR_SERVICE is
 * true for 5xx, 429, broken connections and the format's busy statuses. Every try of a call has the same `Idempotency-Key`. Messages
 * show neither number nor text. Throws ERR_CONFIG for a host that is none.
 */
export function smsServices(gateway: SmsGateway | undefined): Services {
  return { 'sms.send': gateway ? sender(gateway) : refuseToSend };
}

const refuseToSend: Service = async () => {
  const problem = new TwinlineError('ERR_SERVICE', 'Cannot send an SMS: there is no gateway. Set SMS_URL.');
  throw Object.defineProperty(problem, 'retry', { value: false });
};

function sender({ lookup: resolve = systemResolve, headers = {}, ...gateway }: SmsGateway): Service {
  const url = new URL(gateway.url);
  const reach = parseHosts([url.host])(url)!;
  const exchange = httpExchange();
  const addHeaders = originHeaders(headers);
  return async (input, call) => {
    const { to, text, from } = readInput(input, call);
    const size = measureSms(text);
    if (size.parts > FLOW_LIMITS.smsParts)
      throw fail(`its text takes ${size.parts} messages, and may take ${FLOW_LIMITS.smsParts}`);
    // Nobody has shown that the number is theirs.
    if (call.session.simulated) return { id: null, ...size };
    const values = { to, digits: to.slice(1), text, key: call.idempotencyKey, from: from ?? gateway.from };
    const request = addHeaders(
      buildRequest({ ...gateway, url }, { ...gateway.fields, ...fillBody(gateway.format, values) }, call),
    );
    const answer = await exchange(request, { lookup: guardedLookup(resolve, reach), signal: call.signal });
    return { id: readAnswer(request, gateway.format, answer.text), ...size };
  };
}

const fillBody = ({ body }: SmsFormat, values: Parameters<typeof fillIn>[1]) => fillIn(body, values) as JsonObject;

const fail = (problem: string) => new TwinlineError('ERR_INPUT', `Cannot send an SMS: ${problem}.`);

const NUMBER = /^\+?([1-9]\d{6,14})$/;
const FIELDS = ['to', 'text', 'from'];

function readInput(input: JsonObject, { session }: ServiceCall) {
  const unknown = Object.keys(input).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw fail(`its input has no field "${unknown}". It takes ${FIELDS.join(', ')}`);
  const { to = session.phoneNumber ?? null, text, from } = input;
  const [, digits] = (typeof to === 'string' && NUMBER.exec(to)) || [];
  if (digits === undefined) throw fail('"to" is no international phone number such as +260971230001');
  if (typeof text !== 'string' || text.trim() === '') throw fail('"text" is not a text, or empty');
  if (from !== undefined && from !== null && typeof from !== 'string') throw fail('"from" is not a text');
  return { to: `+${digits}`, text, from: from ?? undefined };
}

function buildRequest(
  { url, format }: { readonly url: URL; readonly format: SmsFormat },
  fields: JsonObject,
  call: ServiceCall,
): HttpRequest {
  const isForm = format.type === 'form';
  const pairs = Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]);
  const body = isForm ? new URLSearchParams(pairs).toString() : JSON.stringify(fields);
  const headers = {
    accept: 'application/json',
    'user-agent': 'twinline',
    'accept-encoding': 'identity',
    'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'idempotency-key': call.idempotencyKey,
  };
  return { method: 'POST', url, headers, body };
}

// The id that the gateway gave the message.
function readAnswer(request: HttpRequest, format: SmsFormat, text: string): Json {
  const answer = readJson(text);
  if (format.status !== undefined) {
    const status = readAt(answer, format.status);
    const isAmong = (list: readonly (string | number)[] = []) => list.some((one) => String(one) === String(status));
    if (!isAmong(format.accepted)) {
      const words = ['string', 'number'].includes(typeof status)
        ? `with the status ${String(status).slice(0, 40)}`
        : 'without a status';
      throw httpFailure(request, `did not accept the message: it answered ${words}`, { retry: isAmong(format.busy) });
    }
  }
  const id = format.id === undefined ? undefined : readAt(answer, format.id);
  return typeof id === 'string' || typeof id === 'number' ? String(id) : null;
}

function readJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function readAt(value: Json | undefined, pointer: string): Json | undefined {
  const read = (part: Json | undefined, step: string) => (isContainer(part) ? childAt(part, step) : undefined);
  return (parsePointer(pointer) ?? []).reduce(read, value);
}
