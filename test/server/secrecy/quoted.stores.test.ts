// Secrets in other people's words, on Redis: every command that it was sent is searched, also what it has forgotten since.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startRedis } from '../../support/redis-server.ts';
import { callFromFlows, OTHERS } from './place.ts';

const test = suite('quoted secrets on Redis');

const PASSWORD = OTHERS['password in a URL'];

test('flows call services with a PIN and a credential: users, log and store get neither', async () => {
  const kept = mkdtempSync(join(tmpdir(), 'twinline-test-'));
  // An append-only file holds the commands in plain text.
  const args = ['--requirepass', PASSWORD, '--appendonly', 'yes', '--appendfsync', 'no', '--dir', kept];
  const redis = await startRedis({ args });
  try {
    const REDIS_URL = redis.url.replace('//', `//:${encodeURIComponent(PASSWORD)}@`);
    await callFromFlows(
      () => ({ REDIS_URL }),
      () => kept,
    );
    const files = readdirSync(kept, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const text = files.map(({ name, parentPath }) => readFileSync(join(parentPath, name), 'latin1')).join('\n');
    assert.match(text, '/fine Bearer ****', 'the record was kept');
  } finally {
    await redis.stop();
    rmSync(kept, { recursive: true, force: true });
  }
});

test.run();
