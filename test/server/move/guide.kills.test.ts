// Every command of the guide "Moving, restoring, rotating" is run as it stands there, by an operator with one folder, Redis and MongoDB.

import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { guideText } from '../../../server/docs/guides.ts';
import { blocksOf } from '../../guides/blocks.ts';
import { builtFile } from '../../support/build.ts';
import { startMongo } from '../../support/mongo-server.ts';
import { skipWithout } from '../../support/on-path.ts';
import { freePort } from '../../support/ports.ts';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { startRedis } from '../../support/redis-server.ts';
import { headersOf, keyOf, writeKeys } from '../support/domain-client.ts';
import { PRODUCTION } from '../support/production.ts';
import { ask, DIAL, json } from '../support/serve.ts';

const test = suite('the guide on moving');

type Settings = Readonly<Record<string, string>>;
const settingLines = (settings: Settings) =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

test('its commands do what it says, block by block', () =>
  withFolder(async (home) => {
    skipWithout(['curl']);
    const redis = await startRedis({ args: ['--appendonly', 'yes'] });
    const mongo = await startMongo();
    const database = new URL(mongo.url);
    database.pathname = `twinline-guide-${process.pid}`;
    const [bin, port] = [join(home, 'bin'), String(await freePort())];
    mkdirSync(bin);
    const main = await builtFile('server/cli/main.ts');
    writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${main}" "$@"\n`);
    chmodSync(join(bin, 'npx'), 0o755);
    const env = { PATH: `${bin}:${process.env.PATH}`, HOME: home, TWINLINE_API_KEY: keyOf('operator') };
    const { PIN_ENCRYPTION_KEY, ORACLE_KEY } = PRODUCTION;
    const here = { PIN_ENCRYPTION_KEY, ORACLE_KEY, USSD_GATEWAYS: '*', API_KEYS_FILE: writeKeys(home), PORT: port };
    const one = { ...here, DATA_DIR: join(home, 'data') };
    const many = { ...one, REDIS_URL: redis.url, MONGODB_URL: database.href };
    const back = { ...here, DATA_DIR: join(home, 'back') };
    for (const [name, settings] of Object.entries({ '.env': one, 'many.env': many, 'one.env': back }))
      writeFileSync(join(home, name), settingLines(settings));
    let server: RunningServer | undefined;
    const serve = async (settings: Settings) => {
      server = await startProcess(settings);
      writeFileSync(join(home, 'twinline.pid'), String(server.pid));
      return server;
    };
    const stop = async () => {
      await server?.signal('SIGTERM');
      server = undefined;
    };
    const shell = (line: string) => {
      const told = line
        .replace('127.0.0.1:3000', `127.0.0.1:${port}`)
        .replace(/^npx twinline (?:export|import)/, `$& --url http://127.0.0.1:${port}`);
      const child = spawn('sh', ['-c', told], { cwd: home, env });
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
      return new Promise<string>((resolve, reject) =>
        child.on('close', (code) =>
          code === 0 ? resolve(said) : reject(new Error(`$ ${line}\nended with ${code}:\n${said}`)),
        ),
      );
    };
    /** What a caller and a controller find, whichever stores are used. */
    const look = async ({ url }: RunningServer) => [
      (await ask(`${url}/api/ussd`, json({ ...DIAL, text: '1' }))).text,
      (await ask(`${url}/v1/protocols`, { headers: headersOf('controller') })).text,
    ];

    /** What is done before a line; false: all of it is done. */
    const around: readonly (readonly [line: RegExp, before: (line: string) => Promise<boolean>])[] = [
      // Written in many.env above; servers are started as processes of the test.
      [/^(REDIS|MONGODB)_URL=/, async () => false],
      [
        /^npx twinline start --env-file (many|one)\.env$/,
        async (line) => {
          assert.equal(await look(await serve(line.includes('many') ? many : back)), found, line);
          await stop();
          return false;
        },
      ],
      [/^npx twinline (export|import|backup)/, async () => Boolean(server ?? (await serve(one)))],
      [/^kill -TERM/, async () => Boolean(server ?? (await serve(one)))],
      [/^curl/, async () => Boolean(await server?.signal('SIGTERM').then(() => serve(one)))],
    ];
    let found: string[] = [];
    try {
      await serve(one);
      await ask(`${server!.url}/api/ussd`, json(DIAL));
      const body = {
        type: 'Protocol',
        alsoKnownAs: 'did:x:protocol',
        properties: { size: 'number' },
        relationships: {},
      };
      assert.is((await ask(`${server!.url}/v1/protocols`, json(body, headersOf('controller')))).status, 201);
      found = await look(server!);
      await stop();
      const run: string[] = [];
      for (const { text } of blocksOf(await guideText('moving')))
        for (const line of text.split('\n')) {
          const [, before] = around.find(([pattern]) => pattern.test(line)) ?? [];
          if (!before && server) await stop();
          if (before && !(await before(line))) continue;
          run.push(`${line}\n${await shell(line)}`);
        }
      const said = (start: string) => run.filter((text) => text.startsWith(start)).join('\n');
      assert.match(said('npx twinline move --from ./data --dry-run'), /1 {2}protocol[\s\S]*Nothing was written\./);
      assert.match(said('npx twinline move --from many.env'), /✓ \d+ items moved/);
      assert.match(said('npx twinline audit verify'), /✓ \d+ entries are whole/);
      assert.match(said('npx twinline import twins.jsonl --dry-run'), /"created":0,"unchanged":1,/);
      assert.match(said('npx twinline backup'), /^sessions\/data\.mdb, twinline\.db/m);
      assert.match(said('DATA_DIR=./restored'), /are in .*restored\.$/m);
      assert.is(run.length, 22, run.map((text) => text.split('\n')[0]).join('\n'));
    } finally {
      await stop();
      const client = await MongoClient.connect(database.href);
      await client.db().dropDatabase();
      await client.close();
      await redis.stop();
      await mongo.stop();
    }
  }));

test.run();
