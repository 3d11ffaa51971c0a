// What every released version has written is read by this one: sessions, documents, logs, flows and their tests, recordings, exports,
// tokens. A version's fixtures are in test/fixtures/<version> and never change; test/versions/write.ts writes those of a new one.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inspectToken } from '../../lib/delegation/tokens.ts';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { SERVER_KINDS } from '../../server/cli/verbs/upgrade.ts';
import { KEYS } from '../package/keys.ts';
import { ROOT } from '../package/manifest.ts';
import { run } from '../server/support/command.ts';
import { keyOf } from '../server/support/domain-client.ts';
import { type Held, type WorldKeys, withWorld } from './world.ts';

interface Says {
  readonly dial: { readonly sessionId: string; readonly text: string };
  readonly screen: string;
  readonly domain: { readonly did: string; readonly is: object };
  readonly chat: { readonly sessionId: string; readonly is: { readonly messages: readonly object[] } };
}

const FIXTURES = join(ROOT, 'test/fixtures');
const NOTHING: Held = { sessions: [], documents: [], logs: [] };
const VERSIONS = readdirSync(FIXTURES).filter((name) => /^\d+\.\d+\.\d+$/.test(name));

const read = <T>(version: string, name: string): T =>
  JSON.parse(readFileSync(join(FIXTURES, version, name), 'utf8')) as T;

const test = suite('what released versions have written');

test('there are fixtures of 0.1.0', () => assert.ok(VERSIONS.includes('0.1.0')));

/** All that was said then is said now; a later version may say more. */
function covers(now: unknown, then: unknown, where = ''): void {
  if (typeof then !== 'object' || then === null) assert.equal(now, then, where);
  else
    for (const [key, value] of Object.entries(then))
      covers((now as Readonly<Record<string, unknown>> | undefined)?.[key], value, `${where}/${key}`);
}

for (const version of VERSIONS) {
  const keys = read<WorldKeys>(version, 'keys.json');
  const held = read<Held>(version, 'held.json');
  const place = (name: string) => join(FIXTURES, version, name);

  test(`${version}: a session goes on, a twin and a chat are there, in full`, async () => {
    const { dial, screen, domain, chat } = read<Says>(version, 'says.json');
    await withWorld(keys, held, async (world) => {
      assert.is(await world.server.ussd(dial), screen);
      covers((await world.domain.send('controller', `/v1/domains/${domain.did}`)).json(), domain.is);
      covers(await world.asUser(`/messages/${chat.sessionId}`), chat.is);
      assert.ok(chat.is.messages.length >= 2);
    });
    for (const kind of ['sessions', 'documents', 'logs'] as const) assert.ok(held[kind].length > 0, kind);
    assert.ok(held.logs.some(({ frames }) => frames.length > 0));
  });

  test(`${version}: with the keys of somebody else, the session is refused and not begun anew`, async () => {
    const { dial } = read<Says>(version, 'says.json');
    const others = { ...keys, PIN_ENCRYPTION_KEY: KEYS.PIN_ENCRYPTION_KEY };
    await withWorld(others, { ...NOTHING, sessions: held.sessions }, async ({ server }) =>
      assert.match(await server.ussd(dial), /^END /),
    );
  });

  test(`${version}: its flows pass their tests, and its recording goes as it went`, async () => {
    const tested = await run(['test', place('')]);
    assert.is(tested.code, 0, tested.out + tested.err);
    const replayed = await run(['replay', place('recording.jsonl'), '--menus-dir', place('')]);
    assert.is(replayed.code, 0, replayed.out + replayed.err);
  });

  test(`${version}: its export is taken, every line of it`, () =>
    withWorld(keys, NOTHING, async ({ server, domain }) => {
      const env = { TWINLINE_API_KEY: keyOf('operator') };
      const { code, out, err } = await run(['import', place('export.jsonl'), '--url', server.url], env);
      assert.is(code, 0, out + err);
      const { did, is } = read<Says>(version, 'says.json').domain;
      const twin = (await domain.send('controller', `/v1/domains/${did}`)).json();
      const { properties } = is as { properties: object };
      assert.equal((twin as { properties: object }).properties, properties);
    }));

  test(`${version}: its invocation says what it said`, () => {
    const { token, says } = read<{ token: string; says: object }>(version, 'invocation.json');
    covers(JSON.parse(JSON.stringify(inspectToken(token))), says);
  });

  test(`${version}: upgrade --check counts what a data folder holds, and that it is read`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twinline-data-'));
    const env = { DATA_DIR: folder, PIN_ENCRYPTION_KEY: keys.PIN_ENCRYPTION_KEY, ORACLE_KEY: keys.ORACLE_KEY };
    try {
      await fill(folder, held);
      const { code, out } = await run(['upgrade', '--check'], env);
      assert.is(code, 0, out);
      assert.match(out, /^Sessions in LMDB .+: 2 living\n {7}2 {2}record format 1\n/);
      for (const line of ['1  main version 1', '1  domain']) assert.ok(out.includes(`\n       ${line}\n`), out);
      assert.match(out, /Nothing has to be migrated before it starts\.$/);
      await add(folder, { newer: held.sessions[0]!.session.record.replace('"r":1', '"r":999'), broken: 'x' });
      const later = await run(['upgrade', '--check', '--json'], env);
      assert.is(later.code, 1);
      const { newer, unreadable, formats } = JSON.parse(later.out) as Readonly<Record<string, unknown>>;
      assert.equal([newer, unreadable, formats], [1, 1, { 1: 2, 999: 1, unreadable: 1 }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

test('upgrade without --check does nothing and says why; where there is no data, it makes none', async () => {
  const { code, err } = await run(['upgrade'], {});
  assert.is(code, 2);
  assert.match(err, /a server migrates what it finds as it reads it/);
  const folder = mkdtempSync(join(tmpdir(), 'twinline-data-'));
  const none = await run(['upgrade', '--check'], { DATA_DIR: folder, PIN_ENCRYPTION_KEY: KEYS.PIN_ENCRYPTION_KEY });
  assert.is(none.code, 78);
  assert.equal(readdirSync(folder), []);
  rmSync(folder, { recursive: true });
});

test.run();

const LATER_MS = 600_000;

async function fill(folder: string, { sessions, documents }: Held): Promise<void> {
  const store = sqliteDocuments({ path: join(folder, 'twinline.db') });
  await store.declare(SERVER_KINDS);
  for (const { kind, id, body } of documents)
    await store.insert(SERVER_KINDS.find(({ name }) => name === kind)!, id, body);
  await store.close();
  await add(folder, Object.fromEntries(sessions.map(({ key, session }) => [key, session.record])));
}

async function add(folder: string, records: Readonly<Record<string, string>>): Promise<void> {
  const store = lmdbSnapshots({ path: join(folder, 'sessions') });
  const rest = { turnKey: 't', reply: 'CON', ended: false, expiresAt: Date.now() + LATER_MS, dueAt: null };
  for (const [key, record] of Object.entries(records)) await store.commit(key, 0, { ...rest, record });
  await store.close();
}
