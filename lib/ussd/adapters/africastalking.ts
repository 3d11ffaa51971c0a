// Africa's Talking and its many lookalikes: form or JSON in, CON or END out. Also the plain endpoint.
import type { Adapter } from '../adapter.ts';
import { readFields, type UssdFields } from '../fields.ts';
import { conEnd } from '../reply.ts';
import {
  type RawRequest,
  readNetwork,
  readPhoneNumber,
  readServiceCode,
  readSessionId,
  readText,
  type TextMode,
  type UssdRequest,
} from '../request.ts';

const ENDINGS = ['durationInMillis', 'hopsCount', 'lastAppResponse'];

// An end-of-session notification has no text, but a status and details of the session.
function isOver(fields: UssdFields): boolean {
  return fields.text === undefined && fields.status !== undefined && ENDINGS.some((name) => fields[name] !== undefined);
}

// Some notifications name neither phone nor code. Then the sender must prove knowledge of the last screen.
function readEnd(fields: UssdFields): Omit<UssdRequest, 'mode'> {
  const { phoneNumber, serviceCode, lastAppResponse } = fields;
  const lastReply = typeof lastAppResponse === 'string' ? lastAppResponse : '';
  return {
    sessionId: readSessionId(fields.sessionId),
    serviceCode: serviceCode === undefined ? '' : readServiceCode(serviceCode),
    phoneNumber: phoneNumber === undefined ? '' : readPhoneNumber(phoneNumber),
    text: '',
    event: 'end',
    ...(phoneNumber === undefined && { lastReply }),
    ...readNetwork(fields.networkCode),
  };
}

/** The dialect with `{sessionId, serviceCode, phoneNumber, text}`; further fields are ignored. */
export function africasTalking(mode: TextMode): Adapter {
  function read(raw: RawRequest): UssdRequest {
    const fields = readFields(raw.body);
    if (isOver(fields)) return { ...readEnd(fields), mode };
    return {
      sessionId: readSessionId(fields.sessionId),
      serviceCode: readServiceCode(fields.serviceCode),
      phoneNumber: readPhoneNumber(fields.phoneNumber),
      text: readText(fields.text),
      event: 'turn',
      mode,
      ...readNetwork(fields.networkCode),
    };
  }
  return { name: 'africastalking', routes: [{ method: 'POST', path: '' }], read, write: conEnd, refuse: conEnd };
}
