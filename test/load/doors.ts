// One request per door for a load: dials that never come twice, a twin that is read, a user's sessions, a call to a node.

import { newUser } from '../server/plugins/users.ts';
import { API_KEY, PROTOCOL } from '../soak/doors.ts';
import { type RequestBytes, requestBytes } from './wire.ts';

/** Prepares what a door needs on a server; then gives its next request each time. */
export type LoadedDoor = (url: string) => Promise<() => RequestBytes>;

const JSON_TYPE = { 'content-type': 'application/json' };
let nth = 0;

export const LOADED_DOORS: { readonly [door: string]: LoadedDoor } = {
  'USSD turn': async () => () => {
    const call = {
      sessionId: `load-${++nth}`,
      serviceCode: '*2233#',
      phoneNumber: `+260${900_000_000 + nth}`,
      text: '',
    };
    return requestBytes('POST /api/ussd', JSON_TYPE, JSON.stringify(call));
  },
  '/v1 read': async (url) => {
    const headers = { ...JSON_TYPE, authorization: `Bearer ${API_KEY}` };
    const body = JSON.stringify({ type: 'Device', class: PROTOCOL, externalId: `load-${++nth}` });
    const made = await fetch(`${url}/v1/domains`, { method: 'POST', headers, body });
    const { did } = (await made.json()) as { did: string };
    const request = requestBytes(`GET /v1/domains/${encodeURIComponent(did)}`, {
      authorization: headers.authorization,
    });
    return () => request;
  },
  'agent sessions by token': async () => {
    const { headers } = await newUser();
    const request = requestBytes('GET /sessions', headers);
    return () => request;
  },
  'gateway GET': async () => () => requestBytes(`GET /grove/tree/t${++nth}`),
};
