// Arkesel (Ghana): JSON, latest input, and a flag on new sessions, whose input is the dialled string.
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

const ECHOED = ['sessionID', 'userID', 'msisdn'];

function read(raw: RawRequest): UssdRequest {
  const fields = readFields(raw.body);
  const fresh = readFlag(fields.newSession, 'newSession');
  const text = readText(fields.userData, 'userData');
  return {
    sessionId: readSessionId(fields.sessionID, 'sessionID'),
    serviceCode: (fresh && readDialled(text)) || '',
    phoneNumber: readMsisdn(fields.msisdn, 'msisdn'),
    text: fresh ? '' : text,
    event: 'turn',
    mode: 'latest',
    fresh,
    ...readNetwork(fields.network),
    echo: readEcho(fields, ECHOED),
  };
}

/** The dialect of Arkesel. */
export const arkesel: Adapter = {
  name: 'arkesel',
  routes: [{ method: 'POST', path: '' }],
  read,
  ...echoingReplies(ECHOED, ({ kind, text }) => ({ message: text, continueSession: kind === 'continue' })),
};
