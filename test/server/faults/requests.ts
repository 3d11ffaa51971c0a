// One request to a door, what came of it in a word, and the same request once more when all is well again.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { User } from '../plugins/users.ts';
import { PROTOCOL } from '../support/domain-client.ts';
import { pastWaiting } from '../support/login.ts';
import { type Answer, ask, json } from '../support/serve.ts';

export interface Request {
  /** Asks; the answer in the words of the matrix: `END Trouble`, `503 unavailable`. */
  ask(): Promise<string>;
  /** What the same request gets when all is well again, or what has become of it. */
  again(): Promise<string>;
}

/** Makes a request ready as far as it can be while all is well. */
export type MakeRequest = () => Promise<Request>;

/** One that can be asked any number of times. */
export const sameAgain = (send: () => Promise<string>): Request => ({ ask: send, again: send });

interface Caller {
  readonly phoneNumber: string;
}
/** Has an account. */
const MEMBER: Caller = { phoneNumber: '+260971230001' };
const PIN = '83519';

let callers = 0;
/** Has never called before: nobody may have many sessions. */
export const newCaller = (): Caller => ({ phoneNumber: `+2609712${10_000 + callers++}` });

/** Makes the account by which {@link logIn} logs in. */
export async function makeAccount(url: string): Promise<void> {
  const made = await (await dial(url, MEMBER, ['2', PIN])).again();
  if (made !== 'END Made') throw new Error(`no account was made: ${made}`);
}

/** The last of a caller's inputs; `again` goes on until there is nothing to wait for any more. */
export async function dial(url: string, caller: Caller, inputs: readonly string[]): Promise<Request> {
  const fields = { sessionId: randomUUID(), serviceCode: '*2233#', ...caller };
  const say = async (text: string) => (await ask(`${url}/api/ussd`, json({ ...fields, text }))).text;
  for (const at of inputs.keys()) await say(inputs.slice(0, at).join('*'));
  const typed = inputs.join('*');
  return {
    ask: async () => firstLine(await say(typed)),
    again: async () => firstLine(await pastWaiting(await say(typed), (more) => say(typed + more))),
  };
}

const firstLine = (screen: string) => screen.split('\n')[0]!;

/** A PIN is typed; `again` sees what came of it, and logs in anew. */
export async function logIn(url: string): Promise<Request> {
  const first = await dial(url, MEMBER, ['3', PIN]);
  return {
    ask: first.ask,
    again: async () => {
      const outcome = await first.again();
      // The time of the call may be over meanwhile; then nobody is let in by it.
      if (outcome !== 'END In' && outcome !== 'END Trouble') return outcome;
      return (await dial(url, MEMBER, ['3', PIN])).again();
    },
  };
}

/** Requests with a key of /v1. */
interface Tenant {
  send(path: string): Promise<Answer>;
  post(path: string, body: object, headers: Readonly<Record<string, string>>): Promise<Answer>;
}

/** A twin is made under an Idempotency-Key; `again` also counts how often it is there. */
export async function makeTwin({ post, send }: Tenant): Promise<Request> {
  const key = randomUUID();
  const body = { type: 'Device', class: PROTOCOL, metadata: { name: key } };
  const make = async () => summary(await post('/v1/domains', body, { 'idempotency-key': key }));
  return {
    ask: make,
    again: async () => {
      const made = await make();
      const { items } = (await send(`/v1/domains?name=${key}`)).json() as { items?: unknown[] };
      return items?.length === 1 ? made : `${made}, and there are ${items?.length} of it`;
    },
  };
}

/** A message of a chat. `again` reads the reply that has begun by its X-Run-Id, or says it anew. */
export async function say(url: string, { headers }: User, text: string): Promise<Request> {
  const made = await ask(`${url}/sessions`, { method: 'POST', headers });
  const { sessionId } = made.json() as { sessionId: string };
  let run: string | undefined;
  const send = async () => {
    const answer = await ask(`${url}/messages/${sessionId}`, json({ message: text }, headers));
    run = answer.headers['x-run-id'];
    return summary(answer);
  };
  return {
    ask: send,
    again: async () => (run === undefined ? send() : readRun(await ask(`${url}/runs/${run}`, { headers }))),
  };
}

function readRun({ status, text }: { readonly status: number; readonly text: string }): string {
  const events = text.split('\n\n').filter((part) => part.startsWith('event: message'));
  const said = events.map((part) => (JSON.parse(part.slice(part.indexOf('{'))) as { content: string }).content);
  return `${status} ${firstLine(said.join(''))}`;
}

interface Impatient {
  readonly headers: User['headers'];
  readonly text: string;
  /** Asked after each message is sent; undefined: he waits for the answer. */
  readonly patienceMs: () => number | undefined;
}

/** A message whose user aborts the reply after some time. `again` says it in a new session. */
export async function sayImpatiently(url: string, { headers, text, patienceMs }: Impatient): Promise<Request> {
  const send = async () => {
    const { sessionId } = (await ask(`${url}/sessions`, { method: 'POST', headers })).json() as { sessionId: string };
    const answer = ask(`${url}/messages/${sessionId}`, json({ message: text }, headers)).then(summary);
    const patience = patienceMs();
    if (patience === undefined || (await Promise.race([answer, pause(patience, undefined, { ref: false })])))
      return answer;
    await ask(`${url}/messages/abort`, json({ sessionId }, headers));
    return `waits until its user aborts it: ${await answer}`;
  };
  return sameAgain(send);
}

interface Body {
  readonly statusCode?: number;
  readonly kind?: string;
  readonly error?: { readonly code: string };
  readonly code?: number;
  readonly message?: { readonly content: string };
  readonly text?: string;
}

/** The status of an answer, and what it says in a word, whichever door it comes from. */
export function summary({ status, text }: { readonly status: number; readonly text: string }): string {
  const { statusCode, kind, error, code, message, text: said } = JSON.parse(text) as Body;
  if (status === 201) return '201';
  const word = status === 200 ? (message?.content ?? said) : statusCode === undefined ? (code ?? error?.code) : kind;
  return firstLine([status, word].filter((part) => part !== undefined && part !== '').join(' '));
}
