// Nalo Solutions (Ghana, Nigeria): JSON with upper-case names, latest input; the first input is the dialled string.
import type { Adapter } from '../adapter.ts';
import { readEcho, readFields } from '../fields.ts';
import { echoingReplies } from '../reply.ts';
import {
  type RawRequest,
  readDialled,
  readFlag,
  readMsisdn,
  readNetwork,
  readSessionId,
  readText,
  type UssdRequest,
} from '../request.ts';

const ECHOED = ['USERID', 'MSISDN'];

function read(raw: RawRequest): UssdRequest {
  const fields = readFields(raw.body);
  // Some of their set-ups send MSGTYPE true with every message, and some omit it.
  const first = fields.MSGTYPE === undefined || readFlag(fields.MSGTYPE, 'MSGTYPE');
  const text = readText(fields.USERDATA, 'USERDATA');
  const dialled = readDialled(text);
  // So MSGTYPE alone does not start a session: the text must be a dialled string.
  const fresh = first && (text === '' || (dialled !== undefined && text.endsWith('#')));
  const phoneNumber = readMsisdn(fields.MSISDN, 'MSISDN');
  return {
    // Without a session id, a phone has one session at a time.
    sessionId: readSessionId(fields.SESSIONID ?? phoneNumber, 'SESSIONID'),
    serviceCode: (fresh && dialled) || '',
    phoneNumber,
    text: fresh ? '' : text,
    event: 'turn',
    mode: 'latest',
    fresh,
    ...(first && !fresh && dialled !== undefined && { dialled }),
    ...readNetwork(fields.NETWORK),
    echo: readEcho(fields, ECHOED),
  };
}

/** The dialect of Nalo Solutions. */
export const nalo: Adapter = {
  name: 'nalo',
  routes: [{ method: 'POST', path: '' }],
  read,
  ...echoingReplies(ECHOED, ({ kind, text }) => ({ MSG: text, MSGTYPE: kind === 'continue' })),
};
