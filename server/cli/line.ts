// The other end of a phone in the terminal: a server somewhere, or an engine in this process.

import { randomUUID } from 'node:crypto';
import { TwinlineError } from '../../lib/errors.ts';
import type { UssdReply } from '../../lib/ussd/reply.ts';
import type { Host } from '../host.ts';

export interface Phone {
  /** E.164 with `+`. */
  readonly phoneNumber: string;
  readonly serviceCode: string;
}

export interface Shown extends UssdReply {
  /** The answer to this screen is a secret. */
  readonly secret: boolean;
}

/** One session. */
export interface Call {
  /** Types an answer; '' first, to dial. */
  type(answer: string): Promise<Shown>;
}

/** Begins a new session. */
export type Line = () => Call;

/** A phone whose telecom posts to `url`, such as http://127.0.0.1:3000. Rejects with ERR_SERVICE, in words for people. */
export function lineTo(url: string, phone: Phone): Line {
  const endpoint = new URL('/api/ussd', url).href;
  return () => {
    const sessionId = `chat-${randomUUID()}`;
    let text: string | undefined;
    return {
      type: async (answer) => {
        text = text ? `${text}*${answer}` : answer;
        const reply = await post(endpoint, { sessionId, ...phone, text });
        // What a server is asking for can only be guessed.
        return { ...reply, secret: /\b(pin|password|passcode)\b/i.test(reply.text) };
      },
    };
  };
}

async function post(endpoint: string, fields: object): Promise<UssdReply> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(fields) }).catch((error) => {
    const why = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).message;
    throw new TwinlineError('ERR_SERVICE', `Cannot reach ${endpoint} (${why}). Is the server running?`);
  });
  const said = await answer.text();
  const [, word, text = ''] = /^(CON|END) ?(.*)$/s.exec(said) ?? [];
  if (word === undefined) {
    const what = `${endpoint} answered ${answer.status}, and neither CON nor END.`;
    throw new TwinlineError('ERR_SERVICE', `${what} Is this the address of a USSD server?`);
  }
  return { kind: word === 'CON' ? 'continue' : 'end', text };
}

/** A phone on an engine in this process. It sends answers one by one, so no session is too long for it. */
export function lineInside({ gateway, menus }: Host, { flow, ...phone }: Phone & { readonly flow: string }): Line {
  const screens = menus.compiled.get(flow)!.screens;
  const isSecret = (path: string | undefined): boolean => {
    const node = path === undefined ? undefined : screens.get(path);
    return node?.screen.type === 'input' && node.scope.flow.vars?.[node.screen.save]?.secret === true;
  };
  return () => {
    const sessionId = `chat-${randomUUID()}`;
    let turn = 0;
    return {
      type: async (text) => {
        const fresh = turn === 0;
        const request = {
          sessionId,
          ...phone,
          text,
          event: 'turn',
          mode: 'latest',
          fresh,
          turnId: `${turn++}`,
        } as const;
        const reply = await gateway.turn(request, 'africastalking');
        return { ...reply, secret: isSecret((await gateway.inspect(sessionId))?.state) };
      },
    };
  };
}
