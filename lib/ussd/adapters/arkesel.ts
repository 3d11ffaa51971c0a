// Arkesel (Ghana): JSON, latest input, a mark on new sessions, whose input is the dialled string.
import type { Adapter } from '../adapter.ts';
import { json, type RawReply, type UssdReply } from '../reply.ts';
import {
  type RawRequest,
  readDialled,
  readEcho,
  readFields,
  readFlag,
  readMsisdn,
  readNetwork,
  readSessionId,
  readText,
  salvageFields,
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

function answer(reply: UssdReply, echo: UssdRequest['echo']): RawReply {
  return json({ ...echo, message: reply.text, continueSession: reply.kind === 'continue' });
}

/** The dialect of Arkesel. */
export const arkesel: Adapter = {
  name: 'arkesel',
  routes: [{ method: 'POST', path: '' }],
  read,
  write: (reply, request) => answer(reply, request.echo),
  refuse: (reply, raw) => answer(reply, readEcho(salvageFields(raw.body), ECHOED)),
};
