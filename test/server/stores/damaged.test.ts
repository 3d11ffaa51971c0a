// Files of stores that are damaged, as operators hear of it: from readiness, the metric and the page while a server runs, from the
// doctor and from upgrade --check without one, and from the words of a start that is refused.

import { openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lmdbSnapshots } from '../../../lib/store/lmdb/index.ts';
import { KEYS } from '../../package/keys.ts';
import { withFolder } from '../../support/process.ts';
import { run } from '../support/command.ts';
import { domainClient, writeKeys } from '../support/domain-client.ts';
import { readMetric, withServer } from '../support/serve.ts';

const test = suite('damaged stores of a server');

const PAGE = 4_096;

/** Overwrites the pages of a SQLite file that hold these words. */
function overwrite(file: string, words: string): void {
  // What is in the log of writes alone is read from there.
  const db = new Database(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  const bytes = readFileSync(file);
  const fd = openSync(file, 'r+');
  for (let at = bytes.indexOf(words); at >= 0; at = bytes.indexOf(words, at + 1))
    writeSync(fd, Buffer.alloc(PAGE), 0, PAGE, Math.floor(at / PAGE) * PAGE);
}

test('documents: what was met once stays told until a start on sound files; the doctor and upgrade --check find it too', () =>
  withFolder(async (folder) => {
    const env = { ...KEYS, DATA_DIR: join(folder, 'data'), API_KEYS_FILE: writeKeys(folder), PORT: '0' };
    let did = '';
    await withServer({ env }, async ({ url }) => {
      const client = domainClient(() => url);
      await client.protocol('controller');
      for (let at = 0; at < 12; at++)
        did = await client.project('controller', {
          metadata: { name: `marked ${at}`, description: 'x'.repeat(1_500) },
        });
    });
    overwrite(join(env.DATA_DIR, 'twinline.db'), 'marked 11');
    await withServer({ env }, async (server) => {
      const client = domainClient(() => server.url);
      assert.is((await client.send('controller', `/v1/domains/${did}`)).status, 503);
      const ready = await server.ask('/readyz');
      const away = { keeps: 'documents', kind: 'sqlite', away: 'damaged' };
      assert.equal([ready.status, ready.json()], [503, { status: 'store-away', stores: [away] }]);
      assert.is(await readMetric(server, 'twinline_store_up{store="documents",kind="sqlite"}'), 0);
      const page = await server.ask('/', { headers: { accept: 'text/html' } });
      assert.match(page.text, 'Documents in SQLite: the store is damaged');
      const refused = await client.project('controller').then(
        () => 'written',
        (error: Error) => error.message,
      );
      assert.match(refused, /503/, 'nothing is written into it any more');
    });
    for (const verb of [['doctor'], ['upgrade', '--check']]) {
      const { code, out } = await run(verb, env);
      assert.is(code, 1, out);
      assert.match(out, /SQLite store .*twinline\.db" is damaged: .*restore it from a backup/);
    }
  }));

test('sessions: a start on a file that was cut is refused with words and 1, not ended by the system', () =>
  withFolder(async (folder) => {
    const store = lmdbSnapshots({ path: join(folder, 'sessions') });
    const session = { record: 'x'.repeat(900), turnKey: 't', reply: '', ended: false, expiresAt: 8e15, dueAt: null };
    for (let at = 0; at < 200; at++) await store.commit(`key ${at}`, 0, session);
    await store.close();
    const file = join(folder, 'sessions/data.mdb');
    truncateSync(file, Math.floor(readFileSync(file).length * 0.6));
    const words = await withServer({ env: { ...KEYS, DATA_DIR: folder } }, async () => 'it started').catch(String);
    assert.match(words, /LMDB store .*sessions" is damaged: .*Stop every server that uses it/);
    const { code, out } = await run(['doctor'], { ...KEYS, DATA_DIR: folder, PORT: '0' });
    assert.is(code, 1);
    assert.match(out, /LMDB store .*sessions" is damaged/);
  }));

test.run();
