// A real server fills every kind through its doors; `twinline move` takes all of it to Redis and MongoDB, killed in the middle, and back
// again. The doors answer the same before and after, and the documents are the same bytes.

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { MongoClient } from 'mongodb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectMongo, mongoDocuments } from '../../../lib/store/mongo/index.ts';
import { mongoTransfer } from '../../../lib/store/mongo/transfer.ts';
import { sqliteDocuments } from '../../../lib/store/sqlite/index.ts';
import { sqliteTransfer } from '../../../lib/store/sqlite/transfer.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import type { DocumentTransfer } from '../../../lib/store/transfer.ts';
import { isMarkId } from '../../../server/stores/move-mark.ts';
import { builtFile } from '../../support/build.ts';
import { faultProxy } from '../../support/fault-proxy.ts';
import { startMongo } from '../../support/mongo-server.ts';
import { killed, startProcess, withFolder } from '../../support/process.ts';
import { startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { type Chatter, newChatter, readOut } from '../agent/chats.ts';
import { asker, COOKING, created, files, keyOf, PROTOCOL, path, YES } from '../domain/place.ts';
import { newUser, ORACLE_KEY, type User } from '../plugins/users.ts';
import { readEvents } from '../support/event-reader.ts';
import { PRODUCTION, TOKEN } from '../support/production.ts';
import { ask, DIAL, json } from '../support/serve.ts';

const test = suite('twinline move');

const OPERATOR = { authorization: `Bearer ${TOKEN}` };
const PIN = '83519';
const DOMAINS = 150;

type Env = Readonly<Record<string, string>>;

const dial = async (url: string, sessionId: string, text: string, phoneNumber: string = DIAL.phoneNumber) =>
  (await ask(`${url}/api/ussd`, json({ ...DIAL, sessionId, phoneNumber, text }))).text;

/** What was said, until the PIN is checked. */
async function type(url: string, sessionId: string, texts: readonly string[]): Promise<{ text: string; said: string }> {
  let [text, said] = ['', await dial(url, sessionId, '')];
  for (const one of texts) {
    text = text === '' ? one : `${text}*${one}`;
    said = await dial(url, sessionId, text);
    for (; said.startsWith('CON Please wait'); said = await dial(url, sessionId, text)) text += '*1';
  }
  return { text, said };
}

type Status = Readonly<Record<'statusPurpose' | 'statusListCredential' | 'statusListIndex', string>>;

interface Filled {
  readonly user: User;
  readonly revoked: User;
  readonly chatter: Chatter;
  /** Dials as they stand: what was typed, and what was answered. */
  readonly dials: readonly { readonly id: string; readonly text: string; readonly said: string }[];
  /** Questions that change nothing: path and headers. */
  readonly questions: readonly (readonly [path: string, headers: Readonly<Record<string, string>>])[];
  readonly events: number;
  /** Where it is told whether the twins of two cards are gone. */
  readonly places: readonly { readonly at: string; readonly index: number }[];
}

async function fill(url: string): Promise<Filled> {
  const account = await type(url, 'account', ['2', '2', 'Mary', PIN, PIN]);
  const known = await type(url, 'known', ['1']);
  const over = await type(url, 'over', ['*']);
  const dials = [
    { id: 'account', ...account },
    { id: 'known', ...known },
    { id: 'over', ...over },
  ];
  const api = asker(() => (where, how) => ask(url + where, how));
  created(await api('owner', 'POST /v1/protocols', PROTOCOL));
  const body = { type: 'Project', class: COOKING };
  const { did } = created(await api('owner', 'POST /v1/domains', body, { 'idempotency-key': 'once' }));
  const { id } = created(await api('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }));
  for (const name of ['ann', 'bob'] as const) created(await api(name, `POST /v1/proposals/${id}/votes`, YES));
  created(await api('issuer', `POST ${path(did)}/credits`, { amount: '1' }));
  created(await api('owner', 'POST /v1/webhooks', { url: 'https://hooks.example/here' }));
  const gone = created(await api('owner', 'POST /v1/domains', body)).did;
  const places: { at: string; index: number }[] = [];
  for (const one of [did, gone]) {
    const card = (await api('owner', `GET ${path(one)}/card`)).json() as { credentialStatus: Status[] };
    const { statusListCredential, statusListIndex } = card.credentialStatus.find(
      ({ statusPurpose }) => statusPurpose === 'revocation',
    )!;
    places.push({ at: new URL(statusListCredential).pathname, index: Number(statusListIndex) });
  }
  assert.is((await api('owner', `DELETE ${path(gone)}`, undefined, { 'if-match': '*' })).status, 200);
  for (let n = 0; n < DOMAINS; n++) created(await api('owner', 'POST /v1/domains', { ...body, externalId: `é ${n}` }));
  const [user, revoked] = [await newUser(), await newUser()];
  const chatter = await newChatter();
  const give = (who: string) =>
    ask(`${url}/credits/${encodeURIComponent(who)}`, json({ amount: 500 }, { ...OPERATOR, 'idempotency-key': who }));
  for (const who of [user.did, revoked.did, chatter.did]) assert.is((await give(who)).status, 201);
  const session = await chatter.begin(url);
  const reader = await chatter.say(url, session, 'hello');
  await readOut(reader, 'finished');
  for (const one of [user, revoked]) {
    const { headers } = one;
    const raw = await one.delegation();
    assert.is((await ask(`${url}/delegation`, json({ raw }, headers))).status, 200);
  }
  assert.is((await ask(`${url}/delegation`, { method: 'DELETE', headers: revoked.headers })).status, 200);
  assert.is(
    (await ask(`${url}/api/ussd/accounts/unlock`, json({ phoneNumber: DIAL.phoneNumber }, OPERATOR))).status,
    200,
  );
  const as = (name: string) => ({ authorization: `Bearer ${keyOf(name)}` });
  const chat = { authorization: `Bearer ${chatter.token}`, 'x-auth-type': 'ucan' };
  const events = await readEvents(`${url}/v1/events`, { ...as('rep'), 'last-event-id': '0' });
  await events.until(() => events.events().length > DOMAINS);
  await events.close();
  const questions = [
    ['/v1/domains?limit=1000', as('owner')],
    [path(did), as('owner')],
    [path(gone), as('owner')],
    [`${path(did)}/history`, as('owner')],
    [`${path(did)}/credits`, as('owner')],
    [`/v1/proposals/${id}`, as('rep')],
    [`/v1/proposals/${id}/votes`, as('rep')],
    ['/v1/webhooks', as('owner')],
    [`/messages/${session}`, chat],
    ['/sessions', chat],
    ['/credits', user.headers],
    ['/delegation', user.headers],
    ['/delegation', revoked.headers],
  ] as const;
  return {
    user,
    revoked,
    chatter,
    dials,
    questions: [...questions, [`/runs/${reader.run}?after=0`, chat]],
    events: events.events().length,
    places,
  };
}

/** What the doors answer to questions that change nothing, among them turns, posts and streams that come again. */
async function answers(url: string, { dials, questions, events, places }: Filled): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const { id, text, said } of dials) {
    assert.is(await dial(url, id, text), said, id);
    all[id] = said;
  }
  for (const [at, headers] of questions) {
    const { status, text } = await ask(url + at, { headers });
    // Tries to deliver go on meanwhile.
    all[`${at} ${headers.authorization}`] = { status, text: text.replace(/"delivery":\{[^}]*\}/, '') };
  }
  const again = { authorization: `Bearer ${keyOf('owner')}`, 'idempotency-key': 'once' };
  all.repeated = (await ask(`${url}/v1/domains`, json({ type: 'Project', class: COOKING }, again))).text;
  const shown = await ask(`${url}/api/ussd/accounts/show`, json({ phoneNumber: DIAL.phoneNumber }, OPERATOR));
  all.account = [shown.status, shown.text];
  const operator = { authorization: `Bearer ${keyOf('operator')}` };
  all.revoked = await Promise.all(
    places.map(async ({ at, index }) => {
      const list = (await ask(url + at)).json() as { credentialSubject: { encodedList: string } };
      const bits = gunzipSync(Buffer.from(list.credentialSubject.encodedList.slice(1), 'base64url'));
      return (bits[index >> 3]! & (0x80 >> (index & 7))) > 0;
    }),
  );
  assert.equal(all.revoked, [false, true]);
  const stream = await readEvents(`${url}/v1/events`, { ...operator, 'last-event-id': '0' });
  await stream.until(() => stream.events().length >= events);
  await stream.close();
  all.events = stream.events().slice(0, events);
  return all;
}

async function requireSame(url: string, filled: Filled, before: Record<string, unknown>): Promise<void> {
  const now = await answers(url, filled);
  for (const [question, answer] of Object.entries(before)) assert.equal(now[question], answer, question);
}

/** Every document but the marks, and the feed, as text. */
async function bytes(store: DocumentStore, transfer: DocumentTransfer): Promise<string[]> {
  const lines: string[] = [];
  for (const kind of (await transfer.kinds()).sort((a, b) => (a.name < b.name ? -1 : 1)))
    for (let cursor: string | undefined, first = true; first || cursor; first = false) {
      const page = await store.find(kind, cursor ? { cursor } : {});
      for (const { id, revision, body } of page.items)
        if (kind.name !== 'server' || !isMarkId(id)) lines.push(JSON.stringify([kind.name, id, revision, body]));
      cursor = page.next;
    }
  lines.push(...(await store.changes(0, 100_000)).map((change) => JSON.stringify(change)));
  await transfer.close();
  await store.close();
  return lines;
}

const bytesOnDisk = (folder: string) => {
  const file = { path: join(folder, 'twinline.db') };
  return bytes(sqliteDocuments(file), sqliteTransfer(file));
};

async function bytesInMongo(url: string): Promise<string[]> {
  const connection = connectMongo({ url });
  const lines = await bytes(mongoDocuments({ connection }), mongoTransfer({ connection }));
  await connection.close();
  return lines;
}

interface Command {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly said: string }>;
}

async function begin(args: readonly string[], env: Env): Promise<Command> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [await builtFile('server/cli/main.ts'), ...args], {
    cwd: dirname(env.DATA_DIR!),
    env: { PATH, HOME, ...env },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, said }))) };
}

const run = async (args: readonly string[], env: Env) => (await begin(args, env)).ended;

test('to Redis and MongoDB, killed twice in the middle, and back: the doors answer the same', () =>
  withFolder(async (folder) => {
    const redis = await startRedis({ args: ['--appendonly', 'yes'] });
    const mongo = await startMongo();
    const mongoUrl = new URL(mongo.url);
    mongoUrl.pathname = `twinline-move-${process.pid}`;
    const [nearRedis, nearMongo] = [await faultProxy(redis), await faultProxy({ port: Number(mongoUrl.port) })];
    const through = new URL(mongoUrl);
    through.port = String(nearMongo.port);
    through.searchParams.set('directConnection', 'true');
    const { PIN_ENCRYPTION_KEY } = PRODUCTION;
    const base = {
      ...{ PIN_ENCRYPTION_KEY, ORACLE_KEY, OPERATOR_TOKEN: TOKEN, PUBLIC_URL: 'https://menus.example' },
      ...{ PLUGINS: 'credits', AGENT_FLOW: 'assistant', LOG_LEVEL: 'warn', ...files(folder) },
    };
    const one = { ...base, DATA_DIR: join(folder, 'one') };
    const many = { ...one, REDIS_URL: redis.url, MONGODB_URL: mongoUrl.href };
    const moving = { ...many, REDIS_URL: `redis://127.0.0.1:${nearRedis.port}`, MONGODB_URL: through.href };
    const back = { ...base, DATA_DIR: join(folder, 'back') };
    const move = ['move', '--from', one.DATA_DIR];
    let server = await startProcess(one);
    try {
      const filled = await fill(server.url);
      const before = await answers(server.url, filled);
      const served = await run(move, many);
      assert.is(served.code, 1, served.said);
      assert.match(served.said, `is in use by process ${server.pid}. Stop all servers`);
      await server.signal('SIGTERM');

      // A first start on the new stores says what it passes over, and may be stopped again.
      server = await startProcess(many);
      await until('the warning', () =>
        /DATA_DIR=.*one holds data that nobody reads while MONGODB_URL and REDIS_URL is set: 1 of account/.test(
          server.printed(),
        ),
      );
      assert.match(server.printed(), `npx twinline move --from ${one.DATA_DIR}`);
      const inUse = await run(move, many);
      assert.is(inUse.code, 1, inUse.said);
      assert.match(inUse.said, /Redis .* which is moved to, is in use by a client at 127\.0\.0\.1/);
      const docs = join(folder, 'documents.env');
      writeFileSync(docs, `DATA_DIR=${one.DATA_DIR}\nREDIS_URL=${redis.url}\n`);
      const documentsOnly = await run(['move', '--from', docs], many);
      assert.match(documentsOnly.said, /Redis .* which is moved from, is in use by a client at/);
      await server.signal('SIGTERM');

      const doctor = await run(['doctor'], many);
      assert.match(doctor.said, /! DATA_DIR=.*one holds data that nobody reads/);
      const original = await bytesOnDisk(one.DATA_DIR);
      const dry = await run([...move, '--dry-run'], many);
      assert.is(dry.code, 0, dry.said);
      for (const [proxy, to] of [
        [nearRedis, /EVALSHA[\s\S]*ussd/i],
        [nearMongo, /insert[\s\S]{5}twinline\.documents\.domain/],
      ] as const) {
        await proxy.set({ kind: 'lose-reply', to, after: 'stall' });
        const { child, ended } = await begin(move, moving);
        await until('the write whose answer is lost', () => proxy.lost > 0 || child.exitCode !== null);
        await killed(child);
        await ended;
        assert.ok(proxy.lost > 0, (await ended).said);
        await proxy.set({ kind: 'pass' });
        const refused = await startProcess(many).catch(String);
        assert.match(String(refused), /ended with 78[\s\S]*A move from DATA_DIR=.*one into these stores was begun/);
      }
      const moved = await run(move, moving);
      assert.is(moved.code, 0, moved.said);
      assert.match(moved.said, /✓ \d+ items moved; both sides were read again and have the same\./);
      assert.equal(await bytesInMongo(mongoUrl.href), original);

      server = await startProcess(many);
      await requireSame(server.url, filled, before);
      assert.not.match(server.printed(), /nobody reads/);
      assert.match((await type(server.url, 'later', ['2', '1', PIN])).said, /^CON .*Mary/);
      await server.signal('SIGTERM');
      assert.is((await run(['audit', 'verify'], many)).code, 0);
      const twice = await run(move, many);
      assert.is(twice.code, 1, twice.said);
      assert.match(twice.said, /The target is not empty: MongoDB .* holds /);

      const settings = join(folder, 'many.env');
      writeFileSync(
        settings,
        `${Object.entries(many)
          .map(([name, value]) => `${name}='${value}'`)
          .join('\n')}\n`,
      );
      const all = await bytesInMongo(mongoUrl.href);
      const returned = await run(['move', '--from', settings, '--json'], back);
      assert.is(returned.code, 0, returned.said);
      const { kinds } = JSON.parse(returned.said) as { kinds: Record<string, { source: { count: number } }> };
      assert.is(kinds.domain!.source.count, DOMAINS + 2);
      assert.equal(await bytesOnDisk(back.DATA_DIR), all);
      server = await startProcess(back);
      await requireSame(server.url, filled, before);
      assert.match((await type(server.url, 'latest', ['2', '1', PIN])).said, /^CON .*Mary/);
      await server.signal('SIGTERM');
      assert.is((await run(['audit', 'verify'], back)).code, 0);
    } finally {
      await server.kill();
      await nearRedis.close();
      await nearMongo.close();
      const client = await MongoClient.connect(mongoUrl.href);
      await client.db().dropDatabase();
      await client.close();
      await redis.stop();
      await mongo.stop();
    }
  }));

test.run();
