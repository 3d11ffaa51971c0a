// API keys and voting rules as files: rotation while serving, broken ones, production without any, and keys in no log.

import { createHash } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startProcess } from '../../support/process.ts';
import { type Served, withServer } from '../support/serve.ts';
import { COOKING, didOf, files, KEYS, keyOf, PROTOCOL, place, problem } from './place.ts';

const test = suite('keys and rules of the domain service');

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-keys-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const statusOf = async (server: Pick<Served, 'ask'>, key: string) =>
  (await server.ask('/v1/limits', { headers: { authorization: `Bearer ${key}` } })).status;

/** The file is looked at once a second. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 10_000; performance.now() < end; await pause(100)) if (await holds()) return;
  assert.unreachable(what);
}

test('keys are rotated without a restart: the old one ends, the new one works; a broken file changes nothing', () =>
  inFolder(async (folder) => {
    const env: Record<string, string> = files(folder);
    const write = (text: string) => {
      writeFileSync(join(folder, 'next'), text);
      renameSync(join(folder, 'next'), env.API_KEYS_FILE!);
    };
    await withServer({ env }, async (server) => {
      assert.is(await statusOf(server, keyOf('owner')), 200);
      const hash = createHash('sha256').update('a-new-key-of-the-owner').digest('hex');
      write(
        JSON.stringify(
          KEYS.map((entry) => (entry.principal === didOf('owner') ? { ...entry, key: `sha256:${hash}` } : entry)).slice(
            0,
            10,
          ),
        ),
      );
      await until('the old key still works', async () => (await statusOf(server, keyOf('owner'))) === 401);
      assert.is(await statusOf(server, 'a-new-key-of-the-owner'), 200);
      assert.is(await statusOf(server, `sha256:${hash}`), 401, 'the hash itself is no key');
      const errors = () => server.logged.filter(({ level }) => Number(level) >= 50).length;
      for (const broken of [
        '[{"key":"canary-0123456789"',
        '[{"key":"canary-0123456789","principal":"x","roles":[]}]',
      ]) {
        const before = errors();
        write(broken);
        await until(
          'nothing was logged',
          async () => (await statusOf(server, keyOf('ann'))) === 200 && errors() > before,
        );
        assert.is(await statusOf(server, 'a-new-key-of-the-owner'), 200);
      }
      write('[]');
      await until('the last key still works', async () => (await statusOf(server, keyOf('ann'))) === 401);
      assert.not.match(JSON.stringify(server.logged), /canary|a-new-key|key-of-/);
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

/** Starts a process that is expected to refuse. */
async function refusedStart(env: Record<string, string>): Promise<string> {
  const failed = await startProcess({ DATA_DIR: ':memory:', ...env }).then(
    async (server) => {
      await server.kill();
      throw new Error('it has started');
    },
    (error: Error) => error.message,
  );
  assert.match(failed, /ended with 78 /);
  assert.not.match(failed, /canary|0123456789/);
  return failed;
}

test('broken files: exit code 78, every problem on a line of its own, and no key in any of them', () =>
  inFolder(async (folder) => {
    const [keys, rules, noJson] = ['keys', 'rules', 'none'].map((name) => join(folder, `${name}.json`)) as [
      string,
      string,
      string,
    ];
    const twice = [KEYS[0], { ...KEYS[1]!, key: KEYS[0]!.key }, { ...KEYS[2]!, principal: 'nobody' }];
    writeFileSync(keys, JSON.stringify(BROKEN_KEYS));
    writeFileSync(rules, JSON.stringify(BROKEN_RULES));
    writeFileSync(noJson, '[{"key":"canary-0123456789",}]');
    const told = await Promise.all([
      refusedStart({ API_KEYS_FILE: keys, GOVERNANCE_FILE: rules }),
      refusedStart({ API_KEYS_FILE: noJson }),
      refusedStart({ API_KEYS_FILE: join(folder, 'missing.json') }),
      refusedStart({ GOVERNANCE_FILE: join(folder, 'missing.json') }),
    ]);
    for (const field of [
      '/0/key',
      '/1/key',
      '/2/principal',
      '/2/roles/0',
      '/2',
      '/3/roles',
      '/threshold/value',
      '/quorum',
      '/votingPeriodSeconds',
      '/allowRevoting',
      '/colour',
      '/voters/0/did',
      '/voters/0/power',
    ])
      assert.match(told[0], new RegExp(`${field}:? `), field);
    for (const at of [1, 2, 3]) assert.match(told[at]!, /FILE .*\.json.* (is no valid JSON|cannot be read \(ENOENT\))/);
    writeFileSync(keys, JSON.stringify(twice));
    const second = await refusedStart({ API_KEYS_FILE: keys });
    for (const field of ['/1/key', '/2/principal']) assert.match(second, new RegExp(`${field} `));
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
