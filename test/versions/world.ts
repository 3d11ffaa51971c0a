// A server over stores whose whole content can be taken out and put back: what an upgrade meets, as text.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOracleKey } from '../../lib/delegation/oracle-key.ts';
import { mintInvocation } from '../../lib/delegation/tokens.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { LogStore } from '../../lib/store/log-store.ts';
import { memoryDocuments, memoryLogs, memorySnapshots } from '../../lib/store/memory/index.ts';
import type { DocumentStore, SessionCommit, SnapshotStore } from '../../lib/store/store.ts';
import { SERVER_KINDS } from '../../server/cli/verbs/upgrade.ts';
import { type DomainClient, domainClient, writeKeys } from '../server/support/domain-client.ts';
import { type AskOptions, type Served, withServer } from '../server/support/serve.ts';

/** Of the server and of its user; for these fixtures only. */
export interface WorldKeys {
  readonly PIN_ENCRYPTION_KEY: string;
  readonly ORACLE_KEY: string;
  readonly user: string;
}

export interface Held {
  readonly sessions: readonly { readonly key: string; readonly session: SessionCommit }[];
  readonly documents: readonly { readonly kind: string; readonly id: string; readonly body: JsonObject }[];
  readonly logs: readonly { readonly log: string; readonly frames: readonly string[] }[];
}

export interface World {
  readonly server: Served;
  readonly domain: DomainClient;
  readonly documents: DocumentStore;
  /** A request of the user, with a token of now. */
  asUser(path: string, how?: AskOptions): Promise<unknown>;
  /** A token of the user. */
  token(): Promise<string>;
  take(): Promise<Held>;
}

const FENCE = 1;
const TTL_MS = 3_600_000;

/** Runs a server on these contents while `work` lasts. */
export async function withWorld<T>(keys: WorldKeys, held: Held, work: (world: World) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-versions-'));
  const stores = { snapshots: memorySnapshots(), documents: memoryDocuments(), logs: memoryLogs() };
  await putBack(stores, held);
  const names = new Set(held.logs.map(({ log }) => log));
  const open: LogStore['open'] = (log, claim) => {
    names.add(log);
    return stores.logs.open(log, claim);
  };
  const { user, ...env } = keys;
  const given = { ...env, AGENT_FLOW: 'assistant', API_KEYS_FILE: writeKeys(folder) };
  try {
    return await withServer(
      { env: given, parts: { stores: { ...stores, logs: { ...stores.logs, open } } } },
      (server) => {
        const token = () => mintFor(keys);
        return work({
          server,
          domain: domainClient(() => server.url),
          documents: stores.documents,
          token,
          take: () => takeOut(stores, names),
          async asUser(path, how = {}) {
            const headers = { authorization: `Bearer ${await token()}`, 'x-auth-type': 'ucan' };
            const type = { 'content-type': 'application/json' };
            return (await server.ask(path, { ...how, headers: { ...headers, ...type } })).json();
          },
        });
      },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function mintFor({ ORACLE_KEY, user }: WorldKeys): Promise<string> {
  const capability = { can: '*', with: 'ixo:oracle' } as const;
  return mintInvocation({
    key: parseOracleKey(user),
    audience: parseOracleKey(ORACLE_KEY).did,
    capability,
    expiresIn: 600,
  });
}

interface Stores {
  readonly snapshots: SnapshotStore;
  readonly documents: DocumentStore;
  readonly logs: LogStore;
}

async function putBack({ snapshots, documents, logs }: Stores, held: Held): Promise<void> {
  // Their time is over; what they say is not.
  const expiresAt = Date.now() + TTL_MS;
  for (const { key, session } of held.sessions) await snapshots.commit(key, 0, { ...session, expiresAt });
  await documents.declare(SERVER_KINDS);
  for (const { kind, id, body } of held.documents)
    await documents.insert(SERVER_KINDS.find(({ name }) => name === kind)!, id, body);
  for (const { log, frames } of held.logs) {
    await logs.open(log, { fence: FENCE, expiresAt });
    await logs.append(log, [...frames], { fence: FENCE, expiresAt, expected: 0, end: true });
  }
}

async function takeOut({ snapshots, documents, logs }: Stores, names: Iterable<string>): Promise<Held> {
  const { keys } = await snapshots.list();
  const sessions = await Promise.all(
    keys.map(async (key) => {
      const { revision: _, ...session } = (await snapshots.load(key))!;
      return { key, session };
    }),
  );
  const kinds = SERVER_KINDS.map(async (kind) => {
    const { items } = await documents.find(kind, { limit: 500 });
    return items.map(({ id, body }) => ({ kind: kind.name, id, body }));
  });
  const kept = [...names].map(async (log) => {
    const page = await logs.read(log, { limit: 500 });
    return { log, frames: page?.frames.map(({ text }) => text) ?? [] };
  });
  return { sessions, documents: (await Promise.all(kinds)).flat(), logs: await Promise.all(kept) };
}

/** Writes JSON that can be read in a review. */
export function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
