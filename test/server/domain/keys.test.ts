// Files of API keys and voting rules: rotation while serving, broken ones, production without any, and keys in no log.

import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { TwinlineError } from '../../../lib/errors.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { withServer } from '../support/serve.ts';
import { COOKING, didOf, files, KEYS, keyOf, PROTOCOL, place, problem } from './place.ts';

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

const BROKEN_KEYS = [
  { key: 'short', principal: 'did:ixo:a', roles: ['controller'] },
  { key: 'sha256:canary-canary', principal: 'did:ixo:b', roles: [] },
  { key: 'canary-0123456789', principal: 'nobody', roles: ['emperor'], colour: 'red' },
  { key: 'twice-0123456789', principal: 'did:ixo:c', roles: ['voter', 'voter'] },
];
const BROKEN_RULES = {
  threshold: { kind: 'percent', value: '1.5' },
  quorum: 0.2,
  votingPeriodSeconds: 0,
  allowRevoting: 'yes',
  colour: 'red',
  voters: [{ did: 'x', power: '-1' }],
};

test('every problem of both files is told at the start, and no key in any of them', () =>
  withFolder(async (folder) => {
    const [keys, rules] = [join(folder, 'keys.json'), join(folder, 'rules.json')];
    writeFileSync(keys, JSON.stringify(BROKEN_KEYS));
    writeFileSync(rules, JSON.stringify(BROKEN_RULES));
    const start = withServer({ env: { API_KEYS_FILE: keys, GOVERNANCE_FILE: rules } }, async () => {});
    const { code, message } = (await start.then(
      () => assert.unreachable(),
      (error) => error,
    )) as TwinlineError;
    assert.is(code, 'ERR_CONFIG');
    assert.not.match(message, /canary|0123456789/);
    const places = ['/0/key', '/1/key', '/2/principal', '/2/roles/0', '/2', '/3/roles', '/threshold/value', '/quorum'];
    for (const place of [
      ...places,
      '/votingPeriodSeconds',
      '/allowRevoting',
      '/colour',
      '/voters/0/did',
      '/voters/0/power',
    ])
      assert.match(message, new RegExp(`${place}:? `), place);
  }));

const PRODUCTION = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PIN_ENCRYPTION_KEY: '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
  OPERATOR_TOKEN: 'operator-token-of-32-characters-0',
  DRAIN_DELAY_MS: '0',
};

test('production without a file of keys knows nobody; development has one key that may do everything', async () => {
  await withServer({ env: PRODUCTION }, async (server) => {
    assert.is(server.developmentKey, undefined);
    const warnings = server.logged.filter(({ msg }) => /GOVERNANCE_FILE is not set.*decide alone/.test(String(msg)));
    assert.is(warnings.length, 1, 'one voter may decide alone');
    for (const key of ['', 'undefined', 'dev_', PRODUCTION.OPERATOR_TOKEN]) {
      const answer = await server.ask('/v1/domains', { headers: { authorization: `Bearer ${key}` } });
      problem(answer, 401, 'unauthorized');
    }
  });
  await withServer({}, async (server) => {
    const headers = { authorization: `Bearer ${server.developmentKey}`, 'content-type': 'application/json' };
    const post = (where: string, body: object) =>
      server.ask(where, { method: 'POST', headers, body: JSON.stringify(body) });
    assert.is((await post('/v1/protocols', PROTOCOL)).status, 201);
    const { did } = (await post('/v1/domains', { type: 'Project', class: COOKING })).json() as { did: string };
    const where = `/v1/domains/${encodeURIComponent(did)}`;
    const { id } = (await post(`${where}/proposals`, { kind: 'verify' })).json() as { id: string };
    assert.match((await post(`/v1/proposals/${id}/votes`, { vote: 'yes' })).text, /"status":"executed"/);
    assert.is((await post(`${where}/credits`, { amount: '1' })).status, 201);
    assert.not.match(JSON.stringify(server.logged), new RegExp(server.developmentKey!));
  });
});

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
