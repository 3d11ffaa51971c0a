// What tests of plugins share: users with tokens, their sessions, modules of plugins in a folder, and flows that call tools.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { type OracleKey, parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { mintDelegation, mintInvocation } from '../../../lib/delegation/tokens.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { newKey } from '../../delegation/keys.ts';
import { withFolder } from '../../support/process.ts';
import { type Served, type ServeOptions, withServer } from '../support/serve.ts';

export const ORACLE_KEY = makeOracleKey();
/** Whom tokens are for. */
export const { did: ORACLE_DID } = parseOracleKey(ORACLE_KEY);
export const IDENTITY = { can: '*', with: 'ixo:oracle' };

export interface User {
  readonly did: string;
  readonly key: OracleKey;
  /** An invocation, and the headers of a request with it. */
  readonly token: string;
  readonly headers: { readonly [name: string]: string };
  delegation(): Promise<string>;
}

export async function newUser(): Promise<User> {
  const key = newKey();
  const token = await mintInvocation({ key, audience: ORACLE_DID, capability: IDENTITY, expiresIn: 600 });
  return {
    did: key.did,
    key,
    token,
    headers: { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan', 'content-type': 'application/json' },
    delegation: () => mintDelegation({ key, audience: ORACLE_DID, capabilities: [IDENTITY], expiresIn: 3_600 }),
  };
}

/** A server with these plugins: paths, or shipped names. */
export function withPlugins<T>(
  plugins: readonly string[],
  options: ServeOptions,
  work: (server: Served) => Promise<T>,
): Promise<T> {
  const env = { ORACLE_KEY, PLUGINS: plugins.join(','), ...options.env };
  return withServer({ ...options, env }, work);
}

/** What `around` opens is open for all tests of a suite, which must not disturb each other. */
export function sharedBy<T = Served>(
  test: Pick<Test, 'before' | 'after'>,
  around: (use: (opened: T) => Promise<void>) => Promise<void>,
): () => T {
  let opened: T | undefined;
  let end = () => {};
  let over: Promise<void> = Promise.resolve();
  test.before(
    () =>
      new Promise<void>((ready, failed) => {
        const use = (one: T) => {
          opened = one;
          ready();
          return new Promise<void>((done) => {
            end = done;
          });
        };
        over = around(use);
        over.catch(failed);
      }),
  );
  test.after(() => {
    end();
    return over;
  });
  return () => opened!;
}

/** Modules in a folder of their own: their texts by file name; `work` is given their paths. */
export function withModules(
  texts: Readonly<Record<string, string>>,
  work: (path: (name: string) => string) => Promise<void>,
): Promise<void> {
  return withFolder(async (folder) => {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
    await work((name) => join(folder, name));
  });
}

export async function newSession({ ask }: Pick<Served, 'ask'>, { headers }: User): Promise<string> {
  const made = await ask('/sessions', { method: 'POST', headers });
  assert.is(made.status, 201, made.text);
  return (made.json() as { sessionId: string }).sessionId;
}

/** Says something, and gives what was replied. */
export async function say(
  { ask }: Pick<Served, 'ask'>,
  { headers }: User,
  session: string,
  message: string,
): Promise<string> {
  const reply = await ask(`/messages/${session}`, { method: 'POST', headers, body: JSON.stringify({ message }) });
  assert.is(reply.status, 200, reply.text);
  return (reply.json() as { message: { content: string } }).message.content;
}

/** A flow that hands what is said to a tool, as its arguments. */
export function toolFlow(tool: string, args: object): object {
  return {
    flow: 'assistant',
    version: 1,
    start: 'ask',
    keys: { exit: '*' },
    vars: {
      said: { type: 'string', default: '', max: 160 },
      answer: { type: 'object', sample: {} },
    },
    screens: {
      ask: { type: 'input', text: 'What?', save: 'said', to: 'call' },
      call: {
        type: 'call',
        service: 'agent.tool',
        with: { name: tool, args },
        timeout: '10s',
        save: 'answer',
        done: 'done',
        fail: 'failed',
      },
      done: { type: 'input', text: 'Done.', save: 'said', to: 'call' },
      failed: { type: 'input', text: 'Failed.', save: 'said', to: 'call' },
    },
  };
}

/** A folder of menus with this flow as the assistant. */
export function withFlow(flow: object, work: (menus: string) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const main = { flow: 'main', version: 1, start: 'end', screens: { end: { type: 'end', text: 'Bye' } } };
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(main));
    writeFileSync(join(folder, 'assistant.flow.json'), JSON.stringify(flow));
    await work(folder);
  });
}
