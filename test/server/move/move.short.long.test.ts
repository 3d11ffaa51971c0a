// A move between two places on disk: of every kind, stopped at each of its writes, refused where it would do harm.

import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RUN } from '../../../lib/agent/kinds.ts';
import { logName } from '../../../lib/agent/run/frames.ts';
import { SimulatedClock } from '../../../lib/clock.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { lmdbLogs } from '../../../lib/store/lmdb/index.ts';
import type { Kind } from '../../../lib/store/store.ts';
import { refuses } from '../../../lib/testing/sessions/bench.ts';
import { SERVER_KINDS } from '../../../server/cli/verbs/upgrade.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { isAlike, type MoveResult, move, surveyMove } from '../../../server/move/move.ts';
import { findMoved, type MoveSide, openSide } from '../../../server/move/sides.ts';
import { openStores, prepareStores } from '../../../server/stores/stores.ts';
import { createLog } from '../../../server/telemetry/log.ts';
import { KEYS } from '../../package/keys.ts';
import { withFolder } from '../../support/process.ts';
import { isShort } from '../../support/size.ts';
import { run } from '../support/command.ts';

const test = suite('move');

const NOW = 1_800_000_000_000;
const keyring = parseKeyring(KEYS.PIN_ENCRYPTION_KEY);
const log = createLog({ logLevel: 'silent' });
const SHARED = {
  redisUrl: undefined,
  mongodbUrl: undefined,
  production: false,
  redisAcceptLoss: false,
  storeWaitMs: 0,
};
const at = (dataDir: string) => ({ ...SHARED, dataDir });
const PLUGIN: Kind = {
  name: 'plugin-notes',
  indexes: { tags: { fields: ['tags[]'] }, slug: { fields: ['slug'], unique: true } },
};
const KINDS = [...SERVER_KINDS, PLUGIN];
const SESSIONS = 70;

/** Something of every kind, as a server and a plugin leave it. */
async function fill(dataDir: string, clock: SimulatedClock): Promise<void> {
  const stores = await openStores(at(dataDir), { log, clock });
  const { snapshots, documents } = stores;
  await prepareStores({ snapshots, documents, redis: undefined }, keyring);
  await documents.declare(KINDS);
  for (const kind of KINDS)
    for (let n = 0; n < 3; n++) {
      const body: JsonObject = {
        n,
        phone: `+26097000000${n}`,
        slug: `${n}`,
        tags: ['é', n],
        text: 'x'.repeat(kind === PLUGIN ? n * 400_000 : n),
      };
      await documents.insert(kind, `${kind.name}/${n} é`, body);
      for (let revision = 1; revision <= n; revision++)
        await documents.replace(kind, `${kind.name}/${n} é`, revision, { ...body, revision });
    }
  await documents.remove(PLUGIN, `${PLUGIN.name}/1 é`);
  for (let n = 0; n < SESSIONS; n++)
    await snapshots.commit(`ussd:${n} é`, 0, {
      ...{ record: `{"n":${n}}`, turnKey: `t${n}`, reply: `CON ${n}`, ended: n % 3 === 0 },
      ...{ expiresAt: clock.now() + 60_000 + n, dueAt: n % 2 ? null : clock.now() + n },
    });
  await stores.close();
  const logs = lmdbLogs({ path: join(dataDir, 'runs'), clock });
  for (let n = 0; n < 2; n++) {
    const claim = { fence: 3 + n, expiresAt: clock.now() + 90_000 };
    await logs.open(logName(`${RUN.name}/${n} é`), claim);
    const frames = Array.from({ length: 4 }, (_, frame) => `${frame}${'é'.repeat(100_000)}`);
    await logs.append(logName(`${RUN.name}/${n} é`), frames, { ...claim, expected: 0, end: n === 0 });
  }
  await logs.close();
}

/** All that is in the files, by another reader than the move's, but its marks. */
async function dump(dataDir: string, clock: SimulatedClock): Promise<Record<string, unknown[]>> {
  const db = new Database(join(dataDir, 'twinline.db'));
  const rows = (sql: string) =>
    db
      .prepare(sql)
      .raw(true)
      .all([])
      .map((row) =>
        (row as unknown[]).map((one) =>
          one instanceof Uint8Array || one instanceof ArrayBuffer ? Buffer.from(one as Uint8Array).toString() : one,
        ),
      );
  const documents = rows('SELECT kind.name, id, revision, body FROM document JOIN kind ON kind.n = kind ORDER BY 1, 2');
  const entries = rows(
    'SELECT k.name, i.name, i.fields, hex(e.key), d.id FROM entry e JOIN kind_index i ON i.n = e.ix JOIN kind k ON k.n = i.kind JOIN document d ON d.n = e.document ORDER BY 1, 2, 4',
  );
  const claims = rows(
    'SELECT k.name, i.name, hex(c.key), c.id FROM claim c JOIN kind_index i ON i.n = c.ix JOIN kind k ON k.n = i.kind ORDER BY 1, 2, 3',
  );
  const changes = rows('SELECT seq, kind, id, revision, at FROM change ORDER BY 1');
  db.close();
  const { snapshots, close } = await openStores(at(dataDir), { log, clock });
  const keys = Array.from({ length: SESSIONS + 1 }, (_, n) => `ussd:${n} é`);
  const sessions = await Promise.all(keys.map((key) => snapshots.load(key)));
  const lists = [await snapshots.list({ limit: 1_000 }), await snapshots.due(NOW + 10_000, 1_000)];
  await close();
  const logs = lmdbLogs({ path: join(dataDir, 'runs'), clock });
  const runs = await Promise.all(
    [0, 1, 2].map(async (n) => [
      await logs.state(logName(`${RUN.name}/${n} é`)),
      await logs.read(logName(`${RUN.name}/${n} é`)),
    ]),
  );
  await logs.close();
  const isMark = ([kind, id]: unknown[]) => kind === 'server' && (id === 'move' || id === 'moved');
  return { documents: documents.filter((row) => !isMark(row)), entries, claims, changes, sessions, lists, runs };
}

interface Sides {
  readonly source: MoveSide;
  readonly target: MoveSide;
}

async function withSides<T>(
  [from, to]: readonly [string, string],
  clock: SimulatedClock,
  work: (sides: Sides) => Promise<T>,
): Promise<T> {
  const opening = { log, clock, moved: findMoved(at(from), at(to)) };
  const source = await openSide(at(from), { ...opening, side: 'source' });
  const target = await openSide(at(to), { ...opening, side: 'target' });
  try {
    return await work({ source, target });
  } finally {
    await target.close();
    await source.close();
  }
}

async function moveAll(sides: Sides, clock: SimulatedClock): Promise<MoveResult> {
  await surveyMove({ ...sides, keyring, clock });
  return move({ ...sides, keyring, clock });
}

const WRITES = /^(declare|insert|remove|insertChanges|removeChanges|commit|open|append)$/;

/** The side, whose write number `fails` is refused: before it is made, or after it was. */
function failing(side: MoveSide, fails: number): MoveSide & { readonly made: () => number } {
  let made = 0;
  const watch = <S extends object>(store: S): S =>
    new Proxy(store, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function' || !WRITES.test(String(name))) return method;
        return async (...given: unknown[]) => {
          const isLast = ++made === fails;
          if (isLast && fails % 2) throw new TwinlineError('ERR_STORE', 'refused');
          const answer = await method.apply(target, given);
          if (isLast) throw new TwinlineError('ERR_STORE', 'done, but nobody hears of it');
          return answer;
        };
      },
    });
  const { sessions, documents } = side;
  return {
    ...side,
    made: () => made,
    sessions: sessions && {
      ...sessions,
      store: watch(sessions.store),
      transfer: watch(sessions.transfer),
      logs: watch(sessions.logs),
    },
    documents: documents && { ...documents, store: watch(documents.store), transfer: watch(documents.transfer) },
  };
}

test('stopped at any of its writes, and after the source went on, it ends with the same on both sides', () =>
  withFolder(async (folder) => {
    const clock = new SimulatedClock(NOW);
    const from = join(folder, 'from');
    await fill(from, clock);
    const original = await dump(from, clock);
    assert.ok(original.documents!.length > 3 * SERVER_KINDS.length);
    for (let fails = 1, isOver = false; !isOver; fails += isShort && fails > 4 ? 23 : 1) {
      let made = 0;
      const to = join(folder, `to-${fails}`);
      const own = fails % 4 === 0 ? join(folder, `from-${fails}`) : from;
      if (own !== from) cpSync(from, own, { recursive: true });
      const first = await withSides([own, to], clock, async ({ source, target }) => {
        const watched = failing(target, fails);
        const outcome = await moveAll({ source, target: watched }, clock).catch((error: unknown) => error);
        made = watched.made();
        return outcome;
      });
      assert.is(first instanceof TwinlineError, made >= fails, String(first));
      isOver = made < fails;
      const isHalf = await isRefused(to, clock);
      if (fails > 1 && fails < 9) assert.ok(isHalf);
      if (isHalf || fails === 1) {
        if (own !== from) await goOn(own, clock);
        const result = await withSides([own, to], clock, (sides) => moveAll(sides, clock));
        assert.ok([...result.values()].every(isAlike), String(fails));
      }
      assert.equal(await dump(to, clock), own === from ? original : await dump(own, clock), `write ${fails}`);
      assert.not.ok(await isRefused(to, clock));
    }
  }));

/** Whether a server that starts there finds a move that has not ended. */
async function isRefused(dataDir: string, clock: SimulatedClock): Promise<boolean> {
  const { snapshots, documents, close } = await openStores(at(dataDir), { log, clock });
  const stores = { snapshots, documents, redis: undefined };
  const error = await prepareStores(stores, keyring).catch((thrown: Error) => thrown);
  await close();
  if (error) assert.match(error.message, /A move from DATA_DIR=.* has not ended\. Run twinline move again/);
  return error !== undefined;
}

/** A server on the source, between two tries: documents come, go and exchange a unique value; sessions, too. */
async function goOn(dataDir: string, clock: SimulatedClock): Promise<void> {
  const { snapshots, documents, close } = await openStores(at(dataDir), { log, clock });
  const [first, , third] = (await documents.find(PLUGIN)).items.map(({ id }) => id);
  await documents.remove(PLUGIN, first!);
  await documents.insert(PLUGIN, 'aaa', { slug: '0' });
  const last = third ?? `${PLUGIN.name}/2 é`;
  await documents.replace(PLUGIN, last, (await documents.get(PLUGIN, last))!.revision, { slug: 'x' });
  await snapshots.remove('ussd:1 é');
  await snapshots.commit('ussd:2 é', 1, { ...(await snapshots.load('ussd:2 é'))!, reply: 'END' });
  await snapshots.commit(`ussd:${SESSIONS} é`, 0, (await snapshots.load('ussd:2 é'))!);
  await close();
}

test('what another server has begun is not touched, and a move that has ended is not made again', () =>
  withFolder(async (folder) => {
    const clock = new SimulatedClock(NOW);
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    await fill(from, clock);
    await fill(to, clock);
    const before = await dump(to, clock);
    const refused = (places: readonly [string, string]) =>
      withSides(places, clock, (sides) => refuses('ERR_EXISTS', () => surveyMove({ ...sides, keyring, clock })));
    assert.match(
      (await refused([from, to])).message,
      /SQLite in DATA_DIR=.* holds 3 of account.*LMDB in .* holds 70 of sessions/,
    );
    assert.equal(await dump(to, clock), before);
    const empty = join(folder, 'empty');
    assert.not.ok(await isRefused(empty, clock));
    await withSides([from, empty], clock, (sides) => moveAll(sides, clock));
    assert.equal(await dump(empty, clock), await dump(from, clock), 'the mark of a first start gave way');
    await refused([from, empty]);
    const half = join(folder, 'half');
    await withSides([from, half], clock, ({ source, target }) =>
      moveAll({ source, target: failing(target, 9) }, clock),
    ).catch(() => {});
    assert.match((await refused([to, half])).message, /is being filled from DATA_DIR=/);
  }));

test('keys that do not open what is moved are refused before anything is written', () =>
  withFolder(async (folder) => {
    const clock = new SimulatedClock(NOW);
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    await fill(from, clock);
    const other = parseKeyring(randomBytes(32).toString('hex'));
    await withSides([from, to], clock, async (sides) => {
      const error = await refuses('ERR_CONFIG', () => surveyMove({ ...sides, keyring: other, clock }));
      assert.match(error.message, /PIN_ENCRYPTION_KEY/);
      assert.equal(await sides.target.documents!.transfer.kinds(), []);
    });
  }));

test('what expires while it is moved counts on neither side, and what writes meanwhile is told', () =>
  withFolder(async (folder) => {
    const clock = new SimulatedClock(NOW);
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    await fill(from, clock);
    await withSides([from, to], clock, async ({ source, target }) => {
      await surveyMove({ source, target, keyring, clock });
      let items = 0;
      const inMiddle = () => (++items === SESSIONS + 4 ? void clock.advance(60_000 + SESSIONS / 2) : undefined);
      const result = await move({ source, target, keyring, clock }, inMiddle);
      assert.ok([...result.values()].every(isAlike));
      assert.ok(result.get('sessions')!.source.count < SESSIONS);
    });
    const again = join(folder, 'again');
    await withSides([from, again], clock, async ({ source, target }) => {
      await surveyMove({ source, target, keyring, clock });
      const written: Promise<unknown>[] = [];
      const writeOnce = () => {
        if (!written.length) written.push(source.documents!.store.insert(PLUGIN, 'late', {}));
      };
      const error = await refuses('ERR_CONFLICT', () => move({ source, target, keyring, clock }, writeOnce));
      assert.match(error.message, /was written while it was moved/);
      await Promise.all(written);
    });
  }));

test('the command says what it would move, moves it once, and makes nothing where it refuses', () =>
  withFolder(async (folder) => {
    const [from, to, empty] = ['from', 'to', 'empty'].map((name) => join(folder, name)) as [string, string, string];
    const clock = new SimulatedClock(Date.now());
    await fill(from, clock);
    mkdirSync(empty);
    writeFileSync(join(from, 'oracle.key'), makeOracleKey());
    const command = (args: readonly string[], dataDir = to) => run(['move', ...args], { ...KEYS, DATA_DIR: dataDir });
    for (const wrong of [[], ['--from', join(folder, 'none')], ['--from', from, 'more']])
      assert.is((await command(wrong)).code, 2, wrong.join(' '));
    assert.is((await command(['--from', from], from)).code, 2, 'the same stores');
    assert.is((await command(['--from', empty])).code, 78);
    assert.is((await command(['--from', from], ':memory:')).code, 78);
    const dry = await command(['--from', from, '--dry-run']);
    assert.match(
      dry.out,
      /^From {2}LMDB in DATA_DIR=.* and SQLite in DATA_DIR=.*\n.*\n {6}70 {2}sessions\n {7}2 {2}runs\n {7}3 {2}account\n[\s\S]*Nothing was written\.$/,
    );
    assert.match(dry.err, /ORACLE_KEY here is not that of/);
    assert.not.ok(existsSync(to));
    const moved = JSON.parse((await command(['--from', from, '--json'])).out) as { moved: boolean; kinds: object };
    assert.ok(moved.moved && 'changes' in moved.kinds);
    assert.equal(await dump(to, clock), await dump(from, clock));
    assert.is((await command(['--from', from])).code, 1);
  }));

test.run();
