// Hubtel (Ghana), Programmable Services: JSON, latest input, message numbers, and end-of-session notices.
import type { Adapter, RawReply, UssdReply } from '../adapter.ts';
import { readEcho, readFields, salvageFields, type UssdFields } from '../fields.ts';
import { jsonReply } from '../reply.ts';
import {
  type RawRequest,
  readDialled,
  readMsisdn,
  readNetwork,
  readSessionId,
  readText,
  refusal,
  type UssdRequest,
} from '../request.ts';

// Hubtel's documentation and gateways differ in the case of these words.
const TYPES: Readonly<Record<string, { event: UssdRequest['event']; fresh: boolean }>> = {
  initiation: { event: 'turn', fresh: true },
  response: { event: 'turn', fresh: false },
  timeout: { event: 'end', fresh: false },
  release: { event: 'end', fresh: false },
};

function read(raw: RawRequest): UssdRequest {
  const fields = readFields(raw.body);
  const type = typeof fields.Type === 'string' ? fields.Type.toLowerCase() : '';
  const kind = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (!kind) throw refusal('Type', 'Initiation, Response, Timeout or Release', fields.Type);
  // ServiceCode (`713`, `711*2`) is in every message and so binds the session; the first Message repeats it.
  const serviceCode = readDialled(fields.ServiceCode) ?? readServiceId(fields);
  const answers = kind.event === 'turn' && !kind.fresh;
  return {
    sessionId: readSessionId(fields.SessionId, 'SessionId'),
    serviceCode,
    phoneNumber: readMsisdn(fields.Mobile, 'Mobile'),
    text: answers ? readText(fields.Message, 'Message') : '',
    event: kind.event,
    mode: 'latest',
    fresh: kind.fresh,
    ...readSequence(fields.Sequence),
    ...readNetwork(fields.Operator),
  };
}

// Hubtel's app, mall and points of sale send the id of the service instead (`b230733cd56b4a0fad820e39f66bc27c`).
function readServiceId(fields: UssdFields): string {
  const { ServiceCode: id } = fields;
  if (isPhoneNetwork(fields)) throw refusal('ServiceCode', 'digits joined by *', id);
  if (typeof id === 'string' && /^\w{1,64}$/.test(id)) return id;
  throw refusal('ServiceCode', 'digits joined by *, or a service id of 1 to 64 letters and digits', id);
}

const NETWORKS = /^(?:mtn|vodafone|telecel|airtel|tigo|airteltigo|at|glo|expresso)\b/i;

// Requests that do not name their origin come from phones.
function isPhoneNetwork({ Operator, Platform }: UssdFields): boolean {
  if (typeof Platform === 'string' && Platform !== '') return /^ussd$/i.test(Platform);
  return typeof Operator !== 'string' || Operator === '' || NETWORKS.test(Operator);
}

// An integer in Hubtel's reference, a string in its samples, absent from some simulators.
function readSequence(value: unknown): { turnId?: string } {
  if (value === undefined || value === null || value === '') return {};
  if (Number.isSafeInteger(value)) return { turnId: String(value) };
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return { turnId: value };
  throw refusal('Sequence', 'a whole number', value);
}

// Label, DataType and FieldType are for Hubtel's app and web channels, yet mandatory.
function answer(reply: UssdReply, sessionId: string): RawReply {
  const goesOn = reply.kind === 'continue';
  return jsonReply({
    SessionId: sessionId,
    Type: goesOn ? 'Response' : 'Release',
    Message: reply.text,
    Label: 'USSD',
    ClientState: '',
    DataType: goesOn ? 'input' : 'display',
    FieldType: 'text',
  });
}

/** The dialect of Hubtel. */
export const hubtel: Adapter = {
  name: 'hubtel',
  routes: [{ method: 'POST', path: '' }],
  read,
  write: (reply, request) => answer(reply, request.sessionId),
  refuse: (reply, raw) => answer(reply, readEcho(salvageFields(raw.body), ['SessionId']).SessionId ?? ''),
};
