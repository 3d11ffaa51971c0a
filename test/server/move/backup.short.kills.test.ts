// A backup that is made while callers dial and twins are created, restored and served by another server: nothing that was acknowledged
// before it is missing. Of anything but a whole backup nothing is restored.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { chooseSize } from '../../support/size.ts';
import { until } from '../../support/until.ts';
import { run } from '../support/command.ts';
import { domainClient, writeKeys } from '../support/domain-client.ts';
import { DIAL, json } from '../support/serve.ts';

const test = suite('backup');
const BACKUPS = chooseSize({ short: 1, day: 4, whole: 30 });
/** Acknowledged between two backups. */
const BETWEEN = 8;
const CALLERS = 4;

const SECRETS = {
  PIN_ENCRYPTION_KEY: 'k1:8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
};

interface Acknowledged {
  /** Session id → the reply to its second key. */
  readonly turns: Map<string, string>;
  readonly twins: string[];
}

const turn = (server: RunningServer, id: number, text: string) =>
  until('a reply other than that of a busy server', async () => {
    const phoneNumber = `+2609712${String(id).padStart(5, '0')}`;
    const { status, text: reply } = await fetchTurn(server, { ...DIAL, phoneNumber, sessionId: `s${id}`, text });
    return status === 200 && !reply.includes('temporarily unavailable') && reply;
  });

async function fetchTurn({ url }: RunningServer, body: object): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${url}/api/ussd`, { method: 'POST', ...json(body) } as RequestInit);
  return { status: answer.status, text: await answer.text() };
}

/** Dials and creates twins until it is stopped; what was acknowledged stands in `log` in order. */
function load(server: RunningServer, log: Acknowledged): () => Promise<void> {
  const twins = domainClient(() => server.url);
  let [next, isStopped] = [0, false];
  const call = async () => {
    while (!isStopped) {
      const id = ++next;
      await turn(server, id, '');
      log.turns.set(`s${id}`, await turn(server, id, '1'));
      log.twins.push(await twins.project('controller'));
    }
  };
  const callers = Array.from({ length: CALLERS }, call);
  return async () => {
    isStopped = true;
    await Promise.all(callers);
  };
}

test(`${BACKUPS} backups under load: each has everything that was acknowledged before it began, and another server goes on with it`, () =>
  withFolder(async (home) => {
    const settings = { ...SECRETS, API_KEYS_FILE: writeKeys(home) };
    const data = join(home, 'data');
    const server = await startProcess({ ...settings, DATA_DIR: data });
    await domainClient(() => server.url).protocol('controller');
    const log: Acknowledged = { turns: new Map(), twins: [] };
    const stop = load(server, log);
    const before: { folder: string; turns: string[]; twins: string[] }[] = [];
    for (let at = 0; at < BACKUPS; at++) {
      const wanted = log.twins.length + BETWEEN;
      await until(`${wanted} twins`, () => log.twins.length >= wanted);
      const folder = join(home, `backup-${at}`);
      before.push({ folder, turns: [...log.turns.keys()], twins: [...log.twins] });
      const { code, out, err } = await run(['backup', folder], { ...settings, DATA_DIR: data });
      assert.is(code, 0, err);
      assert.match(out, /^sessions\/data\.mdb, twinline\.db, runs\/data\.mdb \(.*sealed with the key "k1"\)/);
    }
    await stop();
    await server.kill();
    for (const { folder, turns, twins } of before) {
      const restored = `${folder}-restored`;
      const env = { ...settings, DATA_DIR: restored };
      const check = await run(['restore', folder, '--check'], env);
      assert.is(check.code, 0, check.err);
      assert.not.ok(existsSync(restored), 'a check writes nothing');
      assert.is((await run(['restore', folder], env)).code, 0);
      const other = await startProcess(env);
      const client = domainClient(() => other.url);
      for (const twin of twins) assert.is((await client.send('controller', `/v1/domains/${twin}`)).status, 200, twin);
      for (const id of turns)
        assert.is(await turn(other, Number(id.slice(1)), '1'), log.turns.get(id), `${id} is answered as before`);
      await other.kill();
    }
  }));

test('of what is no whole backup nothing is restored, and a store that is there is not written over', () =>
  withFolder(async (home) => {
    const settings = { ...SECRETS, API_KEYS_FILE: writeKeys(home) };
    const server = await startProcess({ ...settings, DATA_DIR: join(home, 'data') });
    await turn(server, 1, '');
    const backup = join(home, 'backup');
    assert.is((await run(['backup', backup], { ...settings, DATA_DIR: join(home, 'data') })).code, 0);
    await server.kill();
    const spoil: Readonly<Record<string, (folder: string) => void>> = {
      'has no backup.json': (folder) => rmSync(join(folder, 'backup.json')),
      'cannot be read': (folder) => truncateSync(join(folder, 'backup.json'), 20),
      'of another version': (folder) => writeFileSync(join(folder, 'backup.json'), '{"format":2,"files":{}}'),
      'is missing': (folder) => rmSync(join(folder, 'twinline.db')),
      'has changed since': (folder) => {
        const path = join(folder, 'sessions/data.mdb');
        const bytes = readFileSync(path);
        bytes[bytes.length - 100]! ^= 1;
        writeFileSync(path, bytes);
      },
      'of another version or damaged': (folder) => {
        const path = join(folder, 'backup.json');
        writeFileSync(path, readFileSync(path, 'utf8').replace('"twinline.db"', '"../../escaped.db"'));
      },
    };
    for (const [words, change] of Object.entries(spoil)) {
      const copy = join(home, 'copy');
      cpSync(backup, copy, { recursive: true });
      change(copy);
      for (const args of [['--check'], []]) {
        const { code, err } = await run(['restore', copy, ...args], { ...settings, DATA_DIR: join(home, 'new') });
        assert.is(code, 1, words);
        assert.match(err, words);
      }
      assert.not.ok(existsSync(join(home, 'new', 'twinline.db')), words);
      rmSync(copy, { recursive: true });
    }
    const foreign = {
      ...settings,
      PIN_ENCRYPTION_KEY: `k2:${SECRETS.PIN_ENCRYPTION_KEY.slice(3).split('').reverse().join('')}`,
      DATA_DIR: join(home, 'new'),
    };
    assert.match((await run(['restore', backup], foreign)).err, 'sealed with the key "k1"');
    // SQLite's own -wal and -shm go when the last reader of them does.
    const listStores = () => readdirSync(join(home, 'data')).filter((name) => !/-(wal|shm)$/.test(name));
    const there = listStores();
    assert.match(
      (await run(['restore', backup], { ...settings, DATA_DIR: join(home, 'data') })).err,
      'is there already',
    );
    assert.equal(listStores(), there);
    // A log that a file of SQLite left behind would be read into the restored one.
    mkdirSync(join(home, 'left'));
    writeFileSync(join(home, 'left', 'twinline.db-wal'), 'x');
    assert.match(
      (await run(['restore', backup], { ...settings, DATA_DIR: join(home, 'left') })).err,
      'twinline.db-wal is there already',
    );
    assert.equal(readdirSync(join(home, 'left')), ['twinline.db-wal'], 'nothing is written');
    assert.match((await run(['backup', backup], { ...settings, DATA_DIR: join(home, 'data') })).err, 'is not empty');
    const nothing = await run(['backup', join(home, 'none')], { ...settings, DATA_DIR: join(home, 'nothing') });
    assert.match(nothing.err, 'no server has stored anything');
  }));

test.run();
