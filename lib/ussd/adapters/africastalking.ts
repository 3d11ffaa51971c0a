// Africa's Talking and its many likenesses: form or JSON in, CON or END out. Also the plain endpoint.
import type { Adapter } from '../adapter.ts';
import { conEnd } from '../reply.ts';
import {
  type RawRequest,
  readFields,
  readNetwork,
  readPhoneNumber,
  readServiceCode,
  readSessionId,
  readText,
  type TextMode,
  type UssdRequest,
} from '../request.ts';

/** The dialect of `{sessionId, serviceCode, phoneNumber, text}`; unknown further fields are ignored. */
export function africasTalking(mode: TextMode): Adapter {
  function read(raw: RawRequest): UssdRequest {
    const fields = readFields(raw.body);
    // Its end-of-session notification has no text, but a status and a duration.
    const over = fields.text === undefined && fields.status !== undefined && fields.durationInMillis !== undefined;
    return {
      sessionId: readSessionId(fields.sessionId),
      serviceCode: readServiceCode(fields.serviceCode),
      phoneNumber: readPhoneNumber(fields.phoneNumber),
      text: over ? '' : readText(fields.text),
      event: over ? 'end' : 'turn',
      mode,
      ...readNetwork(fields.networkCode),
    };
  }
  return { name: 'africastalking', routes: [{ method: 'POST', path: '' }], read, write: conEnd, refuse: conEnd };
}
