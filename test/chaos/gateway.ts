// The telecom's gateway: every turn goes to instances chosen by chance, one to three times at once, and again until it is
// answered. What is answered then is what the caller sees.

import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { UNAVAILABLE } from '../../lib/ussd/reply.ts';
import type { Random } from '../simulation/random.ts';
import type { UssdBody } from '../support/phone.ts';
import type { Tally } from './tally.ts';

export interface Gateway {
  /** What the caller is shown, and all that any copy of this turn was told besides END Service temporarily unavailable. */
  turn(body: UssdBody): Promise<Shown>;
  close(): void;
}

/** No text: nobody answered, TRIES_MOST times. */
export interface Shown {
  readonly text: string | undefined;
  readonly told: ReadonlySet<string>;
}

export interface GatewayOptions {
  /** Where a copy may go, now. */
  readonly urls: () => readonly string[];
  readonly random: Random;
  readonly tally: Tally;
  /** Milliseconds until a copy counts as not answered; its server may go on with it. */
  readonly timeoutMs: number;
}

const COPIES_MAX = 3;
const TRIES_MOST = 2_000;
const AGAIN_MS = 40;
const TEMPORARY = `END ${UNAVAILABLE.text}`;

export function createGateway({ urls, random, tally, timeoutMs }: GatewayOptions): Gateway {
  const agent = new Agent({ keepAlive: true });

  const copies = () => {
    const all = urls();
    const count = all.length ? 1 + random.below(COPIES_MAX) : 0;
    tally.duplicates += Math.max(0, count - 1);
    return Array.from({ length: count }, () => all[random.below(all.length)]!);
  };

  const turn = async (body: UssdBody): Promise<Shown> => {
    const begun = performance.now();
    const told = new Set<string>();
    const post = async (url: string) => {
      const answer = await send(url, body, { agent, timeoutMs });
      if (answer === undefined || answer === TEMPORARY) return undefined;
      tally.stallMs = Math.max(tally.stallMs, told.size ? 0 : performance.now() - begun);
      told.add(answer);
      return answer;
    };
    tally.turns++;
    for (let tries = 1; ; tries++) {
      const answers = await Promise.all(copies().map(post));
      const text = answers.find((answer) => answer !== undefined);
      if (text !== undefined || tries === TRIES_MOST) return { text, told };
      tally.retries++;
      await pause(AGAIN_MS);
    }
  };
  return { turn, close: () => agent.destroy() };
}

interface SendOptions {
  readonly agent: Agent;
  readonly timeoutMs: number;
}

/** The answer; undefined when none came. */
function send(url: string, body: UssdBody, { agent, timeoutMs }: SendOptions): Promise<string | undefined> {
  const json = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) };
  return new Promise((resolve) => {
    const none = () => resolve(undefined);
    const sent = request(`${url}/api/ussd`, { method: 'POST', headers, agent }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => (text += chunk));
      answer.on('error', none);
      answer.on('end', () => resolve(answer.statusCode === 200 ? text : undefined));
    });
    sent.setTimeout(timeoutMs, () => sent.destroy());
    sent.on('error', none);
    sent.on('close', none);
    sent.end(json);
  });
}
