// A server with two tenants, for tests of what others read of twins and protocols: DID documents, cards, lists.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, json, type Served, sharedServer } from '../server/support/serve.ts';

/** Authorization by tenant. */
export const BEARER = {
  default: { authorization: 'Bearer key-of-the-default-tenant' },
  other: { authorization: 'Bearer key-of-the-other-tenant' },
} as const;

export const COOKING = 'did:ixo:protocol/clean-cooking';

export type Body = Record<string, unknown>;

export interface Registered {
  readonly server: () => Served;
  /** Creates a protocol or a twin, as one who may do everything; the record. */
  create(path: string, body: Body, headers?: Readonly<Record<string, string>>): Promise<Body & { did: string }>;
  /** Asks with any method; with the key of the default tenant. */
  ask(path: string, how?: { method?: string; body?: unknown; headers?: Record<string, string> }): Promise<Answer>;
}

/** One server for all tests of a suite. */
export function registered(test: Pick<Test, 'before' | 'after'>, env: NodeJS.ProcessEnv = {}): Registered {
  const folder = mkdtempSync(join(tmpdir(), 'registered-'));
  const keys = Object.entries(BEARER).map(([tenant, { authorization }]) => ({
    key: authorization.slice('Bearer '.length),
    principal: `did:ixo:${tenant}`,
    roles: ['controller', 'representative', 'voter', 'issuer', 'operator'],
    tenant,
  }));
  const file = join(folder, 'keys.json');
  writeFileSync(file, JSON.stringify(keys));
  const server = sharedServer(test, { env: { API_KEYS_FILE: file, ...env } });
  test.after(() => rmSync(folder, { recursive: true }));
  return {
    server,
    async create(path, body, headers = BEARER.default) {
      const answer = await server().ask(path, json(body, headers));
      assert.is(answer.status, 201, answer.text);
      return answer.json() as Body & { did: string };
    },
    ask: (path, { method = 'GET', body, headers = {} } = {}) =>
      server().ask(path, {
        method,
        headers: { ...BEARER.default, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  };
}
