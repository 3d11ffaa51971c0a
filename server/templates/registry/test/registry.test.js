// The lines of records/ in a whole server, and a twin that is verified by a vote.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readConfig, startServer } from 'twinline/server';

const ENV = { PORT: '0', DATA_DIR: ':memory:', LOG_LEVEL: 'silent' };

test('the records are taken, and one is verified', async () => {
  const { config, problems } = readConfig(ENV, { makeKeys: true });
  assert.deepEqual(problems, []);
  assert.ok(config);
  const server = await startServer(config);
  /** @type {(path: string, body?: string, type?: string) => Promise<string>} */
  const ask = async (path, body, type = 'application/json') => {
    const headers = { authorization: `Bearer ${server.developmentKey}`, 'content-type': type };
    const answer = await fetch(
      `${server.url}/v1${path}`,
      body === undefined ? { headers } : { method: 'POST', headers, body },
    );
    const text = await answer.text();
    assert.ok(answer.ok, text);
    return text;
  };
  /** @type {(path: string, body?: object) => Promise<any>} */
  const json = async (path, body) => JSON.parse(await ask(path, body && JSON.stringify(body)));
  try {
    const lines = readFileSync(new URL('../records/start.jsonl', import.meta.url), 'utf8');
    const rows = (await ask('/bulk', lines, 'application/x-ndjson'))
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row));
    assert.deepEqual(
      rows.map(({ status }) => status),
      [201, 201, 201],
      JSON.stringify(rows),
    );
    const { did } = rows[1];
    const { id } = await json(`/domains/${did}/proposals`, { kind: 'verify' });
    await json(`/proposals/${id}/votes`, { vote: 'yes' });
    assert.equal((await json(`/domains/${did}/verification`)).status, 'Verified');
  } finally {
    await server.close({ drainDelayMs: 0 });
  }
});
