// Where stores are when nothing says so; a store that refuses, in words that go nowhere outside; what the status of trouble is; and why a store is away.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../../lib/errors.ts';
import type { SnapshotStore } from '../../../lib/store/store.ts';
import { findReason } from '../../../server/health/health.ts';
import type { Stores } from '../../../server/stores/stores.ts';
import { withFolder } from '../../support/process.ts';
import { DIAL, json, type Served, withServer } from '../support/serve.ts';

const test = suite('store trouble');

const UNAVAILABLE = 'END Service temporarily unavailable. Please try again later.';

type State = 'well' | 'refusing';

/** Stores whose snapshots do as they are told. */
function moody(state: () => State): (stores: Stores) => Stores {
  const mood = <A extends unknown[], R>(work: (...args: A) => R) =>
    (async (...args: A) => {
      if (state() === 'refusing') throw new TwinlineError('ERR_STORE', 'The disk of canary is full.');
      return work(...args);
    }) as never;
  return ({ snapshots, documents }) => {
    const { load, commit, ping, list } = snapshots;
    const wrapped: SnapshotStore = {
      ...snapshots,
      load: mood(load),
      commit: mood(commit),
      ping: mood(ping),
      list: mood(list),
    };
    return { snapshots: wrapped, documents };
  };
}

test('without URLs sessions are in LMDB and documents in SQLite, with :memory: nowhere', () =>
  withFolder(async (folder) => {
    const placesOf = async ({ places }: Served) =>
      places.map(({ keeps, program, durability }) => `${keeps}: ${program}, ${durability}`);
    assert.equal(await withServer({ env: { DATA_DIR: `${folder}/data` } }, placesOf), [
      'sessions: LMDB, power-loss',
      'documents: SQLite, power-loss',
    ]);
    assert.equal(await withServer({}, placesOf), ['sessions: memory, memory', 'documents: memory, memory']);
  }));

test('a store that refuses: END, its words nowhere outside, and the turn can be taken later', async () => {
  let state: State = 'well';
  await withServer({ stores: moody(() => state) }, async (server) => {
    await server.ussd(DIAL);
    state = 'refusing';
    const answer = await server.ask('/api/ussd', json({ ...DIAL, text: '1' }));
    assert.equal([answer.status, answer.text], [200, UNAVAILABLE]);
    const debug = await server.ask('/api/ussd/debug/s1');
    assert.is(debug.status, 503);
    assert.not.match(debug.text, /canary/);
    assert.is((await server.ask('/api/ussd/sessions')).status, 503);
    state = 'well';
    assert.match(await server.ussd({ ...DIAL, text: '1' }), /^CON Know more/);
    assert.ok(server.logged.some(({ msg }) => msg === 'a USSD turn failed'));
  });
});

test('USSD_ERROR_STATUS changes the status of trouble and of nothing else', async () => {
  let state: State = 'well';
  await withServer({ env: { USSD_ERROR_STATUS: '503' }, stores: moody(() => state) }, async (server) => {
    assert.is((await server.ask('/api/ussd', json(DIAL))).status, 200);
    assert.is((await server.ask('/api/ussd', json({}))).status, 200);
    state = 'refusing';
    const answer = await server.ask('/api/ussd', json(DIAL));
    assert.equal([answer.status, answer.text], [503, UNAVAILABLE]);
  });
});

test('why a store is away is told by class, never in its own words', () => {
  const caused = (code: string) =>
    new TwinlineError('ERR_STORE', 'x', { cause: Object.assign(new Error('y'), { code }) });
  const cases: readonly [unknown, string][] = [
    [caused('ECONNREFUSED'), 'refused'],
    [caused('ECONNRESET'), 'cut'],
    [new TwinlineError('ERR_STORE', 'x', { cause: new Error('connect ECONNREFUSED 10.1.2.3:1') }), 'refused'],
    [new Error('Command timed out'), 'no-answer'],
    [new TwinlineError('ERR_STORE', 'Redis redis://h: cannot ping: not connected.'), 'cut'],
    [new TwinlineError('ERR_TIMEOUT', 'x'), 'no-answer'],
    [new TwinlineError('ERR_STORE', 'the disk is full'), 'error'],
    ['thrown text', 'error'],
    [undefined, 'error'],
  ];
  for (const [thrown, reason] of cases) assert.is(findReason(thrown), reason);
});

test.run();
