// The other end of `twinline chat`: a server somewhere, or an engine in this process.

import { createAdapters } from '../../lib/ussd/adapter.ts';
import type { UssdGateway } from '../../lib/ussd/gateway.ts';
import type { UssdReply } from '../../lib/ussd/reply.ts';

export interface Phone {
  readonly phoneNumber: string;
  readonly serviceCode: string;
}

/** Sends the whole text so far and gives the screen. */
export type Line = (sessionId: string, text: string) => Promise<UssdReply>;

/** A phone whose telecom posts to `url`, such as http://127.0.0.1:3000. Rejects with words for people. */
export function lineTo(url: string, phone: Phone): Line {
  const endpoint = new URL('/api/ussd', url).href;
  return async (sessionId, text) => {
    const body = JSON.stringify({ sessionId, ...phone, text });
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    }).catch((error) => {
      throw new Error(`Cannot reach ${endpoint}: ${(error as Error).message}. Is the server running?`);
    });
    const said = await answer.text();
    const [word] = said.split(' ', 1);
    if (word !== 'CON' && word !== 'END')
      throw new Error(
        `${endpoint} answered ${answer.status} and not CON or END. Is this the address of a USSD server?`,
      );
    return { kind: word === 'CON' ? 'continue' : 'end', text: said.slice(4) };
  };
}

/** A phone on the embedded engine. */
export function lineInside(gateway: UssdGateway, phone: Phone): Line {
  const { africastalking } = createAdapters('cumulative');
  return (sessionId, text) => {
    const raw = {
      method: 'POST',
      path: [],
      query: new URLSearchParams(),
      headers: {},
      body: JSON.stringify({ sessionId, ...phone, text }),
    };
    return gateway.turn(africastalking.read(raw), africastalking.name);
  };
}
