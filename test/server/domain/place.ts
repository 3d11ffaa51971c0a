// A domain service over HTTP with people of two tenants, each with an API key, and short words to ask it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Role } from '../../../lib/domain/caller.ts';
import { pathSegment } from '../../../lib/domain/did/did.ts';
import { type Answer, type Served, type ServeOptions, sharedServer } from '../support/serve.ts';

/** Name → roles; all of the tenant `one`, but the strangers of `two`, who are called as those of `one`. */
export const PEOPLE = {
  owner: ['controller'],
  rival: ['controller'],
  rep: ['representative'],
  deputy: ['representative'],
  ann: ['voter'],
  bob: ['voter'],
  cid: ['voter'],
  issuer: ['issuer'],
  operator: ['operator'],
  nobody: [],
  stranger: ['controller', 'representative', 'voter', 'issuer', 'operator'],
} as const satisfies { readonly [name: string]: readonly Role[] };
export type Name = keyof typeof PEOPLE;

export const COOKING = 'did:ixo:protocol/clean-cooking';
export const keyOf = (name: string) => `key-of-${name}-0123456789`;
export const didOf = (name: Name) => `did:ixo:${name === 'stranger' ? 'owner' : name}`;

/** The content of an API_KEYS_FILE with everybody in it. */
export const KEYS = (Object.keys(PEOPLE) as Name[]).map((name) => ({
  key: keyOf(name),
  principal: didOf(name),
  roles: [...PEOPLE[name]],
  tenant: name === 'stranger' ? 'two' : 'one',
}));

export type Body = Readonly<Record<string, unknown>>;
export type Headers = Readonly<Record<string, string>>;
export type View = Record<string, unknown> & {
  readonly did: string;
  readonly id: string;
  readonly status: string;
  readonly revision: number;
  readonly items: View[];
  readonly next: string | null;
};

/** One request with the key of `name`; a body is sent as JSON unless headers say otherwise. */
export type Ask = (name: Name | undefined, line: string, body?: unknown, headers?: Headers) => Promise<Answer>;

/** `ask('ann', 'POST /v1/domains', {…})` for a server. */
export function asker(ask: () => Served['ask']): Ask {
  return (name, line, body, headers = {}) => {
    const [method, path] = line.split(' ') as [string, string];
    const text = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    return ask()(path, {
      method,
      headers: {
        ...(name !== undefined && { authorization: `Bearer ${keyOf(name)}` }),
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text !== undefined && { body: text }),
    });
  };
}

export interface Words {
  readonly ask: Ask;
  /** A new domain of `owner`; its view. */
  domain(body?: Body, headers?: Headers): Promise<View>;
  /** A proposal about it by `rep`. */
  proposal(did: string, kind?: string): Promise<View>;
  /** A new domain that ann and bob have verified. */
  verified(body?: Body): Promise<View>;
}

export interface Place extends Words {
  readonly server: () => Served;
  readonly folder: string;
}

/** The protocol of the documented quick start, with what others here need. */
export const PROTOCOL = {
  type: 'Protocol',
  name: 'Clean cooking',
  alsoKnownAs: COOKING,
  properties: { metricOne: 'string', metricTwo: 'number', measurements: 'object' },
  relationships: { verifier: 'OracleEntity', operator: 'OrganisationEntity' },
};

/** Rules by which two of three voters decide. */
export const RULES = { quorum: '0.2', votingPeriodSeconds: 3_600 };

/** One server for all tests of a suite, with the cooking protocol in both tenants. */
export function place(
  test: Pick<Test, 'before' | 'after'>,
  { rules = RULES, env = {}, ...seams }: Omit<ServeOptions, 'env'> & { rules?: Body; env?: NodeJS.ProcessEnv } = {},
): Place {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-domain-'));
  const server = sharedServer(test, { ...seams, env: { ...files(folder, rules), ...env } });
  const made = { ...words(asker(() => server().ask)), server, folder };
  test.before(async () => {
    for (const who of ['owner', 'stranger'] as const) created(await made.ask(who, 'POST /v1/protocols', PROTOCOL));
  });
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return made;
}

/** The settings of a server with everybody's keys and these rules. */
export function files(folder: string, rules: Body = RULES): Record<string, string> {
  const [keys, governance] = [join(folder, 'keys.json'), join(folder, 'governance.json')];
  writeFileSync(keys, JSON.stringify(KEYS));
  writeFileSync(governance, JSON.stringify(rules));
  return { API_KEYS_FILE: keys, GOVERNANCE_FILE: governance };
}

/** Short words for what most tests begin with. */
export function words(ask: Ask): Words {
  const domain: Words['domain'] = async (body = {}, headers = {}) =>
    created(await ask('owner', 'POST /v1/domains', { type: 'Project', class: COOKING, ...body }, headers));
  const proposal: Words['proposal'] = async (did, kind = 'verify') =>
    created(await ask('rep', `POST ${path(did)}/proposals`, { kind }));
  return {
    ask,
    domain,
    proposal,
    async verified(body) {
      const { did } = await domain(body);
      const { id } = await proposal(did);
      for (const name of ['ann', 'bob'] as const) created(await ask(name, `POST /v1/proposals/${id}/votes`, YES));
      return view(await ask('owner', `GET ${path(did)}`));
    },
  };
}

export const YES = { vote: 'yes' };

/** `/v1/domains/<did>`, as the service writes it. */
export const path = (did: string, root = 'domains') => `/v1/${root}/${pathSegment(did)}`;

export function view(answer: Answer): View {
  assert.is(answer.status, 200, answer.text);
  return answer.json() as View;
}

export function created(answer: Answer): View {
  assert.is(answer.status, 201, answer.text);
  return answer.json() as View;
}

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly success: boolean;
  readonly error: { code: string; message: string; details: { field: string; error: string }[] };
}

/** The problem document; fails unless the answer is one with this status, code and, when given, these fields. */
export function problem(answer: Answer, status: number, code?: string, fields?: readonly string[]): ProblemBody {
  assert.is(answer.status, status, answer.text);
  assert.is(answer.headers['content-type'], 'application/problem+json', answer.text);
  const body = answer.json() as ProblemBody;
  assert.equal([body.status, body.success, body.error.message], [status, false, body.detail]);
  assert.ok(body.type.endsWith(`#${body.error.code}`) && body.title && body.detail && body.instance, answer.text);
  assert.ok(Array.isArray(body.error.details));
  if (code !== undefined) assert.is(body.error.code, code, answer.text);
  if (fields)
    assert.equal(
      body.error.details.map(({ field }) => field),
      fields,
      answer.text,
    );
  return body;
}
