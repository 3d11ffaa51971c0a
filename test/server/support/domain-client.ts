// A client of the domain service for tests: keys of several people and tenants, and the requests that most tests begin with.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, type AskOptions, ask, json } from './serve.ts';

const KEYS = {
  controller: { key: 'key-of-the-controller', principal: 'did:x:alice', roles: ['controller'] },
  operator: { key: 'key-of-the-operator-0', principal: 'did:x:olga', roles: ['operator'] },
  voter: { key: 'key-of-the-voter-0000', principal: 'did:x:vera', roles: ['voter'] },
  stranger: {
    key: 'key-of-the-stranger-0',
    principal: 'did:x:sam',
    roles: ['controller', 'operator'],
    tenant: 'other',
  },
} as const;
export type Who = keyof typeof KEYS;

/** Writes API_KEYS_FILE into a folder; its path. Leaves out whom `except` names. */
export function writeKeys(folder: string, except?: Who): string {
  const file = join(folder, 'keys.json');
  const entries = Object.entries(KEYS).filter(([who]) => who !== except);
  writeFileSync(file, JSON.stringify(entries.map(([, entry]) => entry)));
  return file;
}

export function keyOf(who: Who): string {
  return KEYS[who].key;
}

export function headersOf(who: Who): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${keyOf(who)}` };
}

export interface DomainClient {
  /** A request with somebody's key. */
  send(who: Who, path: string, options?: AskOptions): Promise<Answer>;
  post(who: Who, path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Makes the protocol `did:x:protocol`, once for each tenant. */
  protocol(who: Who): Promise<void>;
  /** Makes a project; its DID. */
  project(who: Who, body?: Readonly<Record<string, unknown>>): Promise<string>;
}

export const PROTOCOL = 'did:x:protocol';

export function domainClient(url: () => string): DomainClient {
  const send = (who: Who, path: string, { headers = {}, ...options }: AskOptions = {}) =>
    ask(url() + path, { ...options, headers: { ...headersOf(who), ...headers } });
  const post = (who: Who, path: string, body: unknown, headers = {}) => send(who, path, json(body, headers));
  return {
    send,
    post,
    async protocol(who) {
      const body = { type: 'Protocol', alsoKnownAs: PROTOCOL, properties: { size: 'number' }, relationships: {} };
      expect(await post(who, '/v1/protocols', body), 201);
    },
    async project(who, body = {}) {
      const answer = expect(await post(who, '/v1/domains', { type: 'Project', class: PROTOCOL, ...body }), 201);
      return (answer.json() as { did: string }).did;
    },
  };
}

function expect(answer: Answer, status: number): Answer {
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}: ${answer.text}`);
  return answer;
}
