// Several processes on one SQLite store.

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { documentChild, processesAreKilled } from '../contract/document-processes.ts';
import { killed, withFolder } from '../support/process.ts';
import { chooseSize, isShort } from '../support/size.ts';
import { until } from '../support/until.ts';

const TURNS = chooseSize({ short: 50, day: 200, whole: 200 });

if (!isShort)
  test('a process that begins a file while another one holds it waits for it', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'documents.db');
      const other = new Database(path);
      other.exec('BEGIN IMMEDIATE');
      const { child, told } = await documentChild({ place: path }, 'one', TURNS);
      try {
        await until('the process to begin', () => told.opening);
        // Long enough to meet the lock as a rule.
        await pause(500);
        other.exec('COMMIT');
        other.close();
        await until('the process to have written', () => {
          assert.is(child.exitCode, null, 'it ended');
          return told.claimed;
        });
        assert.is(told.claimed, TURNS);
      } finally {
        await killed(child);
      }
    }));

test('two processes that begin at once lose no count, share the unique values, and may be killed', () =>
  withFolder(async (folder) => {
    const place = join(folder, 'documents.db');
    const store = sqliteDocuments({ path: place });
    await processesAreKilled({ store, place }, TURNS);
    await store.close();
  }));

test.run();
