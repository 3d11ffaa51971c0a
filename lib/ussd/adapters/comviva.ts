// Comviva Flares HTTP Pull, as run by Airtel: a GET per input, plain text out, and a header that says whether to continue.
import type { Adapter, RawReply, UssdReply } from '../adapter.ts';
import { PLAIN_TYPE } from '../reply.ts';
import {
  type RawRequest,
  readDialled,
  readMsisdn,
  readSessionId,
  readText,
  refusal,
  type UssdRequest,
} from '../request.ts';

function read(raw: RawRequest): UssdRequest {
  const over = single(raw.query, 'clean') !== undefined;
  // The clean-up call spells this name in lower case.
  const phoneNumber = readMsisdn(single(raw.query, 'MSISDN') ?? single(raw.query, 'msisdn'), 'MSISDN');
  const text = over ? '' : readText(single(raw.query, 'input'), 'input');
  const dialled = over ? undefined : readDialled(text);
  return {
    // Flares does not guarantee a session id; without one, a phone has one session at a time.
    sessionId: readSessionId(single(raw.query, 'SessionID') ?? phoneNumber, 'SessionID'),
    serviceCode: '',
    phoneNumber,
    text,
    event: over ? 'end' : 'turn',
    mode: 'latest',
    // Nothing marks the first input, which is the dialled code, usually bare: `121` or `167*7`.
    ...(dialled !== undefined && { dialled }),
  };
}

function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw refusal(name, 'present once', values);
  return values[0];
}

function answer(reply: UssdReply): RawReply {
  return {
    status: 200,
    type: PLAIN_TYPE,
    headers: { Freeflow: reply.kind === 'continue' ? 'FC' : 'FB', charge: 'N', amount: '0' },
    body: reply.text,
  };
}

/** The dialect of Comviva Flares (Airtel). */
export const comviva: Adapter = {
  name: 'comviva',
  routes: [{ method: 'GET', path: '' }],
  read,
  write: answer,
  refuse: answer,
};
