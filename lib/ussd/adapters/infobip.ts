// Infobip: JSON, latest input; the path names the session and whether it starts, continues or has ended.
import type { Adapter, RawReply, UssdReply } from '../adapter.ts';
import { readFields } from '../fields.ts';
import { jsonReply } from '../reply.ts';
import {
  type RawRequest,
  readDialled,
  readImsi,
  readMsisdn,
  readNetwork,
  readSessionId,
  readText,
  refusal,
  type UssdRequest,
} from '../request.ts';

const NOBODY = { serviceCode: '', phoneNumber: '', text: '', mode: 'latest', fresh: false } as const;

const METHODS: Readonly<Record<string, (raw: RawRequest, sessionId: string) => UssdRequest>> = {
  start: (raw, sessionId) => {
    const fields = readFields(raw.body);
    return {
      sessionId,
      // shortCode is optional; without it, the text of the start is usually the dialled string.
      serviceCode: readDialled(fields.shortCode) ?? readDialled(fields.text) ?? '',
      phoneNumber: readMsisdn(fields.msisdn, 'msisdn'),
      text: '',
      event: 'turn',
      mode: 'latest',
      fresh: true,
      ...readNetwork(fields.ussdGwId),
      ...readImsi(fields.imsi),
    };
  },
  response: (raw, sessionId) => {
    const fields = readFields(raw.body);
    return {
      sessionId,
      serviceCode: '',
      phoneNumber: readMsisdn(fields.msisdn, 'msisdn'),
      text: readText(fields.text),
      event: 'turn',
      mode: 'latest',
      fresh: false,
      ...readNetwork(fields.ussdGwId),
      ...readImsi(fields.imsi),
    };
  },
  // Asks whether the session is alive; no screen is expected.
  status: (_raw, sessionId) => ({ ...NOBODY, sessionId, event: 'status' }),
  // The body has only an exit code and a reason, which we ignore.
  end: (_raw, sessionId) => ({ ...NOBODY, sessionId, event: 'end' }),
};

function read(raw: RawRequest): UssdRequest {
  const [head, id, method = ''] = raw.path;
  const reader = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (head !== 'session' || raw.path.length !== 3 || !reader) {
    throw refusal('the path', 'session/<id>/start, /response, /status or /end', raw.path.join('/'));
  }
  return reader(raw, readSessionId(id, 'the session id'));
}

const NOTED = { responseExitCode: 200, responseMessage: '' };

// 200 even for a refusal: with any other exit code the caller would not see the text.
function answer(reply: UssdReply): RawReply {
  return jsonReply({
    ussdMenu: reply.text,
    shouldClose: reply.kind === 'end',
    responseExitCode: 200,
    responseMessage: '',
  });
}

/** The dialect of Infobip's USSD gateway. */
export const infobip: Adapter = {
  name: 'infobip',
  routes: [
    { method: 'POST', path: '/session/:id/start' },
    { method: 'POST', path: '/session/:id/response' },
    { method: 'GET', path: '/session/:id/status' },
    { method: 'PUT', path: '/session/:id/end' },
    { method: 'POST', path: '/session/:id/end' },
  ],
  read,
  write: (reply, { event }) => {
    if (event === 'status') return jsonReply({ sessionActive: reply.kind === 'continue', ...NOTED });
    return event === 'end' ? jsonReply(NOTED) : answer(reply);
  },
  refuse: answer,
};
