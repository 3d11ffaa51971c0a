// A phone for tests: dials a server over HTTP as a telecom gateway does, with cumulative text.

import { Agent, request } from 'node:http';
import { noteTyped } from './told-secrets.ts';

export interface UssdBody {
  readonly sessionId: string;
  readonly serviceCode: string;
  readonly phoneNumber: string;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** One request; the answer's status and text. */
export function postUssd(url: string, body: UssdBody): Promise<{ status: number; text: string }> {
  const json = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/ussd`, { method: 'POST', headers, agent }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode!, text }));
    });
    sent.on('error', reject);
    sent.end(json);
  });
}

/** Closes the connections that phones keep open. */
export function hangUpAll(): void {
  agent.destroy();
}

/** A caller in one session. */
export interface Caller {
  /** All that was typed in this session; holds PINs. */
  readonly text: string;
  /** Dials, or types an answer; the screen. */
  send(url: string, typed?: string): Promise<string>;
  /** The same turn delivered to several servers at once. */
  sendTo(urls: readonly string[], typed?: string): Promise<string[]>;
  /** The last turn once more. */
  repeat(url: string): Promise<string>;
}

export function caller(sessionId: string, phoneNumber: string, serviceCode = '*2233#'): Caller {
  let text = '';
  let screen = '';
  const post = async (url: string) => {
    const answer = await postUssd(url, { sessionId, serviceCode, phoneNumber, text });
    if (answer.status !== 200) throw new Error(`status ${answer.status}: ${answer.text}`);
    screen = answer.text;
    return screen;
  };
  const type = (urls: readonly string[], typed: string | undefined) => {
    for (const url of urls) if (typed !== undefined) noteTyped(url, screen, typed);
    if (typed === undefined) text = '';
    else text = text === '' ? typed : `${text}*${typed}`;
  };
  return {
    get text() {
      return text;
    },
    send: (url, typed) => {
      type([url], typed);
      return post(url);
    },
    sendTo: (urls, typed) => {
      type(urls, typed);
      return Promise.all(urls.map(post));
    },
    repeat: post,
  };
}
