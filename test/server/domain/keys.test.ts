// Files of API keys and voting rules: rotation while serving, production without any, and keys in no log.

import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { PRODUCTION } from '../support/production.ts';
import { withServer } from '../support/serve.ts';
import { COOKING, didOf, files, KEYS, keyOf, place, problem } from './place.ts';

const test = suite('keys and rules of the domain service');

test('keys are rotated without a restart: the old one ends, the new one works', () =>
  withFolder(async (folder) => {
    const env: Record<string, string> = files(folder);
    const next = 'a-new-key-of-the-owner';
    const hash = createHash('sha256').update(next).digest('hex');
    await withServer({ env }, async (server) => {
      const statusOf = async (key: string) =>
        (await server.ask('/v1/limits', { headers: { authorization: `Bearer ${key}` } })).status;
      assert.is(await statusOf(keyOf('owner')), 200);
      const rotated = KEYS.map((one) => (one.principal === didOf('owner') ? { ...one, key: `sha256:${hash}` } : one));
      writeFileSync(join(folder, 'next'), JSON.stringify(rotated.slice(0, 10)));
      renameSync(join(folder, 'next'), env.API_KEYS_FILE!);
      await until('the old key to end', async () => (await statusOf(keyOf('owner'))) === 401);
      assert.is(await statusOf(next), 200);
      assert.is(await statusOf(`sha256:${hash}`), 401, 'the hash itself is no key');
      assert.is(await statusOf(keyOf('ann')), 200);
      assert.not.match(JSON.stringify(server.logged), /a-new-key|key-of-/);
    });
  }));

const OPERATED = { ...PRODUCTION, OPERATOR_TOKEN: 'operator-token-of-32-characters-0', DRAIN_DELAY_MS: '0' };

test('production without a file of keys knows nobody, and is told that one voter may decide alone', () =>
  withServer({ env: OPERATED }, async (server) => {
    assert.is(server.developmentKey, undefined);
    const warnings = server.logged.filter(({ msg }) => /GOVERNANCE_FILE is not set.*decide alone/.test(String(msg)));
    assert.is(warnings.length, 1);
    for (const key of ['', 'undefined', 'dev_', OPERATED.OPERATOR_TOKEN]) {
      const answer = await server.ask('/v1/domains', { headers: { authorization: `Bearer ${key}` } });
      problem(answer, 401, 'unauthorized');
    }
  }));

const secrets = suite('secrets of the domain service');
const { server, ask } = place(secrets);

secrets('an API key is in no log line, error, metric or header, wherever a client puts it', async () => {
  const key = keyOf('owner');
  const wrong = 'canary-of-a-wrong-key-0123456789';
  const answers = [
    await ask('owner', 'POST /v1/domains', { type: 'Project', class: COOKING }),
    await ask('owner', `GET /v1/domains?api_key=${key}&limit=x`),
    await ask('owner', `GET /v1/${key}`, undefined, { 'x-api-key': key, cookie: `key=${key}` }),
    await ask(undefined, 'GET /v1/domains', undefined, { authorization: `Bearer ${wrong}` }),
    await ask(undefined, 'GET /v1/domains', undefined, { authorization: `Basic ${wrong}` }),
    await ask(undefined, 'GET /1.0/identifiers/did:ixo:x', undefined, { authorization: `Bearer ${wrong}` }),
    await ask('owner', 'POST /v1/domains', '{', { 'x-api-key': key }),
    await ask('owner', 'POST /v1/domains', `{"type":"Project","class":"${key}"`),
  ];
  const told = answers.filter((_, at) => at !== 2).map(({ text, headers }) => text + JSON.stringify(headers));
  const metrics = await server().ask('/metrics');
  for (const text of [...told, metrics.text, JSON.stringify(server().logged)]) {
    assert.not.ok(text.includes(key), text.slice(0, 300));
    assert.not.ok(text.includes(wrong), text.slice(0, 300));
  }
  assert.ok(server().logged.length > 0);
});

test.run();
secrets.run();
